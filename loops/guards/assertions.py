"""Compares the assertions of a test before and after, block by block. Pure."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from loops.guards.model import Finding, shown
from loops.guards.patch import Line, Patch
from loops.guards.recognisers import ASSERTION, LINE, strength

_WORD = re.compile(r"\w+")
_COMMENTS = ("//", "#", "*", "/*")
_LITERAL = re.compile(
    r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`|\b(?:\d[\w.]*|True|False|None|true|false|null|nil)\b"
)


def weakened(patch: Patch, moved_in: Counter[str], moved_out: Counter[str], gone: frozenset[int]) -> Iterator[Finding]:
    """What the assertions of `patch` lost. `moved_*`: the lines that came or went anywhere, without their indentation;
    `gone`: the lines of tests that were removed as a whole, which is said elsewhere."""
    code = (line.text.strip()[:LINE] for line in patch.added())
    words = {word for text in code if not text.startswith(_COMMENTS) for word in _WORD.findall(text)}
    for hunk in patch.hunks:
        for changed, lines in groupby(hunk.lines, key=lambda line: line.sign != " "):
            if changed:
                yield from _block(patch.path, list(lines), words, moved_in, moved_out, gone)


def _block(
    path: str,
    lines: Sequence[Line],
    words: set[str],
    moved_in: Counter[str],
    moved_out: Counter[str],
    gone: frozenset[int],
) -> Iterator[Finding]:
    old = [line for line in lines if line.sign == "-" and _asserts(line) and line.number not in gone]
    old = [line for line in old if not moved_in[_squeezed(line)]]
    new = [line for line in lines if line.sign == "+" and _asserts(line) and not moved_out[_squeezed(line)]]
    taken: Counter[int] = Counter()
    for index, line in enumerate(old):
        partner = index if len(old) == len(new) else _closest(line, new)
        if partner is None or (taken[partner] and len(new) < len(old)):
            # an assertion that became a row of a table, or part of a longer one, left its words behind
            if not set(_WORD.findall(line.text[:LINE])) <= words:
                yield _finding("assertion_removed", path, line, "an assertion was removed")
            continue
        taken[partner] += 1
        now = new[partner]
        if _holds_all(line, now):
            continue
        if strength(now.text[:LINE]) < strength(line.text[:LINE]):
            yield _finding("assertion_weakened", path, line, "an assertion asks for less now", now)
        elif _shape(line) == _shape(now) and _squeezed(line) != _squeezed(now):
            yield _finding("expectation_changed", path, line, "an expected value was changed", now)


def _holds_all(old: Line, new: Line) -> bool:
    """Whether the new assertion asks for the old one, and for more."""
    was, now = _squeezed(old).rstrip(";"), _squeezed(new)[:LINE]
    return (
        was in now
        and bool(re.match(r"\s*(?:and\b|&&)", now[now.index(was) + len(was) :]))
        and not re.search(r"\bor\b|\|\|", now)
    )


def _asserts(line: Line) -> bool:
    text = line.text.strip()[:LINE]
    return bool(ASSERTION.search(text)) and not text.startswith((*_COMMENTS, "import ", "from ", "use "))


def _squeezed(line: Line) -> str:
    return " ".join(line.text.split())


def _shape(line: Line) -> str:
    return _LITERAL.sub("•", _squeezed(line)[:LINE])


def _closest(line: Line, others: Sequence[Line]) -> int | None:
    mine = set(_WORD.findall(line.text[:LINE]))
    best, most = None, 0
    for index, other in enumerate(others):
        shared = len(mine & set(_WORD.findall(other.text[:LINE])))
        if shared > most:
            best, most = index, shared
    return best


def _finding(code: str, path: str, line: Line, what: str, now: Line | None = None) -> Finding:
    was = shown(line.text.strip()[:90])
    text = f"{shown(path)}: {what}: {was}" + (f" became {shown(now.text.strip()[:90])}." if now else ".")
    return Finding(code, path, text, now.number if now else line.number)

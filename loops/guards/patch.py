"""Reads the unified diff of a turn as git writes it: files, hunks, lines. Never fails: what makes no sense is left out.

The stored diff may be cut at its end, and a secret over several lines may have become one line, so the counts in a
hunk's header are taken as a hint only; `Hunk.exact` says whether they hold.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SECTION = "diff --git "
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(.*)")
_ESCAPE = re.compile(r'\\([abtnvfr"\\]|[0-7]{3})')
_PLAIN = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}


@dataclass(frozen=True, slots=True)
class Line:
    """`sign` is "+", "-" or " "; `number` counts from 1, in the new file, for a removed line in the old one."""

    sign: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """`start` and `count` tell the lines of the new file; `within` is what git found to name the place by."""

    start: int
    count: int
    lines: tuple[Line, ...]
    exact: bool = True
    within: str = ""


@dataclass(frozen=True, slots=True)
class Patch:
    """The textual changes of one file; `old` or `new` is None for a file that was not there before or is not now."""

    old: str | None
    new: str | None
    hunks: tuple[Hunk, ...] = ()

    @property
    def path(self) -> str:
        return self.new or self.old or ""

    def added(self) -> Iterator[Line]:
        return (line for hunk in self.hunks for line in hunk.lines if line.sign == "+")

    def removed(self) -> Iterator[Line]:
        return (line for hunk in self.hunks for line in hunk.lines if line.sign == "-")


def sections(diff: str) -> list[str]:
    """The parts of a diff, a file each. A line of a file never begins as a part does: its sign stands before it."""
    found: list[list[str]] = []
    for line in diff.split("\n"):
        if line.startswith(_SECTION):
            found.append([])
        if found:
            found[-1].append(line)
    return ["\n".join(lines).rstrip("\n") + "\n" for lines in found]


def read_whole(section: str) -> Patch | None:
    """The one file that `section` changes; None where it tells no text, or not all of it."""
    found = read(section)
    return found[0] if len(found) == 1 and all(hunk.exact for hunk in found[0].hunks) else None


def read(diff: str) -> tuple[Patch, ...]:
    """The files of `diff` that have text hunks."""
    found: list[Patch] = []
    old: str | None = None
    new: str | None = None
    hunks: list[Hunk] = []
    lines = diff.split("\n")
    at = 0

    def close() -> None:
        if hunks:
            found.append(Patch(old, new, tuple(hunks)))
            hunks.clear()

    while at < len(lines):
        line = lines[at]
        if line.startswith(_SECTION):
            close()
            old = new = None
        elif line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ "):
            close()
            old, new = _path(line[4:], "a/"), _path(lines[at + 1][4:], "b/")
            at += 1
        elif match := _HUNK.match(line):
            hunk, at = _hunk(match, lines, at + 1)
            hunks.append(hunk)
            continue
        at += 1
    close()
    return tuple(found)


def _hunk(match: re.Match[str], lines: list[str], at: int) -> tuple[Hunk, int]:
    before, after = int(match[1]), int(match[3])
    old_left, new_left = (int(match[2] or 1), int(match[4] or 1))
    count = new_left
    out: list[Line] = []
    while at < len(lines) and (old_left > 0 or new_left > 0):
        line = lines[at]
        sign = line[:1] or " "
        # a hunk whose lines ran out too early: the next header begins
        if sign not in "+- \\" or (line.startswith("--- ") and at + 2 < len(lines) and _header(lines, at)):
            break
        if sign == "-":
            out.append(Line("-", before, line[1:]))
            before, old_left = before + 1, old_left - 1
        elif sign == "+":
            out.append(Line("+", after, line[1:]))
            after, new_left = after + 1, new_left - 1
        elif sign == " ":
            out.append(Line(" ", after, line[1:]))
            before, after, old_left, new_left = before + 1, after + 1, old_left - 1, new_left - 1
        at += 1
    return Hunk(int(match[3]), count, tuple(out), old_left == 0 and new_left == 0, match[5].strip()), at


def _header(lines: list[str], at: int) -> bool:
    return lines[at + 1].startswith("+++ ") and lines[at + 2].startswith("@@ -")


def _path(text: str, prefix: str) -> str | None:
    # git ends a name with spaces in it with a tab
    name = text.split("\t", 1)[0].rstrip("\r") if not text.startswith('"') else _unquoted(text)
    return None if name == "/dev/null" else name.removeprefix(prefix)


def _unquoted(text: str) -> str:
    body = text[1:].rstrip("\t\r").removesuffix('"')
    out = bytearray()
    at = 0
    for match in _ESCAPE.finditer(body):
        out += body[at : match.start()].encode("utf-8", "surrogateescape")
        code = match[1]
        out.append(_PLAIN[code] if code in _PLAIN else int(code, 8) & 0xFF)
        at = match.end()
    out += body[at:].encode("utf-8", "surrogateescape")
    return out.decode("utf-8", "surrogateescape")


def whole(old_path: str | None, new_path: str | None, old: str | None, new: str | None) -> Patch:
    """A patch made from contents, for a file that the diff does not show: lines of one that are not in the other.

    Order does not count, so a moved line is no change; `old` or `new` is None where the file is not there.
    """
    before = (old or "").split("\n")
    after = (new or "").split("\n")
    lines = [Line("-", number, text) for number, text in _missing(before, after)]
    lines += [Line("+", number, text) for number, text in _missing(after, before)]
    return Patch(old_path, new_path, (Hunk(1, len(after), tuple(lines), exact=False),))


def _missing(lines: list[str], others: list[str]) -> Iterator[tuple[int, str]]:
    counts: dict[str, int] = {}
    for text in others:
        counts[text] = counts.get(text, 0) + 1
    for number, text in enumerate(lines, 1):
        if counts.get(text, 0) > 0:
            counts[text] -= 1
        else:
            yield number, text

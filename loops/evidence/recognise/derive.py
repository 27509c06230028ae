"""`python -m loops.evidence.derive` prints what `required.json` is to hold, read from the expressions themselves."""

import json
from collections.abc import Iterable
from itertools import product
from re import _compiler as compiler  # type: ignore[attr-defined] # the parse tree has no public door
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from loops.evidence.recognise.match import PATTERNS
from loops.evidence.recognise.required import Required
from loops.evidence.text.general import WORDS

SHORTEST = 2  # bytes of a text; less is in every line
SPELLINGS = 12  # of one text, at most: `[jt]sx` has two
ASCII = "".join(map(chr, range(128)))
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
Items = Iterable[tuple[Any, Any]]


def derive(pattern: str) -> Required:
    """What `pattern` requires of a line."""
    parsed = parser.parse(pattern)
    if parsed.state.flags & op.SRE_FLAG_IGNORECASE:
        return Required()
    first, empty = _first(parsed)
    return Required(
        _texts(parsed) or frozenset(), None if first is None or empty else "".join(c for c in ASCII if c in first)
    )


def table(patterns: Iterable[str]) -> str:
    """The text of `required.json` for these."""
    each = {pattern: derive(pattern) for pattern in patterns}
    entries = [f"{json.dumps(p)}: {json.dumps([e.first, *sorted(e.texts)])}" for p, e in sorted(each.items())]
    return "{\n" + ",\n".join(entries) + "\n}\n"


def _texts(items: Items) -> frozenset[str] | None:
    """The best of what each item of a sequence needs."""
    best: frozenset[str] | None = None
    run = [""]
    for code, value in (*items, (None, None)):
        letters = _letters(code, value)
        if letters and len(letters) * len(run) <= SPELLINGS:
            run = ["".join(pair) for pair in product(run, letters)]
            continue
        if code in REPEATS and value[0] >= 1 and len(value[2]) == 1 and len(same := _letters(*value[2][0])) == 1:
            run = [text + same[0] * value[0] for text in run]
        if all(len(text.encode()) >= SHORTEST and text.strip() for text in run):
            best = _rarer(best, frozenset(run))
        run = letters or [""]
        if code is op.SUBPATTERN:
            _, flags, _, inner = value
            best = _rarer(best, None if flags & op.SRE_FLAG_IGNORECASE else _texts(inner))
        elif code is op.ASSERT and value[0] > 0:
            best = _rarer(best, _texts(value[1]))
        elif code is op.BRANCH:
            parts = [_texts(part) for part in value[1]]
            if all(parts):
                best = _rarer(best, frozenset[str]().union(*(part for part in parts if part)))
        elif code in REPEATS and value[0] >= 1:
            best = _rarer(best, _texts(value[2]))
    return best


def _letters(code: Any, value: Any) -> list[str]:
    """The few characters that an item stands for, if it does."""
    if code is op.LITERAL:
        return [chr(value)]
    if code is op.IN and len(value) <= SPELLINGS and all(kind is op.LITERAL for kind, _ in value):
        return [chr(each) for _, each in value]
    return []


def _rarer(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    """Whose shortest text is longer, or that has fewer."""
    if not one or not other:
        return one or other
    return max(one, other, key=lambda texts: (min(map(len, texts)), -len(texts)))


def _first(items: Items) -> tuple[set[str] | None, bool]:
    """The ASCII letters that a sequence may begin with, None for any, and whether it may be empty."""
    found: set[str] = set()
    for code, value in items:
        first, empty = _first_of(code, value)
        if first is None:
            return None, False
        found |= first
        if not empty:
            return found, False
    return found, True


def _first_of(code: Any, value: Any) -> tuple[set[str] | None, bool]:
    if code in (op.AT, op.ASSERT, op.ASSERT_NOT):
        return set(), True
    if code is op.SUBPATTERN:
        _, flags, _, inner = value
        return (None, False) if flags & op.SRE_FLAG_IGNORECASE else _first(inner)
    if code is op.BRANCH:
        parts = [_first(part) for part in value[1]]
        whole: set[str] = set().union(*(first or () for first, _ in parts))
        return None if any(first is None for first, _ in parts) else whole, any(empty for _, empty in parts)
    if code in REPEATS:
        first, empty = _first(value[2])
        return first, empty or value[0] == 0
    if code in (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY):
        one = compiler.compile(parser.SubPattern(parser.State(), [(code, value)]), op.SRE_FLAG_UNICODE)
        return {letter for letter in ASCII if one.match(letter)}, False
    return None, False


if __name__ == "__main__":
    print(table([*PATTERNS, *WORDS]), end="")

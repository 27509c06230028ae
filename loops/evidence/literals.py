"""Which of many expressions a line can match at all, by the literal text that each cannot match without.

An expression that may begin anywhere costs microseconds a line to say no. Its literals are found for hundreds of
expressions and all lines in one Hyperscan scan, and only what is left is tried.
"""

from collections.abc import Iterable, Sequence
from re import _constants as op  # type: ignore[attr-defined] # the parse tree has no public door
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from loops.evidence.patterns import Patterns

SHORTEST = 2  # bytes; less is in every line


def literals(pattern: str) -> frozenset[str]:
    """Texts one of which is in whatever `pattern` matches, in lower case; empty where no such texts are known."""
    return _of(parser.parse(pattern)) or frozenset()


def _of(items: Iterable[tuple[Any, Any]]) -> frozenset[str] | None:
    """The best of what each item of a sequence needs."""
    best: frozenset[str] | None = None
    run = ""
    for code, value in (*items, (None, None)):
        letter = _letter(code, value)
        if letter:
            run += letter
            continue
        if len(run.encode()) >= SHORTEST:
            best = _better(best, frozenset({run}))
        run = ""
        if code is op.SUBPATTERN:
            best = _better(best, _of(value[3]))
        elif code is op.ASSERT and value[0] > 0:
            best = _better(best, _of(value[1]))
        elif code is op.BRANCH:
            parts = [_of(part) for part in value[1]]
            if all(parts):
                best = _better(best, frozenset[str]().union(*(part for part in parts if part)))
        elif code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT) and value[0] >= 1:
            best = _better(best, _of(value[2]))
    return best


def _letter(code: Any, value: Any) -> str:
    """The one character, the case of ASCII aside, that an item stands for, if it does."""
    if code is op.LITERAL:
        chosen = {chr(value)}
    elif code is op.IN and all(kind is op.LITERAL for kind, _ in value):
        chosen = {chr(each) for _, each in value}
    else:
        return ""
    lower = {each.lower() if each.isascii() else each for each in chosen}
    return lower.pop() if len(lower) == 1 else ""


def _better(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    """The rarer: whose shortest text is longer, or that has fewer."""
    if not one or not other:
        return one or other
    return max(one, other, key=lambda texts: (min(map(len, texts)), -len(texts)))


class Literals:
    """Many expressions, looked for together. One of which no literal is known may match any line."""

    def __init__(self, patterns: Sequence[str]) -> None:
        bits: dict[str, int] = {}
        self._always = 0
        for i, pattern in enumerate(patterns):
            needed = literals(pattern)
            if not needed:
                self._always |= 1 << i
            for text in needed:
                bits[text] = bits.get(text, 0) | 1 << i
        self._bits = tuple(bits.values())
        self._patterns = Patterns(tuple(bits), literal=True)

    def candidates(self, lines: Sequence[str]) -> list[int]:
        """For each line a set of bits: bit `i` where it may match `patterns[i]`."""
        raw = [line.encode(errors="replace") for line in lines]
        hits: list[tuple[int, int]] = []
        add = hits.append
        self._patterns.scan(b"\n".join(raw), lambda id_, _from, to, _flags, _context: add((to, id_)))
        hits.sort()
        answer = [self._always] * len(raw)
        bits = self._bits
        line, end = 0, len(raw[0]) if raw else 0
        for to, id_ in hits:
            while end < to:
                line += 1
                end += 1 + len(raw[line])
            answer[line] |= bits[id_]
        return answer

"""Which shape, if any, a plain line has.

Shapes that can say no at a line's first letters are one expression; those that look further, the dear ones, are tried
only on lines that hold their literals.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache

from loops.evidence.general import WORDS
from loops.evidence.literals import Literals
from loops.evidence.shapes import (
    access,
    checkers,
    delivery,
    javascript,
    managed,
    native,
    network,
    python,
    runner,
    testers,
)
from loops.evidence.shapes.shape import Shape
from loops.evidence.wrapped import unwrapped

TABLE: tuple[Shape, ...] = (
    *network.SHAPES,
    *access.SHAPES,
    *runner.SHAPES,
    *delivery.SHAPES,
    *python.SHAPES,
    *javascript.SHAPES,
    *native.SHAPES,
    *managed.SHAPES,
    *testers.SHAPES,
    *checkers.SHAPES,
)
DEAR = tuple(i for i, shape in enumerate(TABLE) if shape.dear)
NONE = len(TABLE)
NAMED = re.compile(r"\(\?P<\w+>")
Match = Callable[[str], "re.Match[str] | None"]


class Matcher:
    """Matches the lines of one log against the shapes that are believable in it.

    `whole` is the log's kept text, which some shapes want to hold a certain text before they are believed; `without`
    are tools to leave out (to measure what the general method keeps by itself).
    """

    def __init__(self, texts: Sequence[str], whole: str, without: frozenset[str] = frozenset()) -> None:
        self._texts = texts
        self._candidates = _literals().candidates(texts)
        usable = [i for i, s in enumerate(TABLE) if s.tool not in without and (not s.needs or s.needs in whole)]
        cheap = [i for i in usable if not TABLE[i].dear]
        needy = tuple(i for i in cheap if TABLE[i].needs)
        self._common = _union(tuple(i for i in cheap if not TABLE[i].needs))
        self._needy = _union(needy) if needy else None
        self._dear = sum(1 << DEAR.index(i) for i in usable if TABLE[i].dear)
        self._known: dict[str, Shape | None] = {}
        self._tries: dict[int, tuple[tuple[int, Match], ...]] = {}

    def said(self, i: int) -> bool:
        """Whether line `i` holds any word of failure at all."""
        return self._candidates[i] >> len(DEAR) > 0

    def match(self, i: int) -> Shape | None:
        """The shape of line `i`, by the text behind a mark or a program's name too."""
        line = self._texts[i]
        if line in self._known:
            return self._known[line]
        bits = self._candidates[i] & self._dear
        tries = self._tries.get(bits)
        if tries is None:
            tries = self._tries[bits] = _of(bits)
        best = self._best(line, tries)
        if (best is None or best.kind is None) and (inner := _inner(line)) != line:
            best = self._best(inner, tries) or best
        self._known[line] = best
        return best

    def _best(self, line: str, dear: tuple[tuple[int, Match], ...]) -> Shape | None:
        """The earlier in the table wins, except that a text that may stand anywhere yields to a lesser shape only
        of its own tool."""
        near = _index(self._common(line))
        if self._needy:
            near = min(near, _index(self._needy(line)))
        far = NONE
        for index, match in dear:
            if match(line):
                far = index
                break
        if far == NONE or near == NONE:
            first = min(near, far)
            return None if first == NONE else TABLE[first]
        a, b = TABLE[near], TABLE[far]
        if b.loose:
            return b if b.points > a.points and b.tool != a.tool else a
        return a if near < far else b


def read(shape: Shape, line: str) -> "re.Match[str] | None":
    """What the named groups of a line's shape hold."""
    return shape.regex.match(_inner(line)) or shape.regex.match(line)


def _inner(line: str) -> str:
    return line.removeprefix("##[error]") if line.startswith("##[error]") else unwrapped(line)


def _index(found: "re.Match[str] | None") -> int:
    return int(found.lastgroup[1:]) if found and found.lastgroup else NONE


def _of(bits: int) -> tuple[tuple[int, Match], ...]:
    """The dear shapes of a set of bits, in the table's order."""
    return tuple((index, TABLE[index].regex.match) for bit, index in enumerate(DEAR) if bits >> bit & 1)


@cache
def _literals() -> Literals:
    return Literals([*(TABLE[i].pattern for i in DEAR), *WORDS])


@lru_cache(maxsize=32)
def _union(indexes: tuple[int, ...]) -> Match:
    # the groups are empty and last: `re` passes over an alternative by its first letter only where no group opens it
    parts = [f"(?:{NAMED.sub('(?:', TABLE[i].pattern)})(?P<s{i}>)" for i in indexes]
    return re.compile("|".join(parts) or r"(?!)").match

"""Which shape, if any, a plain line has.

Only those are tried whose required texts the line holds.
"""

import re
from collections.abc import Sequence
from functools import cache

from loops.evidence.recognise.prefilter import Prefilter
from loops.evidence.recognise.required import required
from loops.evidence.recognise.shapes import (
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
from loops.evidence.recognise.shapes.shape import Shape
from loops.evidence.text.general import WORDS
from loops.evidence.text.wrapped import unwrapped

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
PATTERNS = tuple(shape.pattern for shape in TABLE)
TRIED = (1 << len(TABLE)) - 1
DEAR = sum(1 << i for i, shape in enumerate(TABLE) if shape.dear)


class Matcher:
    """Matches the lines of one log against the shapes that are believable in it.

    `whole` is the log's kept text, which some shapes want to hold a certain text before they are believed; `without`
    are tools to leave out (to measure what the general method keeps by itself).
    """

    def __init__(self, texts: Sequence[str], whole: str, without: frozenset[str] = frozenset()) -> None:
        self._texts = texts
        self._prefilter = _prefilter()
        self._candidates = self._prefilter.candidates(texts)
        spoken = 0
        for candidates in self._candidates:
            spoken |= candidates
        # only of those that a line may have: to look through a log for a text takes longer than to read a line
        self._usable = sum(
            1 << i
            for i in _indexes(spoken & TRIED)
            if (shape := TABLE[i]).tool not in without and (not shape.needs or shape.needs in whole)
        )
        self._known: dict[str, Shape | None] = {}
        self._tries: dict[int, tuple[list[int], list[int]]] = {}

    def said(self, i: int) -> bool:
        """Whether line `i` holds any word of failure at all."""
        return self._candidates[i] & self._prefilter.said > 0

    def match(self, i: int) -> Shape | None:
        """The shape of line `i`, by the text behind a mark or a program's name too."""
        line = self._texts[i]
        if line in self._known:
            return self._known[line]
        candidates = self._candidates[i] & self._usable
        best = self._best(line, candidates)
        if (best is None or best.kind is None) and (inner := _inner(line)) != line:
            best = self._best(inner, candidates) or best
        self._known[line] = best
        return best

    def _best(self, line: str, candidates: int) -> Shape | None:
        """The earlier in the table wins, except that a text that may stand anywhere yields to a lesser shape only
        of its own tool."""
        candidates &= self._prefilter.beginning(line[:1])
        tries = self._tries.get(candidates)
        if tries is None:
            tries = self._tries[candidates] = _indexes(candidates & ~DEAR), _indexes(candidates & DEAR)
        near, far = _first(tries[0], line), _first(tries[1], line)
        if near is None or far is None:
            index = far if near is None else near
            return None if index is None else TABLE[index]
        a, b = TABLE[near], TABLE[far]
        if b.loose:
            return b if b.points > a.points and b.tool != a.tool else a
        return a if near < far else b


def read(shape: Shape, line: str) -> "re.Match[str] | None":
    """What the named groups of a line's shape hold."""
    return shape.regex.match(_inner(line)) or shape.regex.match(line)


def _inner(line: str) -> str:
    return line.removeprefix("##[error]") if line.startswith("##[error]") else unwrapped(line)


def _first(indexes: list[int], line: str) -> int | None:
    for index in indexes:
        if TABLE[index].regex.match(line):
            return index
    return None


def _indexes(bits: int) -> list[int]:
    found = []
    while bits:
        found.append((bits & -bits).bit_length() - 1)
        bits &= bits - 1
    return found


@cache
def _prefilter() -> Prefilter:
    return Prefilter(list(map(required, PATTERNS)), list(map(required, WORDS)))

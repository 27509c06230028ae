"""Which shape, if any, a plain line has: the recognisers' tables compiled into two expressions."""

import re
from collections.abc import Callable
from functools import lru_cache

from loops.evidence.shapes import delivery, javascript, managed, native, python, runner
from loops.evidence.shapes.shape import Shape

TABLE: tuple[Shape, ...] = (
    *runner.SHAPES,
    *delivery.SHAPES,
    *python.SHAPES,
    *javascript.SHAPES,
    *native.SHAPES,
    *managed.SHAPES,
)
NAMED = re.compile(r"\(\?P<\w+>")


class Matcher:
    """Matches lines against the shapes that are believable in this log.

    `holds` tells whether the log holds a text; `without` are tools to leave out (to measure what the general method
    keeps by itself).
    """

    def __init__(self, holds: Callable[[str], bool], without: frozenset[str] = frozenset()) -> None:
        usable = tuple(i for i, s in enumerate(TABLE) if s.tool not in without and (not s.needs or holds(s.needs)))
        self._anchored, self._dear = _compiled(usable)

    def match(self, line: str, spoken: bool) -> Shape | None:
        """The shape of a line. What a workflow command made an error of is matched by its text too.

        `spoken` says whether the line holds any word of failure; without, the dear expressions are not tried.
        """
        best = self._best(line, spoken)
        if line.startswith("##[error]") and (best is None or best.kind is None):
            return self._best(line.removeprefix("##[error]"), spoken) or best
        return best

    def _best(self, line: str, spoken: bool) -> Shape | None:
        """The earlier in the table wins, except that a text that may stand anywhere yields to a lesser shape only
        of its own tool."""
        cheap = _index(self._anchored(line))
        dear = _index(self._dear(line)) if spoken else None
        if cheap is None or dear is None:
            index = cheap if dear is None else dear
            return None if index is None else TABLE[index]
        a, b = TABLE[cheap], TABLE[dear]
        if b.loose:
            return b if b.points > a.points and b.tool != a.tool else a
        return a if cheap < dear else b


def _index(found: "re.Match[str] | None") -> int | None:
    return int(found.lastgroup[1:]) if found and found.lastgroup else None


Match = Callable[[str], "re.Match[str] | None"]


@lru_cache(maxsize=32)
def _compiled(usable: tuple[int, ...]) -> tuple[Match, Match]:
    return _union([i for i in usable if not TABLE[i].dear]), _union([i for i in usable if TABLE[i].dear])


def _union(indexes: list[int]) -> Match:
    parts = [f"(?P<s{i}>{NAMED.sub('(?:', TABLE[i].pattern)})" for i in indexes]
    return re.compile("|".join(parts) or r"(?!)").match

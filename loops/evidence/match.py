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
# shapes that may begin anywhere in a line are tried only on lines with a word of this kind
SPOKEN = re.compile(
    r"error|fail|fatal|exception|panic|kill|abort|fault|memory|alloc|space|denied|permission|auth|credential|resource|input|"
    r"timed|timeout|undefined|cannot|symbol|signal|core|sanitiz|assert|require|unhandled|executed|exited|lost|daemon|"
    r"oom|resolve|provides|sum|disk|space|recogni|err_pnpm|elifecycle|version|path|find|terminate|free|stack|instruction|service|\(\)|container|inconsistent|updates",
    re.I,
)


class Matcher:
    """Matches lines against the shapes that are believable in this log.

    `holds` tells whether the log holds a text; `without` are tools to leave out (to measure what the general method
    keeps by itself).
    """

    def __init__(self, holds: Callable[[str], bool], without: frozenset[str] = frozenset()) -> None:
        usable = tuple(i for i, s in enumerate(TABLE) if s.tool not in without and (not s.needs or holds(s.needs)))
        self._anchored, self._loose = _compiled(usable)

    def match(self, line: str) -> Shape | None:
        """The shape of a line. What a workflow command made an error of is matched by its text too."""
        best = self._best(line)
        if line.startswith("##[error]") and (best is None or best.kind is None):
            return self._best(line.removeprefix("##[error]")) or best
        return best

    def _best(self, line: str) -> Shape | None:
        best: Shape | None = None
        found = self._anchored(line)
        if found and found.lastgroup:
            best = TABLE[int(found.lastgroup[1:])]
        if SPOKEN.search(line):
            found = self._loose(line)
            if found and found.lastgroup:
                loose = TABLE[int(found.lastgroup[1:])]
                if best is None or (loose.points > best.points and loose.tool != best.tool):
                    best = loose
        return best


Match = Callable[[str], "re.Match[str] | None"]


@lru_cache(maxsize=32)
def _compiled(usable: tuple[int, ...]) -> tuple[Match, Match]:
    return _union([i for i in usable if not TABLE[i].loose]), _union([i for i in usable if TABLE[i].loose])


def _union(indexes: list[int]) -> Match:
    parts = [f"(?P<s{i}>{NAMED.sub('(?:', TABLE[i].pattern)})" for i in indexes]
    return re.compile("|".join(parts) or r"(?!)").match

"""Finds the catalogue's secrets in a text, in time linear in its length whatever it holds.

One pass of Hyperscan tells which kinds are in a text at all, mostly none; RE2 then tells where they are.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import hyperscan
import re2

from loops.secrets.catalogue import KINDS
from loops.secrets.kind import Kind, Strength
from loops.secrets.randomness import looks_random


@dataclass(frozen=True, slots=True)
class Match:
    """Where something with the shape of a secret stands in a text, from `start` up to `end`; `begin` is where the words
    begin that give it away."""

    kind: Kind
    start: int
    end: int
    begin: int


def one_byte_each(text: str) -> bytes:
    """`text` with a byte for each character, so that places in one are places in the other; what is beyond Latin-1
    becomes a question mark."""
    return text.encode("latin-1", "replace")


def compiled(pattern: str) -> Any:
    """`pattern` for RE2, over bytes."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    return re2.compile(pattern.encode("latin-1"), options)  # type: ignore[no-untyped-call]


class _Shapes:
    """All patterns, compiled. Several threads may use it at once."""

    def __init__(self, kinds: Sequence[Kind]) -> None:
        self.kinds = kinds
        self.patterns = [compiled(kind.pattern) for kind in kinds]
        self.untils = [compiled(kind.until) if kind.until else None for kind in kinds]
        self._database = hyperscan.Database()
        self._database.compile(
            expressions=[kind.pattern.encode("latin-1") for kind in kinds],
            ids=list(range(len(kinds))),
            elements=len(kinds),
            flags=[hyperscan.HS_FLAG_SINGLEMATCH] * len(kinds),
        )
        # one scan at a time may use a scratch space
        self._own = threading.local()

    def present(self, data: bytes) -> list[int]:
        """The indices of the kinds with a match in `data`."""
        scratch = getattr(self._own, "scratch", None)
        if scratch is None:
            scratch = self._own.scratch = hyperscan.Scratch(self._database)
        found: list[int] = []
        self._database.scan(data, match_event_handler=lambda index, *_: found.append(index), scratch=scratch)
        return sorted(set(found))


@cache
def _shapes() -> _Shapes:
    return _Shapes(KINDS)


def matches(text: str) -> Iterator[Match]:
    """Everything in `text` with the shape of a secret, kind by kind in the catalogue's order; matches may overlap."""
    data = one_byte_each(text)
    shapes = _shapes()
    for index in shapes.present(data):
        kind, until = shapes.kinds[index], shapes.untils[index]
        covered = 0
        for found in shapes.patterns[index].finditer(data):
            start, end = found.span(1 if found.re.groups else 0)
            if start < covered or (kind.bounded and goes_on_before(data, found.start())):
                continue
            if until is not None:
                last = until.search(data, end)
                covered = end = last.end() if last else len(data)
            elif kind.strength is Strength.NAMED and not looks_random(text[start:end]):
                continue
            yield Match(kind, start, end, found.start())


def goes_on_before(data: bytes, start: int) -> bool:
    """Whether a letter or a digit comes right before."""
    return data[start - 1 : start].isalnum()

"""Finds the catalogue's secrets in a text, in time linear in its length whatever it holds.

One pass for the words that a kind cannot do without tells which kinds may be in a text at all, mostly few; then RE2
tells where they are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

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


@cache
def compiled(pattern: str) -> Any:
    """`pattern` for RE2, over bytes. Compiled when a text first has its kind: most never do."""
    return re2.compile(pattern.encode("latin-1"), _options())  # type: ignore[no-untyped-call]


def _options() -> Any:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    return options


class _Shapes:
    """All patterns, compiled. Several threads may use it at once."""

    def __init__(self, kinds: Sequence[Kind]) -> None:
        self.kinds = kinds
        self.patterns = [compiled(kind.pattern) for kind in kinds]
        self._words = re2.Filter()  # type: ignore[no-untyped-call]
        for kind in kinds:
            self._words.Add(kind.pattern.encode("latin-1"), _options())  # type: ignore[no-untyped-call]
        self._words.Compile()  # type: ignore[no-untyped-call]

    def possible(self, data: bytes) -> list[int]:
        """The indices of the kinds that may have a match in `data`."""
        return sorted(self._words.Match(data, True))  # type: ignore[no-untyped-call]


@cache
def _shapes() -> _Shapes:
    return _Shapes(KINDS)


def matches(text: str) -> Iterator[Match]:
    """Everything in `text` with the shape of a secret, kind by kind in the catalogue's order; matches may overlap."""
    data = one_byte_each(text)
    shapes = _shapes()
    for index in shapes.possible(data):
        kind = shapes.kinds[index]
        until = compiled(kind.until) if kind.until else None
        covered = 0
        for found in compiled(kind.pattern).finditer(data):
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

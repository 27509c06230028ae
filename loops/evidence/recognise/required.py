"""What a line must hold and begin with for an expression to match it.

It stands in `required.json` for every expression in use: to work it out takes a tenth of a second and the insides of
`re`, so `make fmt` does it (`loops.evidence.recognise.derive`). An expression that is not there is tried on every line.
"""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

STORE = Path(__file__).with_suffix(".json")


class Required(NamedTuple):
    """One of `texts` is in whatever matches; with none, nothing is known. An ASCII letter that it begins with is one of
    `first`; where that is None, any may be."""

    texts: frozenset[str] = frozenset()
    first: str | None = None


def required(pattern: str) -> Required:
    """Of an expression without flags, to be matched at the start of a line."""
    return _stored().get(pattern, Required())


@cache
def _stored() -> dict[str, Required]:
    entries = json.loads(STORE.read_text())
    return {pattern: Required(frozenset(texts), first) for pattern, (first, *texts) in entries.items()}

"""Hundreds of patterns found in one pass over bytes: Hyperscan, made safe for threads."""

import threading
from collections.abc import Callable, Sequence

import hyperscan

from loops.patterns.compiled import compiled

Found = Callable[[int, int, int, int, object], None]
"""Called with the pattern's index, 0, the offset behind its end, and two things of Hyperscan's own."""


class Patterns:
    """Plain texts (`literal`) or expressions: `patterns` in any case of ASCII letters, then `exact` as written. Several
    threads may scan at once: several jobs' logs are distilled beside each other."""

    def __init__(self, patterns: Sequence[str], *, literal: bool, exact: Sequence[str] = ()) -> None:
        self._database = compiled(
            [pattern.encode() for pattern in (*patterns, *exact)],
            [*[hyperscan.HS_FLAG_CASELESS] * len(patterns), *[0] * len(exact)],
            literal=literal,
        )
        # one scan at a time may use a scratch space, and the database's own is one for all threads
        self._own = threading.local()

    def scan(self, data: bytes, found: Found) -> None:
        """Call `found` for each end of each match, about in order."""
        scratch = getattr(self._own, "scratch", None)
        if scratch is None:
            scratch = self._own.scratch = hyperscan.Scratch(self._database)
        self._database.scan(data, match_event_handler=found, scratch=scratch)

"""Which repositories a person may see, remembered for at most a minute, asked for once at a time."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from github.client.errors import Unauthorized

MAX_AGE = 60.0
"""Seconds until a person who lost their access sees no more."""
MOST = 4096

Ask = Callable[[str], Awaitable[frozenset[int]]]


class Readers:
    """`ask` is given a person's token and answers with repository ids; Unauthorized means that the token has ended."""

    def __init__(self, ask: Ask, clock: Callable[[], float]) -> None:
        self._ask = ask
        self._clock = clock
        self._known: OrderedDict[tuple[int, str], tuple[float, frozenset[int]]] = OrderedDict()
        self._locks: dict[tuple[int, str], asyncio.Lock] = {}

    async def of(self, person: int, token: str) -> frozenset[int] | None:
        """The ids; None when the token has ended. Raises GitHubError."""
        key = (person, token)
        lock = self._locks.setdefault(key, asyncio.Lock())
        try:
            async with lock:
                at, seen = self._known.get(key, (float("-inf"), frozenset()))
                if not 0 <= self._clock() - at < MAX_AGE:
                    seen = await self._ask(token)
                    self._known[key] = (self._clock(), seen)
                    self._known.move_to_end(key)
                    while len(self._known) > MOST:
                        self._known.popitem(last=False)
                return seen
        except Unauthorized:
            self.forget(person, token)
            return None
        finally:
            if not lock.locked():
                self._locks.pop(key, None)

    def forget(self, person: int, token: str) -> None:
        self._known.pop((person, token), None)

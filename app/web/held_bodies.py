"""How much of requests' bodies one process holds at once: room is taken before a byte is read, and given back after."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator

HELD_BYTES = 96 * 1024 * 1024
"""Room for all bodies of a process: with what else it holds, below the memory that the chart gives it."""
UPLOADED_BYTES = 1024 * 1024 * 1024
BODIES_OF_ONE = 2
"""Bodies of one box or caller at a time; further ones wait."""
WAITING = 128
WAIT_SECONDS = 10.0
RETRY_SECONDS = 5


class NoRoom(Exception):
    """Too many bodies at once: to be answered 503 with `Retry-After`."""


class HeldBodies:
    """The room of one process."""

    def __init__(
        self,
        room: int = HELD_BYTES,
        *,
        each: int = BODIES_OF_ONE,
        waiting: int = WAITING,
        seconds: float = WAIT_SECONDS,
    ) -> None:
        self._room = self._left = room
        self._each = each
        self._most_waiting = waiting
        self._seconds = seconds
        self._waiting = 0
        self._open: Counter[str] = Counter()
        self._changed = asyncio.Condition()

    @contextlib.asynccontextmanager
    async def room(self, whose: str, size: int) -> AsyncIterator[None]:
        """Room for `size` bytes while the block runs. Raises NoRoom when there is none, nor a place in the line."""
        await self._take(whose, size)
        try:
            yield
        finally:
            self._left += size
            self._open[whose] -= 1
            if not self._open[whose]:
                del self._open[whose]
            async with self._changed:
                self._changed.notify_all()

    async def _take(self, whose: str, size: int) -> None:
        if size > self._room:
            raise NoRoom(f"{size} bytes are more than this process holds at once")
        if not self._fits(whose, size):
            if self._waiting >= self._most_waiting:
                raise NoRoom("too many large requests at once: try again")
            self._waiting += 1
            try:
                async with asyncio.timeout(self._seconds), self._changed:
                    await self._changed.wait_for(lambda: self._fits(whose, size))
            except TimeoutError:
                raise NoRoom("too many large requests at once: try again") from None
            finally:
                self._waiting -= 1
        self._left -= size
        self._open[whose] += 1

    def _fits(self, whose: str, size: int) -> bool:
        return size <= self._left and self._open[whose] < self._each


def uploads() -> HeldBodies:
    """Room on disk for the files that boxes send."""
    return HeldBodies(UPLOADED_BYTES, each=4)

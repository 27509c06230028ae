"""Good manners towards one installation: one write at a time, no flood, and silence until a limit is over.

GitHub asks for serialised writes and, for many of them, one second between two; about 80 a minute may create content.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from github.clock import Clock
from github.errors import RateLimited

BURST = 60  # writes that may follow each other at once
PER_SECOND = 1.0  # writes that are earned back


class Pace:
    """The writes and limits of one installation (or of the App itself) in this process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = asyncio.Lock()
        self._budget = float(BURST)
        self._counted_at = clock.now()
        self._limit: RateLimited | None = None

    def check(self) -> None:
        """Raise the limit met before, if it is not over: asking on would only prolong it."""
        if self._limit is not None:
            if self._clock.now() < self._limit.retry_at:
                raise RateLimited(
                    f"not sent, a limit holds: {self._limit.message}",
                    retry_at=self._limit.retry_at,
                    secondary=self._limit.secondary,
                    request=self._limit.request,
                    status=self._limit.status,
                )
            self._limit = None

    def limited(self, limit: RateLimited) -> None:
        """Remember a limit."""
        if self._limit is None or limit.retry_at > self._limit.retry_at:
            self._limit = limit

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """The turn to write: alone, and not faster than GitHub asks for."""
        async with self._lock:
            now = self._clock.now()
            self._budget = min(BURST, self._budget + max(0.0, now - self._counted_at) * PER_SECOND)
            self._counted_at = now
            if self._budget < 1:
                await self._clock.sleep((1 - self._budget) / PER_SECOND)
                self._counted_at = self._clock.now()
                self._budget = 1.0
            self._budget -= 1
            self.check()
            yield

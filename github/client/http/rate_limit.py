"""The limits of one installation: one write at a time, no flood, and silence until a limit is over.

GitHub asks for serialised writes and, for many of them, one second between two; about 80 a minute may create content.
The budget is the App's, not a process's: what several processes know together comes in as `Shared`.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from typing import Any, Protocol

import httpx
from githubkit.throttling import BaseThrottler

from github.client.clock import Clock
from github.client.errors import Paced, RateLimited
from github.client.http.content_limit import Creations, share_of
from github.client.http.mutations import changes

BURST = 60  # writes that may follow each other at once
PER_SECOND = 1.0  # writes that are earned back
MOMENT = 5.0  # seconds that a creation of content is waited for
LOOK_SECONDS = 1.0  # between two looks at what other processes met


class Shared(Protocol):
    """What all processes of the service know of an installation's limits. Nothing here raises: work goes on, with the
    limits that this process met itself."""

    async def limit(self, installation_id: int) -> RateLimited | None:
        """The limit that some process met and that is not over."""
        ...

    async def limited(self, installation_id: int, limit: RateLimited) -> None:
        """Let the others know."""
        ...

    def turn(self, installation_id: int) -> AbstractAsyncContextManager[None]:
        """The turn to write among all processes, within `BURST` and `PER_SECOND`."""
        ...

    async def creation(self, installation_id: int, share: float) -> float | None:
        """The seconds until all processes together may create content once more; 0: now, and it is counted. None where
        nobody counts for all. `share` is of the limits in `github.client.http.content_limit`."""
        ...


class Alone:
    """The only process there is."""

    async def limit(self, installation_id: int) -> RateLimited | None:
        return None

    async def limited(self, installation_id: int, limit: RateLimited) -> None:
        return None

    def turn(self, installation_id: int) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def creation(self, installation_id: int, share: float) -> None:
        return None


class RateLimit:
    """The writes and limits of one installation (0: of the App itself)."""

    def __init__(self, clock: Clock, installation_id: int = 0, shared: Shared | None = None) -> None:
        self._clock = clock
        self._id = installation_id
        self._shared = shared or Alone()
        self._lock = asyncio.Lock()
        self._budget = float(BURST)
        self._counted_at = clock.now()
        self._limit: RateLimited | None = None
        self._looked_at = 0.0
        self._creations = Creations()

    async def check(self) -> None:
        """Raise the limit met before, here or elsewhere, if it is not over: asking on would only prolong it."""
        now = self._clock.now()
        if not 0 <= now - self._looked_at < LOOK_SECONDS:
            self._looked_at = now
            self._remember(await self._shared.limit(self._id))
        if self._limit is not None:
            if now < self._limit.retry_at:
                raise RateLimited(
                    f"not sent, a limit holds: {self._limit.message}",
                    retry_at=self._limit.retry_at,
                    secondary=self._limit.secondary,
                    request=self._limit.request,
                    status=self._limit.status,
                )
            self._limit = None

    async def limited(self, limit: RateLimited) -> None:
        """Remember a limit, and let the other processes know."""
        self._remember(limit)
        await self._shared.limited(self._id, limit)

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
            async with self._shared.turn(self._id):
                await self.check()
                yield

    async def create(self, share: float) -> None:
        """Take one of the creations of content that GitHub allows, or wait a moment for it. Raises Paced where it takes
        longer: then nothing else is held up."""
        while wait := await self._wait_to_create(share):
            if wait > MOMENT:
                raise Paced(
                    "not sent: with it, more content would be created than GitHub lets one App create",
                    retry_at=self._clock.now() + wait,
                    secondary=True,
                )
            await self._clock.sleep(wait)

    async def _wait_to_create(self, share: float) -> float:
        known = await self._shared.creation(self._id, share)
        return self._creations.wait(self._clock.now(), share) if known is None else known

    def _remember(self, limit: RateLimited | None) -> None:
        if limit is not None and (self._limit is None or limit.retry_at > self._limit.retry_at):
            self._limit = limit


class Throttle(BaseThrottler):
    """A rate limit as githubkit asks for it, before each try. `writes`: what is sent may change something."""

    def __init__(self, limit: RateLimit, *, writes: bool) -> None:
        self._limit = limit
        self._writes = writes

    @contextmanager
    def acquire(self, request: httpx.Request) -> Generator[None, Any, Any]:
        raise RuntimeError("the service asks GitHub asynchronously only")
        yield  # type: ignore[unreachable]  # which makes it a generator

    @asynccontextmanager
    async def async_acquire(self, request: httpx.Request) -> AsyncGenerator[None, Any]:
        """Wait for the turn. Raises RateLimited while a limit holds, Paced where the request would lead to one."""
        await self._limit.check()
        if share := share_of(request):
            await self._limit.create(share)
        async with self._limit.writing() if self._writes and changes(request) else nullcontext():
            yield

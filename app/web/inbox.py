"""The durable inbox: deliveries are committed in groups, and only then acknowledged."""

import asyncio
import time
from collections import deque

import structlog

from app.web.metrics import Metrics
from loops.store.arrivals import Arrival, Arrivals, lane_of
from loops.store.background import end
from loops.store.bus import WORK, Bus
from loops.store.states import Lane

log = structlog.get_logger(__name__)

LARGEST_GROUP = 256

Waiting = tuple[Arrival, "asyncio.Future[None]"]


class InboxFull(Exception):
    """More deliveries wait for their commit than may wait."""


class InboxFailed(Exception):
    """The database did not take the delivery."""


class Inbox:
    """Takes deliveries of one process, people's before the rest. `put` returns when the delivery is on disk."""

    def __init__(self, arrivals: Arrivals, bus: Bus, metrics: Metrics, *, limit: int) -> None:
        self._arrivals = arrivals
        self._bus = bus
        self._metrics = metrics
        self._limit = limit
        self._people: deque[Waiting] = deque()
        self._others: deque[Waiting] = deque()
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._commit_groups(), name="inbox") for _ in range(self._arrivals.groups_at_once)
        ]

    async def close(self) -> None:
        """Stop. Whoever still waits is told that the delivery was not stored."""
        await asyncio.gather(*(end(task) for task in self._tasks))
        for waiting in (self._people, self._others):
            self._fail(list(waiting), InboxFailed("the service is stopping"))
            waiting.clear()
        await self._arrivals.close()

    @property
    def depth(self) -> int:
        return len(self._people) + len(self._others)

    async def put(self, arrival: Arrival) -> None:
        """Store the delivery durably; one that is there already is left as it is. Raises InboxFull, InboxFailed."""
        if self.depth >= self._limit:
            raise InboxFull(f"{self._limit} deliveries wait for their commit already")
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        people = lane_of(arrival.event, arrival.action) is Lane.PEOPLE
        (self._people if people else self._others).append((arrival, done))
        self._wake.set()
        await done

    async def _commit_groups(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while group := self._next_group():
                await self._commit(group)

    def _next_group(self) -> list[Waiting]:
        group: list[Waiting] = []
        for waiting in (self._people, self._others):
            group += [waiting.popleft() for _ in range(min(LARGEST_GROUP - len(group), len(waiting)))]
        return group

    async def _commit(self, group: list[Waiting]) -> None:
        began = time.perf_counter()
        try:
            await self._arrivals.store([arrival for arrival, _ in group])
        except asyncio.CancelledError:
            self._fail(group, InboxFailed("the service is stopping"))
            raise
        except Exception as error:
            log.error("inbox.not_stored", deliveries=len(group), error=f"{type(error).__name__}: {error}")
            self._fail(group, InboxFailed("the database did not take the delivery"))
            return
        self._metrics.commits.observe(time.perf_counter() - began)
        self._metrics.batches.observe(len(group))
        for _, done in group:
            if not done.done():
                done.set_result(None)
        self._bus.notify(WORK)

    @staticmethod
    def _fail(group: list[Waiting], error: Exception) -> None:
        for _, done in group:
            if not done.done():
                done.set_exception(error)

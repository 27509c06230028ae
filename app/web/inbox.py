"""The durable inbox: deliveries are committed in groups, and only then acknowledged."""

import asyncio
import time
from collections import deque

import structlog

from app.web.metrics import Metrics
from github.webhooks.events import people_wait
from loops.store.arrivals import Arrival, Arrivals
from loops.store.background import end
from loops.store.queue import Queue

log = structlog.get_logger(__name__)

LARGEST_GROUP = 256
TRIGGERS_A_SECOND = 50
"""Triggers beyond this rate are left to the workers' sweep: under a flood they would cost more than the deliveries."""


HINT_PLACE = 30
"""Behind what people wrote, see `Queue.send`: hints come in great numbers."""


class InboxFull(Exception):
    """More deliveries wait for their commit than may wait."""


class InboxFailed(Exception):
    """The database did not take the delivery."""


class Inbox:
    """Takes deliveries of one process. `put` returns when the delivery is on disk."""

    def __init__(self, arrivals: Arrivals, queue: Queue, metrics: Metrics, *, limit: int) -> None:
        self._arrivals = arrivals
        self._queue = queue
        self._metrics = metrics
        self._limit = limit
        self._waiting: deque[tuple[Arrival, asyncio.Future[None]]] = deque()
        self._wake = asyncio.Event()
        self._stored: deque[tuple[str, int]] = deque(maxlen=TRIGGERS_A_SECOND)
        self._trigger = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._commit_groups(), name="inbox"),
            asyncio.create_task(self._send_triggers(), name="inbox.triggers"),
        ]

    async def close(self) -> None:
        """Stop. Whoever still waits is told that the delivery was not stored."""
        await asyncio.gather(*(end(task) for task in self._tasks))
        self._fail(list(self._waiting), InboxFailed("the service is stopping"))
        self._waiting.clear()
        await self._arrivals.close()

    @property
    def depth(self) -> int:
        return len(self._waiting)

    async def put(self, arrival: Arrival) -> None:
        """Store the delivery durably; one that is there already is left as it is. Raises InboxFull, InboxFailed."""
        if len(self._waiting) >= self._limit:
            raise InboxFull(f"{self._limit} deliveries wait for their commit already")
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((arrival, done))
        self._wake.set()
        await done

    async def _commit_groups(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                group = [self._waiting.popleft() for _ in range(min(LARGEST_GROUP, len(self._waiting)))]
                await self._commit(group)

    async def _commit(self, group: list[tuple[Arrival, "asyncio.Future[None]"]]) -> None:
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
        for arrival, done in group:
            self._stored.append((arrival.guid, 0 if people_wait(arrival.event, arrival.action) else HINT_PLACE))
            if not done.done():
                done.set_result(None)
        self._trigger.set()

    @staticmethod
    def _fail(group: list[tuple[Arrival, "asyncio.Future[None]"]], error: Exception) -> None:
        for _, done in group:
            if not done.done():
                done.set_exception(error)

    async def _send_triggers(self) -> None:
        """Tell the workers, a little later and never faster than they could use it."""
        while True:
            await self._trigger.wait()
            self._trigger.clear()
            while self._stored:
                guid, place = self._stored.popleft()
                await self._queue.send("route", guid, job=f"route:{guid}", place=place)
                await asyncio.sleep(1 / TRIGGERS_A_SECOND if len(self._stored) else 0)

"""The durable inbox: deliveries are committed in groups, and only then acknowledged."""

import time
from collections.abc import Sequence

import structlog

from app.web.metrics import Metrics
from loops.store.arrivals import Arrival, Arrivals, lane_of
from loops.store.batcher import Batcher
from loops.store.bus import WORK, Bus
from loops.store.states import Lane

log = structlog.get_logger(__name__)

LARGEST_GROUP = 256


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
        self._groups = Batcher(self._store, largest=LARGEST_GROUP, at_once=arrivals.groups_at_once)

    async def close(self) -> None:
        """Store what waits, and stop."""
        await self._groups.close()
        await self._arrivals.close()

    @property
    def depth(self) -> int:
        return self._groups.depth

    async def put(self, arrival: Arrival) -> None:
        """Store the delivery durably; one that is there already is left as it is. Raises InboxFull, InboxFailed."""
        if self.depth >= self._limit:
            raise InboxFull(f"{self._limit} deliveries wait for their commit already")
        await self._groups.put(arrival, first=lane_of(arrival.event, arrival.action) is Lane.PEOPLE)

    async def _store(self, group: Sequence[Arrival]) -> Sequence[None]:
        began = time.perf_counter()
        try:
            await self._arrivals.store(group)
        except Exception as error:
            log.error("inbox.not_stored", deliveries=len(group), error=f"{type(error).__name__}: {error}")
            raise InboxFailed("the database did not take the delivery") from error
        self._metrics.commits.observe(time.perf_counter() - began)
        self._metrics.batches.observe(len(group))
        self._bus.notify(WORK)
        return [None] * len(group)

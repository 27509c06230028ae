"""What goes on whoever goes away: the booking of what was used, and of how long a provider is to be spared."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

from loops.gateway.booking import book, spare
from loops.gateway.usage import Used
from loops.runtimes.spec import Price
from loops.store.database import Database

log = structlog.get_logger(__name__)


class Bookings:
    """Books into the rows of turns; `close` waits for what is under way."""

    def __init__(self, database: Database, price_of: Callable[[str | None], Price | None]) -> None:
        self._database = database
        self._price_of = price_of
        self._running: set[asyncio.Task[None]] = set()

    async def book(self, turn: int, model: str, used: Used) -> None:
        """Return once it is booked; it is, too, when the caller is cancelled meanwhile."""
        await self._whole(self._book(turn, model, used))

    async def spare(self, turn: int, until: float) -> None:
        """Return once it is kept that the provider wants to be left alone until then."""
        await self._whole(spare(self._database, turn, until))

    async def _whole(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        await asyncio.shield(task)

    async def _book(self, turn: int, model: str, used: Used) -> None:
        stopped = await book(self._database, turn, used, self._price_of(model))
        if stopped is not None:
            log.info("gateway.stops", turn=turn, why=stopped)

    async def close(self) -> None:
        await asyncio.gather(*self._running, return_exceptions=True)

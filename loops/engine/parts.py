"""The parts of a worker: each claims what is due of one kind from the database, and runs it in places of its own.

Redis has no say in it: what is told over the bus only makes a part look sooner than its next look by the clock.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from loops.context import Loop
from loops.deliveries.route import route
from loops.deliveries.route_batch import route_batch
from loops.engine.advance import advance
from loops.engine.places import Places
from loops.store.bus import wait
from loops.store.claims import Claims, left_behind, next_due
from loops.store.states import Lane
from loops.store.tables import Delivery, Session

LOOK_SECONDS = 0.5
"""Between two looks at the database where nobody tells that something is due, or Redis is away."""
BATCH = 256
"""Deliveries that are read at once: some ten milliseconds in which the worker does nothing else."""
LEFT_PLACES = 4
"""For what another worker left behind: of the suspected ones (`loops.store.begun`) all but one wait."""


class Part(Protocol):
    """One kind of work. `rung` is set when there may be something new to do."""

    rung: asyncio.Event

    async def round(self) -> None:
        """Claim what there is a place for and begin it, then wait until it is worth another look."""
        ...

    async def drain(self, seconds: float) -> None:
        """Let what is under way end."""
        ...


class Inbox:
    """Deliveries that nobody has looked at: many at once, what people wrote before everything else."""

    def __init__(self, loop: Loop, rung: asyncio.Event) -> None:
        self.rung = rung
        self._loop = loop
        self._claims = Claims(loop.leases, Lane.PEOPLE, Lane.NEWS, Lane.HINTS)

    async def round(self) -> None:
        claimed = await self._claims.claim(BATCH, _any_number)
        if claimed:
            await route_batch(self._loop, [each.key for each in claimed])
        else:
            await wait(self.rung, LOOK_SECONDS)

    async def drain(self, seconds: float) -> None:
        return None


class Steps:
    """What is due and is handled each on its own, in up to `places` steps at a time: deliveries of `lanes`; none:
    sessions."""

    def __init__(self, loop: Loop, rung: asyncio.Event, places: int, *lanes: Lane) -> None:
        self.rung = rung
        self._loop = loop
        self._claims = Claims(loop.leases, *lanes)
        self._step: Callable[..., Any] = route if lanes else advance
        self._timed = not lanes
        self.places = Places(places, rung.set)

    async def round(self) -> None:
        claimed = await self._claims.claim(self.places.free, self.places.room)
        for each in claimed:
            self.places.begin(each.key, each.installation_id, self._step(self._loop, each.key, claimed=True))
        if not claimed:
            await wait(self.rung, await self._pause())

    async def _pause(self) -> float:
        """Until the next session is due by the clock, or the next look."""
        due = await next_due(self._loop.leases) if self._timed and self.places.free else None
        return LOOK_SECONDS if due is None else min(LOOK_SECONDS, max(0.0, due - self._loop.clock()))

    async def drain(self, seconds: float) -> None:
        await self.places.drain(seconds)


class LeftBehind:
    """Rows whose worker died or lost its database: each is begun on its own, so that it is found out which of them end
    processes."""

    def __init__(self, loop: Loop, rung: asyncio.Event, beside: Sequence[Steps]) -> None:
        """`beside`: what they have under way is not left behind, also where its lease could not be renewed in time."""
        self.rung = rung
        self._loop = loop
        self._beside = beside
        self._places = Places(LEFT_PLACES, rung.set)

    async def round(self) -> None:
        await self._begin(Session, advance)
        await self._begin(Delivery, route)
        await wait(self.rung, LOOK_SECONDS)

    async def _begin(self, table: type[Session] | type[Delivery], step: Callable[[Loop, Any], Any]) -> None:
        for each in await left_behind(self._loop.leases, table, LEFT_PLACES):
            under_way = any(places.has(each.key) for places in (self._places, *(one.places for one in self._beside)))
            if self._places.room(each.installation_id) and not under_way:
                self._places.begin(each.key, each.installation_id, step(self._loop, each.key))

    async def drain(self, seconds: float) -> None:
        await self._places.drain(seconds)


def parts(loop: Loop, rung: Callable[[], asyncio.Event], places: int) -> dict[str, Part]:
    """All parts of a worker by name; `places` for sessions, as many for what people ask for, and a quarter for looks at
    checks that nobody waits for. `rung` gives each an event of its own."""
    sessions = Steps(loop, rung(), places)
    requests = Steps(loop, rung(), places, Lane.REQUEST, Lane.CHANGE)
    looks = Steps(loop, rung(), max(1, places // 4), Lane.LOOK)
    left = LeftBehind(loop, rung(), (sessions, requests, looks))
    return {"inbox": Inbox(loop, rung()), "requests": requests, "sessions": sessions, "looks": looks, "left": left}


def _any_number(_: int | None) -> int:
    return BATCH

"""The live stream of a session for programs: server-sent events, which go on behind `Last-Event-ID`."""

import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Final

from sse_starlette import ServerSentEvent

from app.web.api.callers import Caller
from app.web.api.reading import Spot, shown, shown_event
from app.web.pages.live import woken
from app.web.state import AppState
from loops import operations
from loops.store.states import OPEN_SESSION

RECHECK: Final = 60.0
"""Seconds after which a person's stream ends, and who reads it comes again: with a token that still holds, and the
right that GitHub then says they have."""
PAGE: Final = 200


async def stream(here: AppState, caller: Caller, spot: Spot, after: int) -> AsyncIterator[ServerSentEvent]:
    """`event` (id: its seq) for each event behind `after`, `session` where its state changed, and `end`."""
    tenant, told = spot.place.installation_id, ""
    ends = None if caller.person is None else here.clock() + RECHECK
    here.metrics.watchers.inc()
    try:
        with here.bus.listening(f"session:{spot.key}") as event:
            while not here.stopping.is_set() and (ends is None or here.clock() < ends):
                async with here.database.read() as tx:
                    found = await operations.get(tx, tenant, spot.session, events=False)
                    new = await operations.happened(tx, tenant, spot.session, after=after, limit=PAGE)
                for each in new:
                    after = each.seq
                    yield ServerSentEvent(_json(shown_event(caller, each)), event="event", id=str(each.seq))
                if new:
                    continue
                brief = shown(here, caller, found.brief())
                if (state := _json(brief)) != told:
                    told = state
                    yield ServerSentEvent(state, event="session")
                if found.status not in OPEN_SESSION:
                    yield ServerSentEvent("{}", event="end")
                    return
                await woken(here, event)
    finally:
        here.metrics.watchers.dec()


def _json(value: object) -> str:
    return json.dumps(asdict(value), ensure_ascii=False)  # type: ignore[call-overload]

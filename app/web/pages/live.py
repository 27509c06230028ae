"""The live stream of a session's page: server-sent events, which a browser resumes by itself after a break."""

import asyncio
from collections.abc import AsyncIterator

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response

from app.web.outage import until_outage
from app.web.pages.entries import block
from app.web.pages.render import html
from app.web.pages.sessions import missing, visible, visitor
from app.web.pages.view import View, state_html, text_of_diff, view
from app.web.state import AppState, app_state
from loops.store import journal
from loops.store.background import end
from loops.store.bus import wait
from loops.store.tables import Event, Session

LOOK_AGAIN = 5.0
"""Seconds between looks at the database when nothing wakes the stream."""
LONGEST = 18
RECHECK = 120.0
"""Seconds after which somebody who is signed in has to show again that they may see the session."""


async def events(request: Request) -> Response:
    """GET /sessions/{session}/events: `entry` (id: its seq), `state` (the upper part anew), `end`.

    Goes on behind `Last-Event-ID`, else behind `?after=SEQ`.
    """
    here = app_state(request)
    async with here.database.read() as tx:
        session = await visible(tx, request)
    if session is None:
        return missing(request)
    behind = request.headers.get("last-event-id") or request.query_params.get("after") or "0"
    after = int(behind) if behind.isdecimal() and len(behind) <= LONGEST else 0
    longest = RECHECK if visitor(request).login else None
    news = stream(here, session.id, after, longest, operator=visitor(request).repositories is None)
    return EventSourceResponse(until_outage(news), ping=15)


async def stream(
    here: AppState, session_id: int, after: int, longest: float | None = None, *, operator: bool = False
) -> AsyncIterator[ServerSentEvent]:
    """What happens in the session behind the event `after`, until the session is over or the server stops.

    After `longest` seconds it ends too: the browser comes again by itself, and passes the gate again.
    """
    shown = ""
    ends = None if longest is None else here.clock() + longest
    here.metrics.watchers.inc()
    try:
        with here.bus.listening(f"session:{session_id}") as event:
            while not here.stopping.is_set() and (ends is None or here.clock() < ends):
                found, new = await _news(here, session_id, after)
                for one in new:
                    after = one.seq
                    yield ServerSentEvent(html("_block.html", block=block(one)), event="entry", id=str(one.seq))
                diff = await here.diffs.html(here.offload, found.session.installation_id, text_of_diff(found))
                urls = here.settings.github_web_url, here.settings.public_url
                state = state_html(found, diff, *urls, operator=operator)
                if state != shown and not new:
                    shown = state
                    yield ServerSentEvent(state, event="state")
                if found.over and not new:
                    yield ServerSentEvent("over", event="end")
                    return
                if not new:
                    await woken(here, event)
    finally:
        here.metrics.watchers.dec()


async def _news(here: AppState, session_id: int, after: int) -> tuple[View, list[Event]]:
    async with here.database.read() as tx:
        return await view(tx, await tx.get_one(Session, session_id)), await journal.after(tx, session_id, after)


async def woken(here: AppState, event: asyncio.Event) -> None:
    """Wait until something happened, it is time to look again, or the server stops."""
    stopping = asyncio.ensure_future(here.stopping.wait())
    waking = asyncio.ensure_future(wait(event, LOOK_AGAIN))
    try:
        await asyncio.wait({stopping, waking}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await end(stopping)
        await end(waking)

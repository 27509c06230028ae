"""The list of sessions, and the page of one."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from app.pages import words
from app.pages.entries import blocks
from app.pages.render import page
from app.pages.view import state_html, view
from app.surface import surface
from loops.tables import Event, Repository, Session

LISTED = 100
EVENTS = 400
"""Events on one page; earlier ones are a link away."""


async def visible(tx: AsyncSession, request: Request) -> Session | None:
    """The session of the address, if whoever asks may see it: every page of a session comes through here.

    Whoever reaches the service and knows the address may; the service listens on 127.0.0.1 unless told otherwise.
    """
    found = await tx.execute(select(Session).where(Session.public_id == request.path_params["session"]))
    return found.scalar_one_or_none()


async def index(request: Request) -> Response:
    """GET /: the newest sessions."""
    async with surface(request).database.read() as tx:
        found = (
            await tx.execute(
                select(Session, Repository.full_name)
                .outerjoin(Repository, Repository.id == Session.repository_id)
                .order_by(Session.id.desc())
                .limit(LISTED)
            )
        ).all()
    rows = [(session, name or f"repository {session.repository_id}", *words.state(session)) for session, name in found]
    return page("index.html", rows=rows, most=LISTED)


async def session(request: Request) -> Response:
    """GET /sessions/{session}: what it does and did. `?before=SEQ` shows earlier events."""
    here = surface(request)
    before = _number(request.query_params.get("before"))
    async with here.database.read() as tx:
        found = await visible(tx, request)
        if found is None:
            return missing(request)
        about = await view(tx, found)
        query = select(Event).where(Event.session_id == found.id).order_by(Event.seq.desc()).limit(EVENTS)
        if before is not None:
            query = query.where(Event.seq < before)
        events = list((await tx.execute(query)).scalars())[::-1]
    return page(
        "session.html",
        session=found,
        repository=about.repository,
        state=state_html(about, here.settings.github_web_url),
        blocks=blocks(events),
        first=events[0].seq if events else 1,
        last=events[-1].seq if events else 0,
        live=before is None and not about.over,
        newest=before is None,
    )


def missing(request: Request) -> Response:
    """404 for people."""
    return page("missing.html", 404, path=request.url.path)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and len(text) < 18 else None

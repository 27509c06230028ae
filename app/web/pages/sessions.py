"""The list of sessions, and the page of one."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from app.web.pages import words
from app.web.pages.entries import blocks
from app.web.pages.render import page
from app.web.pages.view import state_html, text_of_diff, view
from app.web.signin.gate import Visitor
from app.web.state import app_state
from loops.store.tables import Event, Repository, Session

LISTED = 100
REPOSITORIES = 30_000
"""As many parameters as a database takes in one query; whoever has a role in more sees the newest repositories'."""
EVENTS = 400
"""Events on one page; earlier ones are a link away."""


async def visible(tx: AsyncSession, request: Request) -> Session | None:
    """The session of the address, if whoever asks may see it: every page of a session comes through here."""
    found = await tx.execute(select(Session).where(Session.public_id == request.path_params["session"]))
    session = found.scalar_one_or_none()
    return session if session is not None and visitor(request).sees(session.repository_id) else None


def visitor(request: Request) -> Visitor:
    """Who asks, as `app.web.signin.routes.people` found it."""
    found: Visitor = request.state.visitor
    return found


async def index(request: Request) -> Response:
    """GET /: the newest sessions that whoever asks may see."""
    who = visitor(request)
    query = (
        select(Session, Repository.full_name)
        .outerjoin(Repository, Repository.id == Session.repository_id)
        .order_by(Session.id.desc())
        .limit(LISTED)
    )
    if who.repositories is not None:
        query = query.where(Session.repository_id.in_(sorted(who.repositories)[-REPOSITORIES:]))
    async with app_state(request).database.read() as tx:
        found = (await tx.execute(query)).all()
    rows = [(session, name or f"repository {session.repository_id}", *words.state(session)) for session, name in found]
    return page("index.html", who=who.login, rows=rows, most=LISTED)


async def session(request: Request) -> Response:
    """GET /sessions/{session}: what it does and did. `?before=SEQ` shows earlier events."""
    here = app_state(request)
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
    diff = await here.diffs.html(here.offload, found.installation_id, text_of_diff(about))
    return page(
        "session.html",
        who=visitor(request).login,
        session=found,
        repository=about.repository,
        state=state_html(
            about,
            diff,
            here.settings.github_web_url,
            here.settings.public_url,
            operator=visitor(request).repositories is None,
        ),
        blocks=blocks(events),
        first=events[0].seq if events else 1,
        removed=found.event_seq > 0 and not events,
        last=events[-1].seq if events else 0,
        live=before is None and not about.over,
        newest=before is None,
    )


def missing(request: Request) -> Response:
    """404 for people."""
    return page("missing.html", 404, who=visitor(request).login, path=request.url.path)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and len(text) < 18 else None

"""What a caller may see of sessions. For a person, GitHub is asked each time whether they may ask for work there: what
is not theirs to ask for does not exist."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from sqlalchemy import select

from app.web.api.answers import EventPage, SessionPage
from app.web.api.callers import Caller
from app.web.api.cursors import cursor, place
from app.web.api.rights import Place, Who
from app.web.pages.view import text_of_diff, view
from app.web.state import AppState
from loops import operations
from loops.comments.public_text import public_text
from loops.operations import Brief, Happened, Listed, Listing, Shown, Unknown
from loops.sessions.explanations import detail_of
from loops.store.states import SessionStatus
from loops.store.tables import Installation, Repository, Session

B = TypeVar("B", bound=Brief)

REPOSITORIES: Final = 30
"""That one page asks GitHub about at most."""


@dataclass(frozen=True)
class Spot:
    """A session that the caller may see, and where it is."""

    key: int
    session: str
    place: Place


async def spot_of(here: AppState, caller: Caller, installation: int | None, session: str) -> Spot:
    """The session that is meant. Raises Unknown, Invalid and Problem."""
    async with here.database.read() as tx:
        tenant = installation if caller.person is not None else await operations.tenant_of(tx, installation)
        query = (
            select(Session.id, Session.installation_id, Session.repository_id, Repository.full_name)
            .outerjoin(Repository, Repository.id == Session.repository_id)
            .join(Installation, Installation.id == Session.installation_id)
            .where(Session.public_id == session, Installation.removed_at.is_(None))
        )
        found = (await tx.execute(query)).one_or_none()
    unknown = Unknown(f"no session {session[:40]!r}")
    if found is None or (tenant is not None and found.installation_id != tenant):
        raise unknown
    spot = Spot(found.id, session, Place(found.installation_id, found.repository_id, found.full_name or ""))
    if caller.person is not None and not await here.rights.may_ask(caller.person, spot.place):
        raise unknown
    return spot


async def repository_of(here: AppState, caller: Caller, installation: int | None, repository: int | str) -> Place:
    """The repository that is meant. Raises Unknown, Invalid and Problem."""
    async with here.database.read() as tx:
        tenant = installation if caller.person is not None else await operations.tenant_of(tx, installation)
        found = await operations.named(tx, repository, tenant)
    if found is not None:
        place = Place(found.installation_id, found.id, found.full_name)
        if caller.person is None or await here.rights.may_ask(caller.person, place):
            return place
    raise Unknown(
        f"no repository {str(repository).strip()[:200]!r} in which you may ask for work: Greenloop knows a repository "
        "from the first event that GitHub sends about it; is the App installed there, and may you write to it?"
    )


async def get(here: AppState, caller: Caller, installation: int | None, session: str, after: int) -> Shown:
    """All of one session, with its events behind `after`."""
    spot = await spot_of(here, caller, installation, session)
    async with here.database.read() as tx:
        found = await operations.get(tx, spot.place.installation_id, session, after=after)
    events = tuple(shown_event(caller, each) for each in found.events)
    return replace(shown(here, caller, found), events=events)


async def events(
    here: AppState, caller: Caller, installation: int | None, session: str, after: int, limit: int
) -> EventPage:
    """What happened behind `after`."""
    spot = await spot_of(here, caller, installation, session)
    async with here.database.read() as tx:
        found = await operations.happened(tx, spot.place.installation_id, session, after=after, limit=limit)
    more = found[-1].seq if len(found) == limit else None
    return EventPage(tuple(shown_event(caller, each) for each in found), more)


async def diff(here: AppState, caller: Caller, installation: int | None, session: str) -> str:
    """What the session changed, as the page shows it."""
    spot = await spot_of(here, caller, installation, session)
    async with here.database.read() as tx:
        return text_of_diff(await view(tx, await tx.get_one(Session, spot.key)))


async def page(here: AppState, caller: Caller, asked: Mapping[str, Any]) -> SessionPage:
    """A page of the list. Without a repository a person's own list is of what they asked for last; with one, of all
    that anybody asked for there."""
    meant = await _meant(here, caller, asked)
    limit: int = asked["limit"]
    question = f"sessions {caller.key} {meant}"
    if (given := asked.get("cursor")) is not None:
        meant = replace(meant, before=place(here.box_key, question, given))
    async with here.database.read() as tx:
        found = await operations.list_sessions(tx, meant, limit=limit + 1)
    more, found = len(found) > limit, found[:limit]
    seen, last = list(found), found[-1].key if found else 0
    if caller.person is not None and meant.repository_id is None:
        seen, last, cut = await _theirs(here, caller.person, seen, last)
        more = more or cut
    listed = tuple(shown(here, caller, each.brief) for each in seen)
    return SessionPage(listed, cursor(here.box_key, question, last) if more else None)


async def _meant(here: AppState, caller: Caller, asked: Mapping[str, Any]) -> Listing:
    status, person, text = asked.get("status"), asked.get("person"), asked.get("text")
    meant = Listing(status=SessionStatus(status) if status else None, person=person, text=text)
    if (repository := asked.get("repository")) is not None:
        at = await repository_of(here, caller, asked.get("installation"), repository)
        return replace(meant, tenant=at.installation_id, repository_id=at.repository_id)
    if caller.person is not None:
        return replace(meant, tenant=asked.get("installation"), owner_id=caller.person.id)
    async with here.database.read() as tx:
        return replace(meant, tenant=await operations.tenant_of(tx, asked.get("installation")))


async def _theirs(here: AppState, person: Who, found: list[Listed], last: int) -> tuple[list[Listed], int, bool]:
    """Those of them in repositories where the person still may ask; the key of the last that was looked at, and whether
    some were not."""
    may: dict[tuple[int, int], bool] = {}
    seen: list[Listed] = []
    reached = 0
    for each in found:
        at = (each.installation_id, each.brief.repository_id)
        if at not in may:
            if len(may) == REPOSITORIES:
                return seen, reached, True
            may[at] = await here.rights.may_ask(person, Place(*at, each.brief.repository))
        reached = each.key
        if may[at]:
            seen.append(each)
    return seen, last, False


def shown(here: AppState, caller: Caller, found: B) -> B:
    """The session as the caller reads it: what only whoever runs the service is told is left out for people."""
    if caller.person is None:
        return found
    why = replace(found.explanation, operator="") if found.explanation else None
    told = replace(found, explanation=why, reason=_code(found.reason))
    if isinstance(told, Shown):
        urls = (here.settings.github_web_url, here.settings.public_url)
        told = replace(told, notes=tuple(public_text(str(note), urls) for note in told.notes))
    return told


def shown_event(caller: Caller, event: Happened) -> Happened:
    """The event as the caller reads it."""
    reason = event.payload.get("reason")
    if caller.person is None or event.kind != "session_ended" or not isinstance(reason, str):
        return event
    return replace(event, payload={**event.payload, "reason": _code(reason)})


def _code(reason: str | None) -> str | None:
    """A reason with what everybody may read behind its colon; the rest is for whoever runs the service."""
    if not reason:
        return reason
    code, detail = reason.partition(":")[0], detail_of(reason)
    return f"{code}: {detail}" if detail else code

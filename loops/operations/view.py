"""Sessions as every surface shows them: one with its events, and all of a tenant's. Times are UNIX seconds."""

import functools
import operator
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import Text, cast, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from loops.operations.finding import Unknown, find_session
from loops.sessions.explanations import explain, in_a_line
from loops.store import journal
from loops.store.states import SessionStatus
from loops.store.tables import Event, Person, Repository, Session, Turn

PAGE = 500


@dataclass(frozen=True)
class Happened:
    """One event of a session; `seq` counts from 1."""

    seq: int
    kind: str
    payload: dict[str, Any]
    at: float


@dataclass(frozen=True)
class SessionUsage:
    """What the turns took: tokens (cached ones are of the input, those of reasoning of the output), model calls, US
    dollars, seconds of agents at work."""

    turns: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    steps: int = 0
    cost: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True)
class Told:
    """Why a session failed, as people read it: what happened, what to do, what whoever runs the service can do."""

    title: str
    what: str
    next: str
    operator: str


@dataclass(frozen=True)
class Brief:
    """A session in a list. `reason` is a code for programs; `explanation` says the same to people."""

    session: str
    repository: str
    repository_id: int
    title: str
    status: str
    outcome: str | None
    reason: str | None
    explanation: Told | None
    surface: str
    person: str | None
    branch: str | None
    pull_request: int | None
    created_at: float
    started_at: float | None
    completed_at: float | None


@dataclass(frozen=True)
class Shown(Brief):
    """All of one session. `events` are those behind the `after` that was asked for, `PAGE` at most; `stored_bytes` is
    what its events, diff and turns take in the database."""

    instruction: str = ""
    base_branch: str | None = None
    trigger: str = ""
    cap: int = 0
    summary: str | None = None
    notes: tuple[str, ...] = ()
    diff: str | None = None
    changed_files: tuple[Any, ...] = ()
    usage: SessionUsage = SessionUsage()
    stored_bytes: int = 0
    events: tuple[Happened, ...] = ()

    def brief(self) -> Brief:
        """The session as a list has it."""
        return Brief(**{field.name: getattr(self, field.name) for field in fields(Brief)})


async def get(tx: AsyncSession, tenant: int, session: str, *, after: int = 0, events: bool = True) -> Shown:
    """Everything about a session. Raises Unknown."""
    row, repository, person = await find_session(tx, tenant, session)
    happened = await journal.after(tx, row.id, after, PAGE) if events else []
    return Shown(
        **_brief(row, repository, person),
        instruction=row.instruction,
        base_branch=row.base_branch,
        trigger=row.trigger,
        cap=row.cap,
        summary=row.summary,
        notes=tuple(row.notes),
        diff=row.diff,
        changed_files=tuple(row.changed_files),
        usage=await _usage(tx, row.id),
        stored_bytes=len(row.diff or "") + await stored_bytes(tx, row.id),
        events=tuple(map(_happened, happened)),
    )


async def brief_of(tx: AsyncSession, session: str) -> Brief:
    """A session of whatever installation, for the service itself. Raises Unknown."""
    found = (await tx.execute(_SHOWN.where(Session.public_id == session))).one_or_none()
    if found is None:
        raise Unknown(f"no session {session!r}")
    row, name, login = found
    return Brief(**_brief(row, name, login))


async def happened(tx: AsyncSession, tenant: int, session: str, *, after: int, limit: int) -> tuple[Happened, ...]:
    """The session's events behind `after`, oldest first. Raises Unknown."""
    row, _, _ = await find_session(tx, tenant, session)
    return tuple(map(_happened, await journal.after(tx, row.id, after, limit)))


_SHOWN = (
    select(Session, Repository.full_name, Person.login)
    .outerjoin(Repository, Repository.id == Session.repository_id)
    .outerjoin(Person, Person.id == Session.owner_id)
)
"""Sessions with what `_brief` needs."""


@dataclass(frozen=True)
class Listing:
    """Which sessions are meant. `tenant` None: of every installation; `before` is the key behind which they stand;
    `text` stands in the title."""

    tenant: int | None = None
    status: str | None = None
    repository_id: int | None = None
    owner_id: int | None = None
    person: str | None = None
    text: str | None = None
    before: int | None = None


@dataclass(frozen=True)
class Listed:
    """A session of a list, with its key and its installation, which nobody outside is shown."""

    key: int
    installation_id: int
    brief: Brief


async def list_sessions(tx: AsyncSession, meant: Listing, *, limit: int = 50) -> tuple[Listed, ...]:
    """The sessions that are meant, newest first."""
    query = _SHOWN.order_by(Session.id.desc()).limit(max(1, min(limit, PAGE)))
    exact = {
        Session.installation_id: meant.tenant,
        Session.status: meant.status,
        Session.repository_id: meant.repository_id,
        Session.owner_id: meant.owner_id,
    }
    query = query.where(*(column == value for column, value in exact.items() if value is not None))
    if meant.person is not None:
        query = query.where(func.lower(Person.login) == meant.person.removeprefix("@").lower())
    if meant.text is not None:
        query = query.where(func.lower(Session.title).contains(meant.text.lower(), autoescape=True))
    if meant.before is not None:
        query = query.where(Session.id < meant.before)
    found = (await tx.execute(query)).all()
    return tuple(Listed(row.id, row.installation_id, Brief(**_brief(row, name, login))) for row, name, login in found)


def _brief(row: Session, repository: str | None, person: str | None) -> dict[str, Any]:
    return {
        "session": row.public_id,
        "repository": repository or "",
        "repository_id": row.repository_id,
        "title": row.title,
        "status": row.status,
        "outcome": row.outcome,
        "reason": row.reason,
        "explanation": _told(row),
        "surface": row.surface,
        "person": person,
        "branch": row.branch,
        "pull_request": row.pull_number,
        "created_at": row.created_at,
        "started_at": row.started_at,
        "completed_at": row.completed_at,
    }


def _told(row: Session) -> Told | None:
    if row.status is not SessionStatus.FAILED or not row.reason:
        return None
    why = explain(row.reason)
    return Told(why.title, in_a_line(row.reason), why.next, why.operator)


async def _usage(tx: AsyncSession, session: int) -> SessionUsage:
    found = await tx.execute(
        select(
            func.count(),
            func.sum(Turn.input_tokens),
            func.sum(Turn.cached_tokens),
            func.sum(Turn.output_tokens),
            func.sum(Turn.reasoning_tokens),
            func.sum(Turn.steps),
            func.sum(Turn.cost),
            func.sum(Turn.finished_at - Turn.started_at),
        ).where(Turn.session_id == session)
    )
    turns, given, cached, output, thought, steps, cost, seconds = found.one()
    return SessionUsage(
        turns=turns,
        input_tokens=int(given or 0),
        cached_tokens=int(cached or 0),
        output_tokens=int(output or 0),
        reasoning_tokens=int(thought or 0),
        steps=int(steps or 0),
        cost=float(cost or 0),
        seconds=round(float(seconds or 0), 3),
    )


async def stored_bytes(tx: AsyncSession, session: int) -> int:
    """What a session's events take, and what its turns were told and reported: JSON, of which a character is a byte."""
    events = select(func.sum(func.length(cast(Event.payload, Text)))).where(Event.session_id == session)
    columns = (Turn.source, Turn.context, Turn.spec, Turn.parser_state, Turn.result)
    each = functools.reduce(operator.add, (func.coalesce(func.length(cast(one, Text)), 0) for one in columns))
    turns = select(func.sum(each)).where(Turn.session_id == session)
    return int((await tx.execute(events)).scalar() or 0) + int((await tx.execute(turns)).scalar() or 0)


def _happened(event: Event) -> Happened:
    return Happened(event.seq, event.kind, event.payload, event.at)

"""What every surface can do with sessions: start one, look at it, cancel it. The same for HTTP, command line and MCP.

Every function works in the caller's transaction and within one tenant, the id of an installation: what belongs to
another does not exist. Times are UNIX seconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from github.repositories.refs import branch_problem
from loops.accounts.choice import CannotRun, choose
from loops.conversations.asking import begin
from loops.conversations.cancelling import cancel as cancel_session
from loops.conversations.finding import Topic, lock
from loops.sessions.ask import Ask, Asker, ThreadText, TurnOptions
from loops.sessions.ask_columns import options_json
from loops.sessions.explanations import explain, in_a_line
from loops.store import journal
from loops.store.states import Origin, SessionStatus, SubjectKind, Trigger
from loops.store.tables import Audit, Event, Installation, Person, Repository, Session, Turn

STEPS = (1, 200)
INSTRUCTION = 20_000
PAGE = 500


class Invalid(ValueError):
    """An input that cannot be used; `field` names it, the text says what would do."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.field = name


class Unknown(LookupError):
    """There is no such repository, person or session in this tenant."""


@dataclass(frozen=True)
class Start:
    """`repository` is GitHub's numeric id or `owner/name`; `person` the login whose box and account are used.

    `runtime` and `model` are as after a mention: without them the repository's and the account's hold.
    """

    repository: int | str
    instruction: str
    base: str | None = None
    max_steps: int | None = None
    person: str | None = None
    runtime: str | None = None
    model: str | None = None


@dataclass(frozen=True)
class Started:
    """A session that was begun. `row` and `wake` are for waking a worker; nobody outside is shown them."""

    session: str
    status: str
    row: int = field(repr=False, default=0)
    wake: int = field(repr=False, default=0)


@dataclass(frozen=True)
class Happened:
    """One event of a session; `seq` counts from 1."""

    seq: int
    kind: str
    payload: dict[str, Any]
    at: float


@dataclass(frozen=True)
class Usage:
    """What the turns took: tokens, model calls, US dollars, seconds of agents at work."""

    turns: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
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
    """All of one session. `events` are those behind the `after` that was asked for, `PAGE` at most."""

    instruction: str = ""
    base_branch: str | None = None
    trigger: str = ""
    cap: int = 0
    summary: str | None = None
    notes: tuple[str, ...] = ()
    diff: str | None = None
    changed_files: tuple[Any, ...] = ()
    usage: Usage = Usage()
    events: tuple[Happened, ...] = ()


@dataclass(frozen=True)
class Cancelled:
    """`was_open` is False for a session that had ended before: nothing changed."""

    session: str
    status: str
    was_open: bool
    row: int = field(repr=False, default=0)
    wake: int = field(repr=False, default=0)


async def start(tx: AsyncSession, tenant: int, wish: Start, *, surface: str, cap: int, now: float) -> Started:
    """Begin a session. Raises Invalid or Unknown."""
    instruction = wish.instruction.strip()
    if not instruction:
        raise Invalid("instruction", "the instruction is empty: say what is to be done")
    if len(instruction) > INSTRUCTION:
        raise Invalid("instruction", f"the instruction has {len(instruction)} characters; {INSTRUCTION} are the most")
    low, high = STEPS
    if wish.max_steps is not None and not low <= wish.max_steps <= high:
        raise Invalid("max_steps", f"max_steps is {wish.max_steps}; it has to be from {low} to {high}")
    if wish.base is not None and (problem := branch_problem(wish.base)):
        raise Invalid("base", f"{wish.base!r} is no branch: {problem}")
    repository = await find_repository(tx, tenant, wish.repository)
    person = await _person(tx, wish.person) if wish.person else None
    owner = person.id if person else None
    options = TurnOptions(runtime=wish.runtime, model=wish.model, base=wish.base, steps=wish.max_steps)
    if wish.runtime:
        try:
            await choose(tx, tenant, owner, options=options_json(options), config={}, default=wish.runtime)
        except CannotRun as error:
            raise Invalid("runtime", str(error)) from None
    title = instruction.splitlines()[0]
    ask = Ask(
        trigger=Trigger.STARTED,
        asker=Asker(owner, person.login if person else surface),
        about=ThreadText(title=title),
        instruction=instruction,
        options=options,
        origin=Origin(surface),
    )
    topic = Topic(tenant, repository.id, SubjectKind.ISSUE, None, title, base_branch=wish.base)
    session = await begin(tx, topic, ask, owner=owner, cap=cap, now=now)
    _audit(tx, session, person.login if person else surface, surface, "started", now)
    return Started(session.public_id, session.status, session.id, session.wake)


async def get(tx: AsyncSession, tenant: int, session: str, *, after: int = 0, events: bool = True) -> Shown:
    """Everything about a session. Raises Unknown."""
    row, repository, person = await _one(tx, tenant, session)
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
        events=tuple(map(_happened, happened)),
    )


async def cancel(tx: AsyncSession, tenant: int, session: str, *, by: str, surface: str, now: float) -> Cancelled:
    """Ask for a session's end. Twice is once; a session that ended stays as it is. Raises Unknown."""
    row, _, _ = await _one(tx, tenant, session)
    await lock(tx, row.repository_id)
    await tx.refresh(row)
    was_open = await cancel_session(tx, row, by, now)
    if was_open:
        _audit(tx, row, by, surface, "cancelled", now)
    await tx.refresh(row)
    return Cancelled(row.public_id, row.status, was_open, row.id, row.wake)


async def list_sessions(
    tx: AsyncSession, tenant: int, *, status: str | None = None, limit: int = 50
) -> tuple[Brief, ...]:
    """The tenant's sessions, newest first."""
    query = (
        select(Session, Repository.full_name, Person.login)
        .outerjoin(Repository, Repository.id == Session.repository_id)
        .outerjoin(Person, Person.id == Session.owner_id)
        .where(Session.installation_id == tenant)
        .order_by(Session.id.desc())
        .limit(max(1, min(limit, PAGE)))
    )
    if status:
        query = query.where(Session.status == status)
    return tuple(Brief(**_brief(row, name, login)) for row, name, login in (await tx.execute(query)).all())


async def find_repository(tx: AsyncSession, tenant: int, repository: int | str) -> Repository:
    """The tenant's repository by its numeric id or `owner/name`. Raises Unknown, and Invalid for an archived one."""
    query = select(Repository).where(Repository.installation_id == tenant, Repository.removed_at.is_(None))
    text = str(repository).strip()
    if isinstance(repository, int) or text.isdigit():
        query = query.where(Repository.id == int(text))
    else:
        query = query.where(func.lower(Repository.full_name) == text.lower())
    found = (await tx.execute(query.order_by(Repository.updated_at.desc()).limit(1))).scalar_one_or_none()
    if found is None:
        raise Unknown(
            f"no repository {text!r} in installation {tenant}: Greenloop knows a repository from the first event that "
            "GitHub sends about it; is the App installed there?"
        )
    if found.archived:
        raise Invalid("repository", f"{found.full_name} is archived, so nothing can be pushed to it")
    return found


async def tenant_of(tx: AsyncSession, installation: int | None) -> int:
    """The tenant meant: `installation`, or the only one there is. Raises Unknown, or Invalid when several would do."""
    query = select(Installation.id).where(Installation.removed_at.is_(None)).order_by(Installation.id)
    known: Sequence[int] = (await tx.execute(query)).scalars().all()
    if installation is not None:
        if installation not in known:
            raise Unknown(f"no installation {installation}: the App is not installed there")
        return installation
    if not known:
        raise Unknown("the App is installed nowhere yet, as far as GitHub has told")
    if len(known) > 1:
        raise Invalid("installation", f"several installations are known ({', '.join(map(str, known[:20]))}): name one")
    return known[0]


async def _person(tx: AsyncSession, login: str) -> Person:
    bare = login.strip().removeprefix("@")
    found = await tx.execute(
        select(Person).where(func.lower(Person.login) == bare.lower()).order_by(Person.updated_at.desc()).limit(1)
    )
    person = found.scalar_one_or_none()
    if person is None:
        raise Unknown(f"nobody called {bare!r} is known: people are, once they have asked for something on GitHub")
    return person


async def _one(tx: AsyncSession, tenant: int, session: str) -> tuple[Session, str | None, str | None]:
    found = await tx.execute(
        select(Session, Repository.full_name, Person.login)
        .outerjoin(Repository, Repository.id == Session.repository_id)
        .outerjoin(Person, Person.id == Session.owner_id)
        .where(Session.public_id == session, Session.installation_id == tenant)
    )
    row = found.one_or_none()
    if row is None:
        raise Unknown(f"no session {session[:40]!r} in installation {tenant}")
    return row[0], row[1], row[2]


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


async def _usage(tx: AsyncSession, session: int) -> Usage:
    found = await tx.execute(
        select(
            func.count(),
            func.sum(Turn.input_tokens),
            func.sum(Turn.cached_tokens),
            func.sum(Turn.output_tokens),
            func.sum(Turn.steps),
            func.sum(Turn.cost),
            func.sum(Turn.finished_at - Turn.started_at),
        ).where(Turn.session_id == session)
    )
    turns, given, cached, output, steps, cost, seconds = found.one()
    return Usage(
        turns=turns,
        input_tokens=int(given or 0),
        cached_tokens=int(cached or 0),
        output_tokens=int(output or 0),
        steps=int(steps or 0),
        cost=float(cost or 0),
        seconds=round(float(seconds or 0), 3),
    )


def _happened(event: Event) -> Happened:
    return Happened(event.seq, event.kind, event.payload, event.at)


def _audit(tx: AsyncSession, session: Session, actor: str, surface: str, action: str, now: float) -> None:
    tx.add(
        Audit(
            at=now,
            installation_id=session.installation_id,
            session_id=session.id,
            actor=actor,
            surface=surface,
            action=action,
            details={"session": session.public_id},
        )
    )

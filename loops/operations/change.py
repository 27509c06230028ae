"""Starting a session and asking for its end. All in the caller's transaction; times are UNIX seconds."""

from dataclasses import dataclass, field

from sqlalchemy.ext.asyncio import AsyncSession

from github.repositories.refs import branch_problem
from loops.accounts.choice import CannotRun, choose
from loops.conversations.asking import begin
from loops.conversations.cancelling import cancel as cancel_session
from loops.conversations.finding import Topic
from loops.operations.finding import Invalid, find_person, find_repository, find_session
from loops.sessions.ask import Ask, Asker, ThreadText, TurnOptions
from loops.sessions.ask_columns import options_json
from loops.store.locking import locked
from loops.store.states import Origin, SubjectKind, Trigger
from loops.store.tables import Audit, Session

STEPS = (1, 200)
INSTRUCTION = 20_000


@dataclass(frozen=True)
class StartRequest:
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
    """A session that was begun. `row` is its key; nobody outside is shown it."""

    session: str
    status: str
    row: int = field(repr=False, default=0)


@dataclass(frozen=True)
class Cancelled:
    """`was_open` is False for a session that had ended before: nothing changed."""

    session: str
    status: str
    was_open: bool
    row: int = field(repr=False, default=0)


async def start(
    tx: AsyncSession,
    tenant: int,
    wish: StartRequest,
    *,
    surface: str,
    cap: int,
    now: float,
    asker: Asker | None = None,
) -> Started:
    """Begin a session, for `asker` where the caller knows who asks. Raises Invalid or Unknown."""
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
    if asker is None:
        asker = await _named_asker(tx, wish.person, surface)
    owner = asker.id
    options = TurnOptions(runtime=wish.runtime, model=wish.model, base=wish.base, steps=wish.max_steps)
    if wish.runtime:
        try:
            await choose(tx, tenant, owner, options=options_json(options), config={}, default="")
        except CannotRun as error:
            raise Invalid("runtime", str(error)) from None
    title = instruction.splitlines()[0]
    ask = Ask(
        trigger=Trigger.STARTED,
        asker=asker,
        about=ThreadText(title=title),
        instruction=instruction,
        options=options,
        origin=Origin(surface),
    )
    topic = Topic(tenant, repository.id, SubjectKind.ISSUE, None, title, base_branch=wish.base)
    session = await begin(tx, topic, ask, owner=owner, cap=cap, now=now)
    audit(tx, session, asker.login, surface, "started", now)
    return Started(session.public_id, session.status, session.id)


async def _named_asker(tx: AsyncSession, login: str | None, surface: str) -> Asker:
    """Who asks: the person of that login; without one, nobody, by way of that surface. Raises Unknown."""
    if not login:
        return Asker(None, surface)
    person = await find_person(tx, login)
    return Asker(person.id, person.login)


async def cancel(tx: AsyncSession, tenant: int, session: str, *, by: str, surface: str, now: float) -> Cancelled:
    """Ask for a session's end. Twice is once; a session that ended stays as it is. Raises Unknown."""
    row, _, _ = await find_session(tx, tenant, session)
    row = await locked(tx, Session, row.id)
    was_open = await cancel_session(tx, row, by, now)
    if was_open:
        audit(tx, row, by, surface, "cancelled", now)
    await tx.refresh(row)
    return Cancelled(row.public_id, row.status, was_open, row.id)


def audit(tx: AsyncSession, session: Session, actor: str, surface: str, action: str, now: float) -> None:
    """Keep who did what to a session."""
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

"""Trying a session again, as `retry` in a thread does it. All in the caller's transaction; times are UNIX seconds."""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from loops.accounts.choice import CannotRun, choose
from loops.conversations.asking import go_on
from loops.conversations.finding import Topic, latest, lock
from loops.conversations.retrying import repeated
from loops.operations.change import INSTRUCTION, audit
from loops.operations.finding import Invalid, find_session
from loops.options import LoopOptions
from loops.sessions.ask import Ask, Asker, ThreadText
from loops.sessions.ask_columns import options_json
from loops.store.locking import locked
from loops.store.states import Origin, PullState, SubjectKind, Trigger
from loops.store.tables import Session


class NotAgain(Exception):
    """This session cannot be tried again as it stands; the text says why, and what would do."""


@dataclass(frozen=True)
class Retried:
    """A session that got one more turn."""

    session: str
    status: str


@dataclass(frozen=True)
class RetryRequest:
    """`instruction` is added to the task; `topic` is what the session is about as GitHub has it now, None where it has
    neither issue nor pull request."""

    session: str
    instruction: str = ""
    topic: Topic | None = None


async def retry(
    tx: AsyncSession, tenant: int, wish: RetryRequest, *, asker: Asker, surface: str, options: LoopOptions, now: float
) -> Retried:
    """One more turn with the same task. Raises Invalid, Unknown or NotAgain."""
    if len(wish.instruction) > INSTRUCTION:
        raise Invalid("instruction", f"the instruction has {len(wish.instruction)} characters; {INSTRUCTION} at most")
    session, _, _ = await find_session(tx, tenant, wish.session)
    await lock(tx, session.repository_id)
    session = await locked(tx, Session, session.id)
    topic = wish.topic or _own_topic(session)
    await _is_the_one(tx, session, wish.topic)
    ask = Ask(Trigger.STARTED, asker, ThreadText(title=session.title), wish.instruction.strip(), origin=Origin(surface))
    again = await repeated(tx, session, ask)
    if again is None:
        raise NotAgain("nobody asked for anything in this session, so there is nothing to repeat")
    config = session.config or {}
    try:
        chosen, default = options_json(again.options), options.runtime
        await choose(tx, session.installation_id, asker.id, options=chosen, config=config, default=default)
    except CannotRun as error:
        raise NotAgain(str(error)) from None
    attempts = (config.get("limits") or {}).get("attempts") or options.cap
    await go_on(tx, session, topic, again, owner=asker.id, cap=attempts, now=now)
    audit(tx, session, asker.login, surface, "retried", now)
    return Retried(session.public_id, session.status)


def _own_topic(session: Session) -> Topic:
    """What a session is about that has neither issue nor pull request: what it was begun with."""
    return Topic(
        session.installation_id,
        session.repository_id,
        session.subject_kind,
        None,
        session.title,
        base_branch=session.base_branch,
    )


async def _is_the_one(tx: AsyncSession, session: Session, topic: Topic | None) -> None:
    """Raises NotAgain where a request in the thread would not go on with this session."""
    if session.subject_kind is SubjectKind.BRANCH and session.pull_number is None:
        raise NotAgain("it is about a red branch and opened no pull request: the next red check begins it anew")
    if session.pull_state not in (None, PullState.OPEN):
        raise NotAgain(f"its pull request is {session.pull_state}: start a new session")
    if topic is None:
        return
    other = await latest(tx, topic)
    if other is not None and other.id != session.id:
        raise NotAgain(f"session {other.public_id} has followed it: try that one again")

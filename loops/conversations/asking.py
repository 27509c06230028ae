"""Beginning a conversation, and going on with it: each request is one more turn."""

import secrets
from enum import StrEnum

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from github.webhooks.sources import OwnText
from loops.conversations.finding import Topic, latest_to_change, lock
from loops.sessions.ask import Ask, ReviewText
from loops.sessions.ask_columns import ask_of, columns
from loops.sessions.transitions import move_session
from loops.store import journal
from loops.store.leases import make_due
from loops.store.outbox import note_state
from loops.store.states import OPEN_SESSION, OPEN_TURN, SessionStatus, Trigger, TurnStatus
from loops.store.tables import Session, Turn

SUMMARY_TITLE = 200


class AskOutcome(StrEnum):
    """What a request has come to; JOINED: nothing new, somebody asked for just that before."""

    STARTED = "started"
    CONTINUED = "continued"
    JOINED = "joined"


async def take(
    tx: AsyncSession, topic: Topic, ask: Ask, *, owner: int | None, cap: int, now: float
) -> tuple[Session, AskOutcome]:
    """Begin a conversation or go on with it; `cap` holds where `ask` names none."""
    await lock(tx, topic.repository_id)
    session = await latest_to_change(tx, topic)
    if session is None:
        session = await begin(tx, topic, ask, owner=owner, cap=cap, now=now)
        return session, AskOutcome.STARTED
    known = session.approved_sha == topic.approved_sha and not session.needs_approval
    if await _asked_already(tx, session, ask) or (topic.approves and known):
        return session, AskOutcome.JOINED
    await go_on(tx, session, topic, ask, owner=owner, cap=cap, now=now)
    return session, AskOutcome.CONTINUED


async def go_on(
    tx: AsyncSession, session: Session, topic: Topic, ask: Ask, *, owner: int | None, cap: int, now: float
) -> None:
    """One more turn in this conversation, whose row and repository are locked; one that ended is opened again."""
    known = session.approved_sha == topic.approved_sha and not session.needs_approval
    if session.status not in OPEN_SESSION:
        move_session(session, SessionStatus.PENDING, now)
        session.outcome, session.reason, session.completed_at = None, None, None
        session.cancel_requested_at, session.cancel_by, session.notes = None, None, []
    if session.trigger is Trigger.AUTOFIX:
        session.trigger, session.instruction = ask.trigger, ask.instruction
        session.branch, session.own_branch, session.base_branch = topic.branch, topic.own_branch, topic.base_branch
        session.head_sha, session.pull_number, session.pull_state = topic.head_sha, topic.pull_number, topic.pull_state
    if topic.approved_sha is not None:
        session.approved_sha, session.needs_approval = topic.approved_sha, not (topic.approves or known)
    session.cap, session.owner_id = ask.options.cap or cap, owner
    await add_turn(tx, session, ask, owner=owner, now=now)


async def begin(tx: AsyncSession, topic: Topic, ask: Ask, *, owner: int | None, cap: int, now: float) -> Session:
    """A new conversation with its first turn, whatever others there are."""
    session = new_session(topic, ask, owner=owner, cap=cap, now=now)
    tx.add(session)
    note_state(session, now)
    await tx.flush()
    await add_turn(tx, session, ask, owner=owner, now=now)
    return session


async def add_turn(tx: AsyncSession, session: Session, ask: Ask, *, owner: int | None, now: float) -> Turn:
    """One more turn in a conversation, in the box and on the account of `owner` (None: the installation)."""
    last = (await tx.execute(select(func.max(Turn.number)).where(Turn.session_id == session.id))).scalar_one()
    turn = Turn(
        public_id=f"t_{secrets.token_hex(8)}",
        session_id=session.id,
        number=(last or 0) + 1,
        status=TurnStatus.QUEUED,
        marker=f"gl-{secrets.token_hex(12)}",
        created_at=now,
        owner_id=owner,
        **columns(ask),
    )
    tx.add(turn)
    await tx.flush()
    text = f"turn {turn.number} asked for by {ask.shown_asker}"
    await journal.append(tx, session.id, [("status", {"text": text})], at=now, turn_id=turn.id)
    await make_due(tx, session.id, now)
    return turn


def new_session(topic: Topic, ask: Ask, *, owner: int | None, cap: int, now: float) -> Session:
    """The row of a conversation that begins."""
    return Session(
        public_id=f"s_{secrets.token_hex(8)}",
        installation_id=topic.installation_id,
        repository_id=topic.repository_id,
        subject_kind=topic.kind,
        subject_number=topic.number,
        owner_id=owner,
        surface=ask.origin,
        trigger=ask.trigger,
        title=topic.title[:SUMMARY_TITLE],
        instruction=ask.instruction,
        options={},
        base_branch=topic.base_branch,
        branch=topic.branch,
        own_branch=topic.own_branch,
        head_sha=topic.head_sha,
        approved_sha=topic.approved_sha,
        needs_approval=topic.approved_sha is not None and not topic.approves,
        pull_number=topic.pull_number,
        pull_state=topic.pull_state,
        status=SessionStatus.PENDING,
        cap=ask.options.cap or cap,
        created_at=now,
        notes=[],
        event_seq=0,
        wake=0,
    )


async def _asked_already(tx: AsyncSession, session: Session, ask: Ask) -> bool:
    """Whether a turn asks for the same: the same delivery, the same review, or the issue itself while the session is
    open."""
    turns = (await tx.execute(select(Turn).where(Turn.session_id == session.id))).scalars().all()
    if any(turn.delivery is not None and turn.delivery == ask.delivery for turn in turns):
        return True
    before = [ask_of(turn) for turn in turns]
    if isinstance(ask.about, ReviewText) and ask.about.review_id and ask.trigger in REVIEW_ACTS:
        return any(
            isinstance(other.about, ReviewText)
            and other.about.review_id == ask.about.review_id
            and other.trigger in REVIEW_ACTS
            for other in before
        )
    if isinstance(ask.source, OwnText) and session.status in OPEN_SESSION:
        return any(
            turn.status in OPEN_TURN or isinstance(other.source, OwnText)
            for turn, other in zip(turns, before, strict=True)
        )
    return False


REVIEW_ACTS = (Trigger.MENTION, Trigger.CHANGES_REQUESTED)
"""By what a review asks; a retry of one asks again."""

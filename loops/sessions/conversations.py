"""Sessions as conversations: found, begun, gone on with and cancelled. All in the caller's transaction."""

import secrets
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import ColumnElement, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from loops.sessions.decide import OPEN_SESSION, OPEN_TURN
from loops.sessions.people import asked_by
from loops.store import journal
from loops.store.leases import make_due
from loops.store.tables import Attempt, Repository, Session, Turn

SUMMARY_TITLE = 200
NEVER_BEGUN = "autofix"  # the trigger of a conversation in which nothing was said yet but to leave checks alone


@dataclass(frozen=True)
class Ask:
    """What somebody, or a red check, wants done in a conversation.

    `by` is the numeric id of the person (None: Greenloop itself). `own_text`: the request stands in the issue or pull
    request itself, so that several events about it ask for one and the same thing.
    """

    trigger: str
    instruction: str
    kind: str
    by: int | None
    by_login: str
    surface: str = "github"
    own_text: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    source: dict[str, Any] = field(default_factory=dict)
    context: dict[str, Any] = field(default_factory=dict)
    delivery: str | None = None


@dataclass(frozen=True)
class Topic:
    """What a conversation is about: an issue, a pull request or a red branch of one repository.

    `approved_sha` is set for a fork's pull request only: its head at the time of the command, which is all that was
    allowed.
    """

    installation_id: int
    repository_id: int
    kind: str  # issue, pull, branch
    number: int | None
    title: str
    base_branch: str | None = None
    branch: str | None = None
    head_sha: str | None = None
    pull_number: int | None = None
    own_branch: bool = True
    approved_sha: str | None = None


async def lock(tx: AsyncSession, repository_id: int) -> None:
    """Let nobody else begin or change a conversation in this repository until the transaction ends."""
    await tx.execute(select(Repository.id).where(Repository.id == repository_id).with_for_update())


async def latest(tx: AsyncSession, topic: Topic) -> Session | None:
    """The conversation about this topic that can still go on: not one whose pull request is closed or merged, nor one
    of the account that the repository belonged to before it was transferred."""
    same: list[ColumnElement[bool]] = []
    if topic.number is not None:
        same.append((Session.subject_number == topic.number) & (Session.subject_kind != "branch"))
        same.append(Session.pull_number == topic.number)
        if topic.kind == "pull" and topic.branch is not None:
            # GitHub has the pull request, and the session that opens it has not yet heard which it is
            opening = Session.pull_number.is_(None) & Session.status.in_(OPEN_SESSION)
            same.append((Session.branch == topic.branch) & opening)
    else:
        same.append((Session.subject_kind == "branch") & (Session.base_branch == topic.base_branch))
    found = await tx.execute(
        select(Session)
        .where(Session.repository_id == topic.repository_id, or_(*same))
        .where(Session.installation_id == topic.installation_id)
        .where(or_(Session.pull_state.is_(None), Session.pull_state == "open"))
        .order_by(Session.id.desc())
        .limit(1)
    )
    return found.scalar_one_or_none()


async def ask(
    tx: AsyncSession, topic: Topic, wish: Ask, *, owner: int | None, cap: int, now: float
) -> tuple[Session, str]:
    """Begin a conversation or go on with it. The session, and "started", "continued" or "joined" (nothing new)."""
    await lock(tx, topic.repository_id)
    session = await latest(tx, topic)
    if session is None:
        session = await begin(tx, topic, wish, owner=owner, cap=cap, now=now)
        return session, "started"
    if await _asked_already(tx, session, wish):
        return session, "joined"
    if session.status not in OPEN_SESSION:
        session.status, session.outcome, session.reason, session.completed_at = "pending", None, None, None
        session.cancel_requested_at, session.cancel_by, session.notes = None, None, []
    if session.trigger == NEVER_BEGUN:
        session.trigger, session.instruction, session.owner_id, session.cap = wish.trigger, wish.instruction, owner, cap
        session.branch, session.own_branch, session.base_branch = topic.branch, topic.own_branch, topic.base_branch
        session.head_sha, session.pull_number, session.pull_state = (
            topic.head_sha,
            topic.pull_number,
            "open" if topic.pull_number else None,
        )
    session.options = {**session.options, **wish.options}
    session.approved_sha = topic.approved_sha or session.approved_sha
    if "cap" in wish.options:
        session.cap = int(wish.options["cap"])
    await add_turn(tx, session, wish, now)
    return session, "continued"


async def watch(
    tx: AsyncSession, topic: Topic, *, owner: int | None, cap: int, config: dict[str, Any], now: float
) -> Session | str:
    """A conversation that red checks began: nobody asked, so its first turn will be an attempt.

    One that ended well goes on. A sentence when there is nothing to begin: each commit gets one attempt, and where
    repairs are switched off or ended without success a person has to say that they want more. The next commit of a red
    branch is another matter.
    """
    await lock(tx, topic.repository_id)
    session = await latest(tx, topic)
    tried = select(Attempt.id).join(Session, Session.id == Attempt.session_id)
    here = tried.where(Session.repository_id == topic.repository_id, Attempt.head_sha == topic.head_sha)
    if (await tx.execute(here.limit(1))).first() is not None:
        return "this commit had its attempt"
    if session is not None and session.status in OPEN_SESSION:
        return "a session is at work on it"
    if session is not None and session.options.get("autofix") is False:
        return "repairs are switched off here"
    if session is not None and session.status != "completed":
        if topic.kind != "branch" or session.pull_number is not None:
            return "the last session here ended without success: a person has to ask for more"
        session = None
    if session is None:
        wish = Ask("checks", "", "checks", None, "")
        session = _row(topic, wish, owner=owner, cap=cap, now=now)
        tx.add(session)
    session.status, session.outcome, session.reason, session.completed_at = "waiting", None, None, None
    session.head_sha, session.pushed_at, session.hint_at, session.config = topic.head_sha, now, now, config
    await tx.flush()
    await make_due(tx, session.id, now)
    return session


async def switch_repairs(
    tx: AsyncSession, topic: Topic, session: Session | None, *, on: bool, by: str, now: float
) -> Session | None:
    """Remember whether red checks are repaired here; where no conversation is yet, one that was never begun does it."""
    if session is None and not on:
        wish = Ask(NEVER_BEGUN, "", "checks", None, "", options={"autofix": False})
        session = _row(topic, wish, owner=None, cap=0, now=now)
        session.status, session.reason, session.completed_at = "cancelled", f"{by} switched repairs off", now
        tx.add(session)
    elif session is not None and on and session.trigger == NEVER_BEGUN:
        await tx.delete(session)
        session = None
    elif session is not None:
        session.options = {**session.options, "autofix": on}
    await tx.flush()
    return session


async def cancel(tx: AsyncSession, session: Session, by: str, now: float) -> bool:
    """Ask for the session's end; whether it was open."""
    if session.status not in OPEN_SESSION:
        return False
    if session.cancel_by is None:
        session.cancel_by, session.cancel_requested_at = by, now
        await journal.append(tx, session.id, [("status", {"text": f"cancel requested by {by}"})], at=now)
    await tx.flush()
    await make_due(tx, session.id, now)
    return True


async def withdraw(tx: AsyncSession, repository_id: int, comment_id: int, now: float) -> list[int]:
    """A comment was deleted: its turns that no box has yet are cancelled. The sessions concerned."""
    found = await tx.execute(
        select(Turn)
        .join(Session, Session.id == Turn.session_id)
        .where(Session.repository_id == repository_id, Turn.status.in_(("queued", "ready")), Turn.handed_at.is_(None))
    )
    touched = []
    for turn in found.scalars():
        if turn.source.get("id") == comment_id and turn.source.get("where") in ("comment", "inline"):
            turn.status, turn.error, turn.finished_at = "cancelled", "the comment that asked was deleted", now
            touched.append(turn.session_id)
            await make_due(tx, turn.session_id, now)
    return touched


async def begin(tx: AsyncSession, topic: Topic, wish: Ask, *, owner: int | None, cap: int, now: float) -> Session:
    """A new conversation with its first turn, whatever others there are."""
    session = _row(topic, wish, owner=owner, cap=cap, now=now)
    tx.add(session)
    await tx.flush()
    await add_turn(tx, session, wish, now)
    return session


def _row(topic: Topic, wish: Ask, *, owner: int | None, cap: int, now: float) -> Session:
    return Session(
        public_id=f"s_{secrets.token_hex(8)}",
        installation_id=topic.installation_id,
        repository_id=topic.repository_id,
        subject_kind=topic.kind,
        subject_number=topic.number,
        owner_id=owner,
        surface=wish.surface,
        trigger=wish.trigger,
        title=topic.title[:SUMMARY_TITLE],
        instruction=wish.instruction,
        options=wish.options,
        base_branch=topic.base_branch,
        branch=topic.branch,
        own_branch=topic.own_branch,
        head_sha=topic.head_sha,
        approved_sha=topic.approved_sha,
        pull_number=topic.pull_number,
        pull_state="open" if topic.pull_number else None,
        status="pending",
        cap=int(wish.options.get("cap", cap)),
        created_at=now,
        notes=[],
        event_seq=0,
        wake=0,
    )


async def add_turn(tx: AsyncSession, session: Session, wish: Ask, now: float) -> Turn:
    """One more turn in a conversation."""
    if wish.context.get("retry") and not wish.instruction:
        wish = await _repeated(tx, session, wish)
    last = (await tx.execute(select(func.max(Turn.number)).where(Turn.session_id == session.id))).scalar_one()
    turn = Turn(
        public_id=f"t_{secrets.token_hex(8)}",
        session_id=session.id,
        number=(last or 0) + 1,
        kind=wish.kind,
        trigger=wish.trigger,
        requested_by=wish.by,
        delivery=wish.delivery,
        source=wish.source,
        context={"instruction": wish.instruction, "by": wish.by_login, **wish.context},
        status="queued",
        marker=f"gl-{secrets.token_hex(12)}",
        created_at=now,
    )
    tx.add(turn)
    await tx.flush()
    text = f"turn {turn.number} asked for by {asked_by(wish.trigger, wish.by_login)}"
    await journal.append(tx, session.id, [("status", {"text": text})], at=now, turn_id=turn.id)
    await make_due(tx, session.id, now)
    return turn


async def _repeated(tx: AsyncSession, session: Session, wish: Ask) -> Ask:
    """A bare "retry" asks for what a person asked last."""
    found = await tx.execute(
        select(Turn)
        .where(Turn.session_id == session.id, Turn.requested_by.is_not(None))
        .order_by(Turn.number.desc())
        .limit(1)
    )
    last = found.scalar_one_or_none()
    if last is None:
        return wish
    return replace(wish, kind=last.kind, instruction=str(last.context.get("instruction", "")), context=last.context)


async def _asked_already(tx: AsyncSession, session: Session, wish: Ask) -> bool:
    """Whether a turn asks for the same: the same delivery, or the issue itself while the session is open."""
    turns = (await tx.execute(select(Turn).where(Turn.session_id == session.id))).scalars().all()
    if any(turn.delivery is not None and turn.delivery == wish.delivery for turn in turns):
        return True
    if wish.own_text and session.status in OPEN_SESSION:
        return any(turn.status in OPEN_TURN or turn.source.get("own_text") for turn in turns)
    return False


async def abandon_open_turns(tx: AsyncSession, session_id: int, why: str, now: float) -> None:
    """The session ends: turns that are still open end with it."""
    await tx.execute(
        update(Turn)
        .where(Turn.session_id == session_id, Turn.status.in_(OPEN_TURN))
        .values(status="cancelled", error=why, finished_at=now)
    )

"""Conversations that nobody asked for: red checks begin them, where repairs are not switched off."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from loops.conversations.asking import new_session
from loops.conversations.finding import Topic, latest_to_change, lock
from loops.sessions.ask import Ask, Asker, ThreadText
from loops.sessions.transitions import move_session
from loops.store.leases import make_due
from loops.store.states import OPEN_SESSION, SessionStatus, SubjectKind, Trigger
from loops.store.tables import Attempt, Session

NOBODY = Asker()


async def watch(
    tx: AsyncSession, topic: Topic, *, owner: int | None, cap: int, config: dict[str, Any], now: float
) -> Session | str:
    """A conversation that red checks began: nobody asked, so its first turn will be an attempt.

    One that ended well goes on. A sentence when there is nothing to begin: each commit gets one attempt, and where
    repairs are switched off or ended without success a person has to say that they want more. The next commit of a red
    branch is another matter.
    """
    await lock(tx, topic.repository_id)
    session = await latest_to_change(tx, topic)
    tried = select(Attempt.id).join(Session, Session.id == Attempt.session_id)
    here = tried.where(Session.repository_id == topic.repository_id, Attempt.head_sha == topic.head_sha)
    if (await tx.execute(here.limit(1))).first() is not None:
        return "this commit had its attempt"
    if session is not None and session.status in OPEN_SESSION:
        return "a session is at work on it"
    if session is not None and session.options.get("autofix") is False:
        return "repairs are switched off here"
    if session is not None and session.status is not SessionStatus.COMPLETED:
        if topic.kind is not SubjectKind.BRANCH or session.pull_number is not None:
            return "the last session here ended without success: a person has to ask for more"
        session = None
    if session is None:
        ask = Ask(Trigger.CHECKS, NOBODY, ThreadText(title=topic.title))
        session = new_session(topic, ask, owner=owner, cap=cap, now=now)
        tx.add(session)
    session.head_sha, session.config = topic.head_sha, config
    await watch_again(tx, session, now)
    return session


async def watch_again(tx: AsyncSession, session: Session, now: float) -> None:
    """Let a session wait for the checks of its head, with its conversation and its attempts as they were."""
    move_session(session, SessionStatus.WAITING, now)
    session.outcome, session.reason, session.completed_at = None, None, None
    session.pushed_at = session.hint_at = now
    await tx.flush()
    await make_due(tx, session.id, now)


async def switch_repairs(
    tx: AsyncSession, topic: Topic, session: Session | None, *, on: bool, by: str, now: float
) -> Session | None:
    """Remember whether red checks are repaired here; where no conversation is yet, one that was never begun does it."""
    if session is None and not on:
        ask = Ask(Trigger.AUTOFIX, NOBODY, ThreadText(title=topic.title))
        session = new_session(topic, ask, owner=None, cap=0, now=now)
        session.options = {"autofix": False}
        move_session(session, SessionStatus.CANCELLED, now)
        session.reason, session.completed_at = f"{by} switched repairs off", now
        tx.add(session)
    elif session is not None and on and session.trigger is Trigger.AUTOFIX:
        await tx.delete(session)
        session = None
    elif session is not None:
        session.options = {**session.options, "autofix": on}
    await tx.flush()
    return session

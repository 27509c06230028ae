"""The end of a session, and the moment its pull request stops being a draft."""

import structlog
from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from github.publishing import pulls
from loops.context import Loop
from loops.sessions import decide
from loops.sessions.transitions import move_session, move_turn
from loops.store import journal
from loops.store.locking import lock_turns, locked
from loops.store.states import OPEN_SESSION, OPEN_TURN, SessionStatus, TurnStatus
from loops.store.tables import Blob, Log, Repository, Session, Turn
from loops.store.work_tables import WorkSoFar

log = structlog.get_logger(__name__)


async def finish(loop: Loop, session: Session, action: decide.Finish) -> None:
    """Record the end. What only open sessions need (logs, blobs) goes."""
    now = loop.clock()
    async with loop.database.write() as tx:
        await lock_turns(tx, session.id)
        fresh = await locked(tx, Session, session.id)
        if fresh.status not in OPEN_SESSION:
            return
        if action.status is SessionStatus.COMPLETED and await _has_open_turn(tx, session.id):
            return  # somebody asked for more meanwhile: what is to be done is decided anew
        move_session(fresh, action.status, now)
        fresh.outcome, fresh.reason = action.outcome, action.reason
        fresh.completed_at, fresh.due_at = now, None
        if action.note and action.note not in fresh.notes:
            fresh.notes = [*fresh.notes, action.note]
        await _abandon_open_turns(tx, session.id, action.reason or action.status, now)
        turns = select(Turn.id).where(Turn.session_id == session.id)
        await tx.execute(delete(Log).where(Log.turn_id.in_(turns)))
        await tx.execute(delete(WorkSoFar).where(WorkSoFar.turn_id.in_(turns)))
        await tx.execute(update(Turn).where(Turn.session_id == session.id).values(given=None))
        if action.reason != "push_refused":
            await tx.execute(delete(Blob).where(Blob.turn_id.in_(turns)))
        ended = {"status": action.status, "outcome": action.outcome, "reason": action.reason, "text": action.note}
        await journal.append(tx, session.id, [("session_ended", ended)], at=now)
    log.info(
        "session.end", session=session.public_id, status=action.status, outcome=action.outcome, reason=action.reason
    )


async def mark_ready(loop: Loop, session: Session, _action: decide.MarkReady) -> None:
    """Take the pull request out of draft; one that is ready already, or cannot be, is fine.

    Its checks are watched once more: jobs that were skipped in a draft run now.
    """
    ready_at = loop.clock()  # before it is asked for, so that no run that this starts is older
    if session.pull_number is not None:
        async with loop.database.read() as tx:
            repository = await tx.get_one(Repository, session.repository_id)
        await pulls.mark_ready(loop.handle(repository), session.pull_number, session.pull_node_id)
    async with loop.database.write() as tx:
        fresh = await locked(tx, Session, session.id)
        fresh.pull_draft, fresh.ready_at = False, ready_at


async def _has_open_turn(tx: AsyncSession, session_id: int) -> bool:
    found = select(Turn.id).where(Turn.session_id == session_id, Turn.status.in_(OPEN_TURN))
    return (await tx.execute(found.limit(1))).first() is not None


async def _abandon_open_turns(tx: AsyncSession, session_id: int, why: str, now: float) -> None:
    """Turns that are still open end with their session."""
    open_turns = select(Turn).where(Turn.session_id == session_id, Turn.status.in_(OPEN_TURN))
    for turn in (await tx.execute(open_turns)).scalars():
        move_turn(turn, TurnStatus.CANCELLED)
        turn.error, turn.finished_at = why, now
    await tx.flush()

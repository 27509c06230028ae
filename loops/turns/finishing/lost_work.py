"""The work of turns whose boxes told it and were lost before they reported: kept like that of any turn cut short."""

import zlib

import structlog
from sqlalchemy import delete, select

from github.client.errors import GitHubError
from github.client.permanent_errors import most_tries
from k8s.runner.protocol import WORKING, Change, Result
from loops.context import Loop
from loops.sessions import decide
from loops.sessions.explanations import explain
from loops.sessions.finish import finish
from loops.sessions.reasons import Reason
from loops.store.locking import locked
from loops.store.states import SessionStatus, TurnStatus
from loops.store.tables import Repository, Session, Turn
from loops.store.work_tables import WorkSoFar
from loops.turns.finishing.unfinished import in_words, keep_unfinished, told_before

log = structlog.get_logger(__name__)

TRIES = 3
"""Times in a row that GitHub may fail before a session ends without such work: the guards ask it about files."""
AT_WORK = (TurnStatus.READY, TurnStatus.RUNNING, TurnStatus.REPORTED)


async def keep_lost_work(loop: Loop, session: Session, *, why: str = "", ends: bool = False) -> None:
    """Keep it, for the session's page and for its next turn; where the session `ends`, also of turns at work.

    `why` they were cut short, where their rows do not say. Safe to run twice. Raises GitHubError.
    """
    told = select(WorkSoFar, Turn).join(Turn, Turn.id == WorkSoFar.turn_id).where(Turn.session_id == session.id)
    async with loop.database.read() as tx:
        found = (await tx.execute(told if ends else told.where(Turn.status.not_in(AT_WORK)))).all()
        repository = await tx.get_one(Repository, session.repository_id) if found else None
    if repository is None:
        return
    for row, turn in found:
        changes = [Change(**each) for each in row.changes]
        diff = zlib.decompress(row.patch).decode("utf-8", "surrogateescape")
        result = Result(WORKING, base=turn.base_sha, changes=changes, diff=diff)
        work = await told_before(loop, loop.handle(repository), session, turn, result)
        async with loop.database.write() as tx:
            fresh = await locked(tx, Session, session.id)
            if work is not None:
                await keep_unfinished(tx, turn, work.besides(row.left_out), _why(turn, why), row.at)
                page = f"{loop.options.public_url}/sessions/{session.public_id}/turns/{turn.number}/patch"
                if ends and (note := in_words(work, page)) not in fresh.notes:
                    fresh.notes = [*fresh.notes, note]
            await tx.execute(delete(WorkSoFar).where(WorkSoFar.turn_id == turn.id, WorkSoFar.at == row.at))


async def end_session(loop: Loop, session: Session, action: decide.Finish) -> None:
    """Record the end of a session, and what of its work nobody has reported."""
    if action.status is not SessionStatus.COMPLETED:
        try:
            await keep_lost_work(loop, session, why=action.reason or action.status, ends=True)
        except GitHubError as error:
            if session.failures + 1 < most_tries(error, TRIES):
                raise  # this step runs again
            log.warning("work.not_looked_at", session=session.public_id, error=str(error))
    await finish(loop, session, action)


def _why(turn: Turn, why: str) -> str:
    if turn.status is TurnStatus.QUEUED:
        return explain(Reason.BOX_LOST).title
    if turn.status is TurnStatus.FAILED:
        return explain(turn.error or "").title
    return turn.error or why

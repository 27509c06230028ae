"""A comment was deleted: what it asked for is not begun any more."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from github.webhooks.sources import InlineComment, ThreadComment
from loops.sessions.ask_columns import source_of
from loops.sessions.transitions import move_turn
from loops.store.leases import make_due
from loops.store.states import TurnStatus
from loops.store.tables import Session, Turn


async def withdraw(tx: AsyncSession, repository_id: int, comment_id: int, now: float) -> list[int]:
    """Cancel the turns that this comment asked for and that no box has yet. The sessions concerned."""
    found = await tx.execute(
        select(Turn)
        .join(Session, Session.id == Turn.session_id)
        .where(Session.repository_id == repository_id, Turn.handed_at.is_(None))
        .where(Turn.status.in_((TurnStatus.QUEUED, TurnStatus.READY)))
        .order_by(Turn.id)
        .with_for_update(of=Turn, key_share=True)
    )
    touched = []
    for turn in found.scalars():
        source = source_of(turn)
        if isinstance(source, ThreadComment | InlineComment) and source.id == comment_id:
            move_turn(turn, TurnStatus.CANCELLED)
            turn.error, turn.finished_at = "the comment that asked was deleted", now
            touched.append(turn.session_id)
            await make_due(tx, turn.session_id, now)
    return touched

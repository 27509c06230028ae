"""The end of a conversation, asked for by a person or by what became of its pull request."""

from sqlalchemy.ext.asyncio import AsyncSession

from loops.store import journal
from loops.store.leases import make_due
from loops.store.states import OPEN_SESSION
from loops.store.tables import Session


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

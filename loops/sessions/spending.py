"""What the turns of a session have used so far, as their rows tell, and what ends the one that used too much."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from loops.sessions.caps import Caps, Spent
from loops.store.states import TurnStatus
from loops.store.tables import Turn


async def spent_before(tx: AsyncSession, turn: Turn) -> Spent:
    """What counts against the session's caps beside what the turn itself uses: what other turns of its owner have used.

    Nobody uses up somebody else's caps; but files are those of the branch, whoever changed them.
    """
    found = await tx.execute(select(Turn).where(Turn.session_id == turn.session_id, Turn.id != turn.id))
    spent = Spent()
    for each in found.scalars():
        used = spent_of(each)
        spent += used if each.owner_id == turn.owner_id else Spent(files=used.files)
    return spent


def spent_of(turn: Turn) -> Spent:
    """What this turn has used; its time only once it is over, since its runner keeps that."""
    over = (
        turn.status not in (TurnStatus.READY, TurnStatus.RUNNING)
        and turn.begun_at is not None
        and turn.heartbeat_at is not None
    )
    worked = (turn.heartbeat_at or 0.0) - (turn.begun_at or 0.0) if over else 0.0
    return Spent(
        steps=turn.steps,
        seconds=max(0.0, worked),
        files=frozenset(map(str, turn.changed_files)),
        tokens=turn.input_tokens + turn.output_tokens,
        cost=turn.cost,
    )


async def apply_caps(tx: AsyncSession, turn_id: int) -> str | None:
    """Have the turn stopped once it, or its session, used more than its `limits` allow; why it is to stop."""
    row = await tx.get_one(Turn, turn_id, populate_existing=True)
    if row.stop_reason is None:
        over = Caps.of(row.limits).passed(spent_of(row), await spent_before(tx, row))
        row.stop_reason = over.reason if over is not None else None
    return row.stop_reason

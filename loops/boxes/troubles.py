"""Boxes in trouble, as the cluster's watch sees them: their turns are looked at at once, not when they fall silent."""

import structlog
from sqlalchemy import update

from loops.context import Clock, Loop
from loops.store.database import Database
from loops.store.leases import make_due
from loops.store.states import TurnStatus
from loops.store.tables import Turn

log = structlog.get_logger(__name__)


async def follow_troubles(loop: Loop) -> None:
    """Follow the boxes without end. Several workers may: looking twice does no harm."""
    async for status in loop.boxes.troubles():
        log.info("box.trouble", box=status.name, state=status.state.value, message=status.message)
        await note_trouble(loop.clock, loop.database, status.name)


async def note_trouble(clock: Clock, database: Database, box: str) -> None:
    """Have the turn in `box`, if there is one, and its box looked at now. What is true then is asked afresh."""
    now = clock()
    async with database.write() as tx:
        held = (Turn.box == box, Turn.status.in_((TurnStatus.READY, TurnStatus.RUNNING)))
        found = await tx.execute(update(Turn).where(*held).values(trouble_at=now).returning(Turn.session_id))
        for session in found.scalars().all():
            await make_due(tx, session, now)

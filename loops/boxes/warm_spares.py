"""Warm spares: boxes that are up and nobody's, for a person's first turn to take. They hold nobody's secrets."""

from datetime import UTC, datetime

import structlog
from sqlalchemy import func, select

from k8s.boxes import spare_name
from loops.boxes.box import ensure_box
from loops.boxes.capacity import LOCK
from loops.boxes.owners import blank
from loops.context import Loop
from loops.options import LoopOptions
from loops.protocol.tokens import renew_token
from loops.store.database import alone
from loops.store.tables import Box

log = structlog.get_logger(__name__)


def spares_at(options: LoopOptions, now: float) -> int:
    """How many spares are wanted at the Unix time `now`: fewer by night, where that is set. Pure."""
    begins, ends = options.box_night
    hour = datetime.fromtimestamp(now, UTC).hour
    night = begins <= hour < ends if begins <= ends else hour >= begins or hour < ends
    return options.box_warm_night if night and options.box_warm_night is not None else options.box_warm


async def keep(loop: Loop) -> None:
    """Have as many spares up as are wanted, and as fit beside the boxes of people. Raises BoxesUnavailable."""
    now = loop.clock()
    async with loop.database.write() as tx:
        await alone(tx, LOCK)
        up = select(Box).where(Box.stopped_at.is_(None))
        spares = list((await tx.execute(up.where(Box.owner_key.is_(None)).order_by(Box.created_at))).scalars())
        count = (await tx.execute(select(func.count()).select_from(up.subquery()))).scalar_one()
        room = loop.options.box_limit - (count - len(spares))
        wanted = max(0, min(spares_at(loop.options, now), room))
        for spare in spares[wanted:]:
            spare.stopped_at = now  # the reaper ends it, with its home
        for _ in range(wanted - len(spares)):
            made = blank(spare_name(loop.instance), now)
            renew_token(made, loop.box_key, loop.options, now)
            tx.add(made)
            spares.append(made)
            log.info("box.spare", box=made.name)
    for spare in spares[:wanted]:
        async with loop.database.read() as tx:
            still = await tx.get(Box, spare.name)
        if still is not None and still.owner_key is None:
            await ensure_box(loop, still, idle=True)

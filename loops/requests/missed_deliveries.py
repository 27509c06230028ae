"""Webhooks that never reached us: GitHub's log of deliveries is walked, and what is missing is asked for again."""

import structlog
from sqlalchemy import select

from github.webhooks import deliveries
from loops.context import Loop
from loops.store.tables import Delivery

log = structlog.get_logger(__name__)

LOOK_BACK = 3 * 86400 - 3600  # seconds; github.com keeps three days
TOO_FRESH = 20.0  # seconds in which a delivery may still be on its way: GitHub waits 10 for an answer
BATCH = 500


async def redeliver_missed(loop: Loop) -> int:
    """Ask again for every delivery that some rule could want and that is not in the inbox. How many were asked for.

    Twice does no harm: a redelivery keeps its GUID, which the inbox knows.
    """
    now = loop.clock()
    looked_at = 0
    asked = 0
    batch: list[deliveries.Delivery] = []
    async for delivery in deliveries.walk(loop.github, since=now - LOOK_BACK):
        looked_at += 1
        if delivery.delivered_at < now - TOO_FRESH:
            batch.append(delivery)
        if len(batch) >= BATCH:
            asked += await _ask_again(loop, batch)
            batch = []
    asked += await _ask_again(loop, batch)
    if asked:
        log.warning("deliveries.missed", asked=asked, looked_at=looked_at)
    return asked


async def _ask_again(loop: Loop, batch: list[deliveries.Delivery]) -> int:
    guids = [delivery.guid for delivery in batch]
    async with loop.database.read() as tx:
        seen = set((await tx.execute(select(Delivery.guid).where(Delivery.guid.in_(guids)))).scalars())
    asked = 0
    for delivery in deliveries.missed(batch, seen):
        asked += await deliveries.redeliver(loop.github, delivery)
    return asked

"""Webhooks that never reached us: GitHub's log of deliveries is walked, and what is missing is asked for again."""

from collections import Counter

import structlog
from sqlalchemy import func, select

from github.client.app import GitHubApp
from github.webhooks import deliveries
from github.webhooks.events import wanted
from loops.context import Loop
from loops.store.database import Database
from loops.store.tables import Audit, Delivery, Installation

log = structlog.get_logger(__name__)

LOOK_BACK = 3 * 86400 - 3600  # seconds; github.com keeps three days
TOO_FRESH = 20.0  # seconds in which a delivery may still be on its way: GitHub waits 10 for an answer
BATCH = 500
APART = 60.0  # seconds by which our clock and GitHub's may differ
NOT_REPLAYED = "not_replayed"


async def redeliver_missed(loop: Loop) -> int:
    """Ask again for every delivery that some rule could want and that is not in the inbox. How many were asked for.

    Twice does no harm: a redelivery keeps its GUID, which the inbox knows. What was delivered before this database knew
    of an installation was answered by another one, or is of no use any more: it is counted and left alone.
    """
    now = loop.clock()
    seen_since = await _first_seen(loop.database)
    older: Counter[int] = Counter()
    looked_at = 0
    asked = 0
    batch: list[deliveries.LoggedDelivery] = []
    async for delivery in deliveries.walk(loop.github, since=now - LOOK_BACK):
        looked_at += 1
        if delivery.delivered_at < seen_since.get(delivery.installation_id, now) - APART:
            older[delivery.installation_id] += wanted(delivery.event, delivery.action)
        elif delivery.delivered_at < now - TOO_FRESH:
            batch.append(delivery)
        if len(batch) >= BATCH:
            asked += await _ask_again(loop.database, loop.github, batch)
            batch = []
    asked += await _ask_again(loop.database, loop.github, batch)
    await _tell_of_older(loop.database, older, now)
    if asked:
        log.warning("deliveries.missed", asked=asked, looked_at=looked_at)
    return asked


async def _ask_again(database: Database, github: GitHubApp, batch: list[deliveries.LoggedDelivery]) -> int:
    guids = [delivery.guid for delivery in batch]
    async with database.read() as tx:
        seen = set((await tx.execute(select(Delivery.guid).where(Delivery.guid.in_(guids)))).scalars())
    asked = 0
    for delivery in deliveries.missed(batch, seen):
        asked += await deliveries.redeliver(github, delivery)
    return asked


async def _first_seen(database: Database) -> dict[int, float]:
    """Since when deliveries of each installation are received; 0.0 for one that is known otherwise."""
    async with database.read() as tx:
        known = dict.fromkeys((await tx.execute(select(Installation.id))).scalars(), 0.0)
        query = select(Delivery.installation_id, func.min(Delivery.received_at)).group_by(Delivery.installation_id)
        received = {installation or 0: at for installation, at in await tx.execute(query)}
    return known | received


async def _tell_of_older(database: Database, older: Counter[int], now: float) -> None:
    """One line for each installation, once."""
    for installation, count in older.items():
        async with database.write() as tx:
            told = select(Audit.id).where(Audit.installation_id == installation, Audit.action == NOT_REPLAYED)
            if not count or (await tx.execute(told.limit(1))).first() is not None:
                continue
            details = {"deliveries": count}
            tx.add(
                Audit(
                    at=now,
                    installation_id=installation,
                    actor="Greenloop",
                    surface="github",
                    action=NOT_REPLAYED,
                    details=details,
                )
            )
        log.warning(
            "deliveries.not_replayed",
            installation=installation,
            deliveries=count,
            why="they are older than what this database knows of the installation",
        )

"""Webhooks that never reached us: GitHub's log of deliveries is walked, and what is missing is asked for again."""

from collections import Counter
from dataclasses import replace

import structlog
from sqlalchemy import func, select

from github.client.errors import GitHubError, Gone, Invalid, NotFound
from github.webhooks import deliveries
from github.webhooks.events import wanted
from loops.context import Loop
from loops.deliveries.delivery_mark import Mark
from loops.store.database import Database
from loops.store.service_state import by_one_process, remember, remembered
from loops.store.tables import Audit, Delivery, Installation

log = structlog.get_logger(__name__)

KEY = "missed_deliveries"
LOOK_BACK = 3 * 86400 - 3600  # seconds; github.com keeps three days
TOO_FRESH = 20.0  # seconds in which a delivery may still be on its way: GitHub waits 10 for an answer
APART = 60.0  # seconds by which our clock and GitHub's may differ
PAGES = 50
"""Pages of the log that one round reads. A longer walk goes on in the next round: the App has some thousand requests an
hour for everything, tokens among it."""
ASKED = 100
"""Deliveries that one round asks for again, for the same reason."""
NOT_REPLAYED = "not_replayed"


async def redeliver_missed(loop: Loop) -> int:
    """Ask again for every delivery that some rule could want and that is not in the inbox. How many were asked for.

    One process does so at a time, from where the last round ended. Twice does no harm: a redelivery keeps its GUID,
    which the inbox knows. What was delivered before this database knew of an installation was answered by another one,
    or is of no use any more: it is counted and left alone.
    """
    async with by_one_process(loop.database, KEY, clock=loop.clock) as mine:
        return await _round(loop) if mine else 0


async def _round(loop: Loop) -> int:
    now = loop.clock()
    mark = await _counted(loop.database, await _mark(loop.database, now), now)
    async with loop.database.read() as tx:
        known = dict.fromkeys((await tx.execute(select(Installation.id))).scalars(), 0.0)
    walk = _Walk(loop, mark if mark.page else mark.begin(deliveries.FIRST_PAGE, now - TOO_FRESH), mark.since | known)
    try:
        for _ in range(PAGES):
            if await walk.step() or walk.asked >= ASKED:
                break
    except GitHubError as error:
        log.warning("deliveries.walk_stopped", error=str(error), asked=walk.asked)
        if isinstance(error, (NotFound, Gone, Invalid)):  # GitHub knows that page no more: the walk begins anew
            walk.mark = replace(walk.mark, page=None, begun=None)
    finally:
        await remember(loop.database, KEY, walk.mark.stored(), now=now)
    await _tell_of_older(loop.database, walk.older, now)
    if walk.asked:
        log.warning("deliveries.missed", asked=walk.asked, looked_at=walk.looked_at)
    return walk.asked


class _Walk:
    """One round's part of a walk; `mark` says how far it came."""

    def __init__(self, loop: Loop, mark: Mark, seen_since: dict[int, float]) -> None:
        self._loop = loop
        self._seen_since = seen_since
        self.mark = mark
        self.older: Counter[int] = Counter()
        self.looked_at = self.asked = 0

    async def step(self) -> bool:
        """Look at one page; whether the walk has come to its end. A page that is not finished is looked at again."""
        now = self._loop.clock()
        since = max(self.mark.until - 2 * APART, now - LOOK_BACK)
        page, following = await deliveries.read_page(self._loop.github, self.mark.page or deliveries.FIRST_PAGE)
        new = [each for each in page if each.delivered_at > since]
        wanting = [each for each in new if each.delivered_at < now - TOO_FRESH and not self._is_older(each, now)]
        self.looked_at += len(new)
        await self._ask_again(wanting)
        over = following is None or len(new) < len(page)
        self.mark = self.mark.end() if over else replace(self.mark, page=following)
        return over

    def _is_older(self, delivery: deliveries.LoggedDelivery, now: float) -> bool:
        older = delivery.delivered_at < self._seen_since.get(delivery.installation_id, now) - APART
        self.older[delivery.installation_id] += older and wanted(delivery.event, delivery.action)
        return older

    async def _ask_again(self, page: list[deliveries.LoggedDelivery]) -> None:
        guids = [delivery.guid for delivery in page]
        async with self._loop.database.read() as tx:
            seen = set((await tx.execute(select(Delivery.guid).where(Delivery.guid.in_(guids)))).scalars())
        self.mark = self.mark.arrived(seen)
        for delivery in deliveries.missed(page, seen, self.mark.asked):
            came = await deliveries.redeliver(self._loop.github, delivery)
            self.mark = self.mark.ask([delivery])
            self.asked += came


async def _mark(database: Database, now: float) -> Mark:
    async with database.read() as tx:
        found = await remembered(tx, KEY)
    return Mark.read(found) if found is not None else Mark(now - LOOK_BACK)


async def _counted(database: Database, mark: Mark, now: float) -> Mark:
    """The mark with the installations whose first deliveries came since it was made."""
    query = select(Delivery.installation_id, func.min(Delivery.received_at)).group_by(Delivery.installation_id)
    async with database.read() as tx:
        found = await tx.execute(query.where(Delivery.received_at >= mark.counted))
    since = {installation or 0: at for installation, at in found} | mark.since
    return replace(mark, since=since, counted=now - APART)


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

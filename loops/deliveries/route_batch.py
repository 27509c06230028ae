"""Many deliveries become decisions at once: read, looked up by one query each, and written in one transaction.

A process that dies here has changed nothing, or all of it: the rest is found again by its leases, each on its own.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import structlog
from sqlalchemy import or_, select, tuple_, update
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.ext.asyncio import AsyncSession

from github.webhooks.events import BadPayload
from github.webhooks.outcomes import Actor, LifecycleEvent, Outcome, Repo
from loops.context import Loop
from loops.conversations.finding import may_go_on_when_checks_come
from loops.deliveries.check_hints import DEBOUNCE
from loops.deliveries.poison import LARGE, read_delivery
from loops.deliveries.record import record
from loops.deliveries.triage import Branch, Head, Known, ReadDelivery, Triage, branches, heads, looks, triage
from loops.sessions.known_accounts import remember_installation, remember_repository
from loops.store.bus import WORK
from loops.store.states import OPEN_SESSION, Lane
from loops.store.tables import Delivery, Installation, Repository, Session

log = structlog.get_logger(__name__)


async def route_batch(loop: Loop, guids: Sequence[str]) -> None:
    """Handle deliveries that this worker has claimed. Those that ask for more than the database knows become due in a
    lane of their own, and so do all of them where one fails. Raises what an outage raises: then all are due again."""
    try:
        await _route(loop, guids)
    except (InterfaceError, OperationalError, OSError, asyncio.CancelledError):
        await asyncio.shield(loop.leases.let_go(Delivery, *guids))
        raise
    except Exception:
        log.exception("deliveries.failed", count=len(guids))
        async with loop.database.write() as tx:
            everything = Triage(alone=dict.fromkeys(guids, (Lane.CHANGE, None)))
            await _set_apart(tx, loop.leases.worker, everything, loop.clock())


async def _route(loop: Loop, guids: Sequence[str]) -> None:
    read = await _read(loop, guids)
    async with loop.database.write() as tx:
        done = triage(read, await _known(tx, read))
        now = loop.clock()
        await _wake(tx, done.woken, now)
        await record(tx, loop.leases.worker, done.decided, now)
        await _set_apart(tx, loop.leases.worker, done, now)
    await _remember(loop, done.heard_of)
    if done.woken or done.alone:
        loop.bus.notify(WORK)
    counts = Counter(each.what for each in done.decided.values())
    log.info("deliveries.routed", count=len(read), woken=len(done.woken), alone=len(done.alone), **counts)


async def _read(loop: Loop, guids: Sequence[str]) -> list[ReadDelivery]:
    columns = (Delivery.guid, Delivery.lane, Delivery.event, Delivery.body)
    async with loop.database.read() as tx:
        rows = (await tx.execute(select(*columns).where(Delivery.guid.in_(guids)).order_by(Delivery.received_at))).all()
    return [ReadDelivery(guid, Lane(lane), _outcome(loop, event, body or b"")) for guid, lane, event, body in rows]


def _outcome(loop: Loop, event: str, body: bytes) -> Outcome | BadPayload | None:
    if len(body) >= LARGE:
        return None
    try:
        return read_delivery(event, body, loop.me)
    except BadPayload as error:
        return error
    except Exception:
        log.exception("delivery.unread", delivery_event=event)
        return None


async def _known(tx: AsyncSession, read: Sequence[ReadDelivery]) -> Known:
    watching, unsettled = await _sessions(tx, heads(read))
    return Known(watching, unsettled, await _branches(tx, branches(read)), await _looks(tx, looks(read)))


async def _sessions(tx: AsyncSession, commits: Iterable[Head]) -> tuple[dict[Head, list[int]], set[Head]]:
    """Open sessions by head, locked so that none ends before it is woken; heads whose session any check is news to."""
    watching: dict[Head, list[int]] = {}
    unsettled: set[Head] = set()
    found = (
        select(Session.id, Session.status, Session.repository_id, Session.head_sha)
        .where(
            tuple_(Session.repository_id, Session.head_sha).in_(commits),
            or_(Session.status.in_(OPEN_SESSION), may_go_on_when_checks_come()),
        )
        .order_by(Session.id)
        .with_for_update(key_share=True)
    )
    for session, status, repository, sha in (await tx.execute(found)).all() if commits else ():
        one = (repository, str(sha))
        if status in OPEN_SESSION:
            watching.setdefault(one, []).append(session)
        else:
            unsettled.add(one)
    return watching, unsettled


async def _branches(tx: AsyncSession, moved: Iterable[Branch]) -> set[Branch]:
    where = (tuple_(Session.repository_id, Session.branch).in_(moved), Session.status.in_(OPEN_SESSION))
    found = select(Session.repository_id, Session.branch).where(*where).distinct()
    return {(repository, str(branch)) for repository, branch in (await tx.execute(found)).all()} if moved else set()


async def _looks(tx: AsyncSession, about: Iterable[str]) -> set[str]:
    """Those of them that wait: whoever takes one asks GitHub later than now."""
    waiting = (Delivery.status == "new", Delivery.lane == int(Lane.LOOK), Delivery.lease_until.is_(None))
    found = select(Delivery.about).where(*waiting, Delivery.about.in_(about))
    return {each for each in (await tx.execute(found)).scalars() if each} if about else set()


async def _wake(tx: AsyncSession, sessions: Iterable[int], now: float) -> None:
    ids = sorted(sessions)
    if not ids:
        return
    await tx.execute(update(Session).where(Session.id.in_(ids)).values(hint_at=now))
    later = or_(Session.due_at.is_(None), Session.due_at > now + DEBOUNCE)
    await tx.execute(update(Session).where(Session.id.in_(ids), later).values(due_at=now + DEBOUNCE))


async def _set_apart(tx: AsyncSession, worker: str, done: Triage, now: float) -> None:
    by_lane: dict[tuple[Lane, str | None], list[str]] = {}
    for guid, where in done.alone.items():
        by_lane.setdefault(where, []).append(guid)
    for (lane, about), guids in by_lane.items():
        values: dict[str, Any] = {"lane": int(lane), "about": about, "due_at": now}
        mine = (Delivery.guid.in_(guids), Delivery.lease_by == worker)
        await tx.execute(update(Delivery).where(*mine).values(**values, lease_until=None, lease_by=None, begun=0))


async def _remember(loop: Loop, news: Sequence[LifecycleEvent]) -> None:
    """Accounts and repositories under their present names, as far as they are not known so already."""
    accounts: dict[int, Actor | None] = {each.installation_id: each.account for each in news}
    repositories: dict[int, Repo] = {each.repo.id: each.repo for each in news if each.repo is not None}
    async with loop.database.read() as tx:
        known = set((await tx.execute(select(Installation.id).where(Installation.id.in_(accounts)))).scalars())
        columns = (Repository.id, Repository.installation_id, Repository.full_name)
        same = select(*columns).where(Repository.id.in_(repositories), Repository.removed_at.is_(None))
        present = {tuple(row) for row in (await tx.execute(same)).all()}
    new = {installation: accounts[installation] for installation in accounts.keys() - known}
    changed = [each for each in repositories.values() if (each.id, each.installation_id, each.full_name) not in present]
    if not new and not changed:
        return
    async with loop.database.write() as tx:
        for installation in sorted(new):
            await remember_installation(tx, installation, new[installation], loop.clock())
        for repo in sorted(changed, key=lambda each: each.id):
            await remember_repository(tx, repo, loop.clock())

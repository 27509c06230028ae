"""A delivery on its own becomes a decision: a conversation begun or woken, a look at checks, a refusal recorded."""

import structlog
from sqlalchemy import update

from github.client import errors
from github.client.permanent_errors import most_tries
from github.webhooks.events import BadPayload
from github.webhooks.outcomes import Change, Declined, Hint, Ignored, LifecycleEvent, Outcome, Request
from loops.context import Clock, Loop
from loops.deliveries.check_hints import take_hint, take_opened
from loops.deliveries.lifecycle_events import take_lifecycle_event
from loops.deliveries.poison import say_so, set_aside, understood
from loops.deliveries.record import record
from loops.deliveries.triage import NOT_OURS
from loops.deliveries.uninstalled import UNINSTALLED_TRIES, is_uninstalled, uninstalled
from loops.offload import Withheld
from loops.requests.decision import Decision
from loops.requests.take_request import decline, take_request
from loops.store.begun import begun
from loops.store.database import Database
from loops.store.tables import Delivery, Installation

log = structlog.get_logger(__name__)

GIVE_UP_AFTER = 20
BACK_OFF_LIMIT = 120.0
OPENED = (Change.PULL_OPENED, Change.PULL_READY, Change.PULL_REOPENED)
MOST_DEATHS = 2
"""Processes that may end over a delivery, or readings of it that fail, before it is put aside."""


async def route(loop: Loop, guid: str, *, claimed: bool = False) -> None:
    """Handle one delivery. Returns at once when another worker is at it or it is done; `claimed`: this one is at it."""
    async with begun(loop.leases, loop.suspects, Delivery, guid, claimed=claimed) as deaths:
        if deaths is not None:
            await _route(loop, guid, deaths)


async def _route(loop: Loop, guid: str, deaths: int) -> None:
    async with loop.database.read() as tx:
        delivery = await tx.get(Delivery, guid)
    if delivery is None or delivery.status == "done":
        await _release(loop, guid, None)
        return
    try:
        if deaths >= MOST_DEATHS:
            decision = await set_aside(loop, delivery, f"the process ended {deaths} times over it")
        else:
            decision = await _handle(loop, guid, await understood(loop, delivery))
    except BadPayload as error:
        decision = Decision("unreadable", str(error))
    except errors.RateLimited as error:
        await _release(loop, guid, error.retry_at)
        return
    except Exception as error:
        tries = delivery.tries + 1
        log.warning("delivery.failed", guid=guid, delivery_event=delivery.event, tries=tries, exc_info=error)
        if tries < _most_tries(error):
            await _release(loop, guid, loop.clock() + min(BACK_OFF_LIMIT, 0.5 * 2**tries))
            return
        if is_uninstalled(error):
            await uninstalled(loop, delivery.installation_id or 0)
            await _record(loop, guid, Decision("noted", "the App is not installed there any more"))
            return
        if isinstance(error, Withheld):
            decision = await set_aside(loop, delivery, str(error))
        else:
            if isinstance(error, errors.InstallationSuspended):
                await _suspended(loop.clock, loop.database, delivery.installation_id)
            decision = Decision("failed", f"{type(error).__name__}: {error}")
            await say_so(loop, delivery, type(error).__name__)
    await _record(loop, guid, decision)
    log.info("delivery.done", guid=guid, decision=decision.what, reason=decision.reason, session=decision.session_id)


def _most_tries(error: Exception) -> int:
    if isinstance(error, errors.InstallationSuspended):
        return 1
    if is_uninstalled(error):
        return UNINSTALLED_TRIES
    if isinstance(error, Withheld):
        return MOST_DEATHS
    return most_tries(error, GIVE_UP_AFTER)


async def _suspended(clock: Clock, database: Database, installation_id: int | None) -> None:
    """GitHub says so where its webhook about it got lost."""
    async with database.write() as tx:
        where = (Installation.id == installation_id, Installation.suspended_at.is_(None))
        await tx.execute(update(Installation).where(*where).values(suspended_at=clock()))


def _installation(outcome: Request | Hint | Declined | LifecycleEvent) -> int:
    return outcome.installation_id if isinstance(outcome, LifecycleEvent) else outcome.repo.installation_id


async def _handle(loop: Loop, guid: str, outcome: Outcome) -> Decision:
    if not isinstance(outcome, Ignored) and not _installation(outcome):
        return NOT_OURS
    match outcome:
        case Request():
            return await take_request(loop, guid, outcome)
        case Hint():
            return await take_hint(loop, outcome)
        case LifecycleEvent():
            noted = await take_lifecycle_event(loop, outcome)
            opened = outcome.change in OPENED and noted.session_id is None
            return await take_opened(loop, outcome) if opened else noted
        case Declined():
            return await decline(loop, outcome)
        case Ignored():
            return Decision("ignored", outcome.reason)


async def _record(loop: Loop, guid: str, decision: Decision) -> None:
    async with loop.database.write() as tx:
        await record(tx, loop.leases.worker, {guid: decision}, loop.clock())


async def _release(loop: Loop, guid: str, due_at: float | None) -> None:
    async with loop.database.write() as tx:
        await tx.execute(
            update(Delivery)
            .where(Delivery.guid == guid, Delivery.lease_by == loop.leases.worker)
            .values(due_at=due_at, lease_until=None, lease_by=None, begun=0, tries=Delivery.tries + 1)
        )

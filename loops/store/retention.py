"""What is kept for how long: old deliveries, what happened in old sessions, and evidence leave in small steps."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import structlog
from sqlalchemy import and_, delete, or_, select, update

from loops.options import LoopOptions
from loops.store.access_tables import DeviceApproval, IdempotencyKey, PersonalToken
from loops.store.database import Database
from loops.store.notification_tables import Notification
from loops.store.service_state import by_one_process, remember, remembered
from loops.store.service_tables import PassingLog
from loops.store.states import OPEN_SESSION
from loops.store.tables import Delivery, Event, Session, Turn

log = structlog.get_logger(__name__)

KEY = "retention"
DAY = 86_400.0
STEP = 500
"""Rows in one transaction: others wait for no more than that."""
KEEP_TOKENS_DAYS = 365
"""For how long a token that is over is told apart from one that never was, in the database."""
STEPS = 200
"""Steps of one round; what is left is for the next one."""
EVIDENCE = "evidence"
"""The kind of the events in which evidence is kept, see `loops.checks.shown_evidence`."""


Part = Literal["evidence", "events"]


@dataclass
class Removed:
    """What one round removed, in rows."""

    deliveries: int = 0
    events: int = 0
    evidence: int = 0


@dataclass
class Round:
    """One round. `marks`: for each part, the last session that is done with it, as (when it ended, its id)."""

    database: Database
    marks: dict[str, tuple[float, int]]
    steps: int
    removed: Removed = field(default_factory=Removed)


async def forget_old(
    database: Database, options: LoopOptions, *, clock: Callable[[], float] = time.time
) -> Removed | None:
    """One round of one process; None while another process is at it. Dying in the middle leaves the rest for later."""
    async with by_one_process(database, KEY, clock=clock) as mine:
        if not mine:
            return None
        now = clock()
        async with database.read() as tx:
            marks = await remembered(tx, KEY) or {}
        round = Round(database, {part: (at, last) for part, (at, last) in marks.items()}, STEPS)
        await _deliveries(round, now - options.keep_deliveries_days * DAY)
        await _sessions(round, "evidence", now - options.keep_evidence_days * DAY)
        await _templates(round, now - options.keep_evidence_days * DAY)
        await _calls(round, now)
        await _notifications(round, now - options.keep_deliveries_days * DAY)
        await _sessions(round, "events", now - options.keep_events_days * DAY)
        await remember(database, KEY, round.marks, now=now)
    if any(vars(round.removed).values()):
        log.info("retention.removed", **vars(round.removed))
    return round.removed


async def _deliveries(round: Round, before: float) -> None:
    """Those that were decided; one that is still to be decided stays, however old."""
    old = select(Delivery.guid).where(Delivery.received_at < before, Delivery.status == "done")
    step = delete(Delivery).where(Delivery.guid.in_(old.order_by(Delivery.received_at).limit(STEP)))
    while round.steps > 0:
        round.steps -= 1
        async with round.database.write() as tx:
            count = _rows(await tx.execute(step))
        round.removed.deliveries += count
        if count < STEP:
            return


async def _templates(round: Round, before: float) -> None:
    """What jobs print while they pass; it is fetched again where a job of that name turns red."""
    async with round.database.write() as tx:
        round.removed.evidence += _rows(await tx.execute(delete(PassingLog).where(PassingLog.fetched_at < before)))


async def _calls(round: Round, now: float) -> None:
    """Keys of calls that are a day old, answers that no device came for, and tokens that ended long ago."""
    over = PersonalToken.expires_at < now - KEEP_TOKENS_DAYS * DAY
    async with round.database.write() as tx:
        await tx.execute(delete(IdempotencyKey).where(IdempotencyKey.created_at < now - DAY))
        await tx.execute(delete(DeviceApproval).where(DeviceApproval.expires_at < now))
        await tx.execute(delete(PersonalToken).where(over))


async def _notifications(round: Round, before: float) -> None:
    """What nobody took, or nobody is told of any more: the last try was long before."""
    async with round.database.write() as tx:
        await tx.execute(delete(Notification).where(Notification.at < before))


async def _sessions(round: Round, part: Part, before: float) -> None:
    """Remove `part` of the sessions that ended before, in the order in which they ended."""
    while round.steps > 0:
        at, last = round.marks.get(part, (0.0, 0))
        behind = or_(Session.completed_at > at, and_(Session.completed_at == at, Session.id > last))
        ended = select(Session.id, Session.completed_at).where(
            Session.completed_at.is_not(None), Session.completed_at >= at, Session.completed_at < before, behind
        )
        async with round.database.read() as tx:
            found = (await tx.execute(ended.order_by(Session.completed_at, Session.id).limit(STEP))).all()
        for session, completed_at in found:
            if not await _remove(round, part, session):
                return
            round.marks[part] = (completed_at or at, session)
        if len(found) < STEP:
            return


async def _remove(round: Round, part: Part, session: int) -> bool:
    """Whether all of it is gone now. Nothing of a session that somebody woke meanwhile goes."""
    ended = select(Session.id).where(Session.id == session, Session.status.not_in(OPEN_SESSION)).scalar_subquery()
    where = [Event.session_id == session, *([Event.kind == EVIDENCE] if part == "evidence" else [])]
    oldest = select(Event.seq).where(*where).order_by(Event.seq).limit(STEP)
    step = delete(Event).where(*where, Event.session_id == ended, Event.seq.in_(oldest))
    count = STEP
    while count == STEP:
        if round.steps <= 0:
            return False
        round.steps -= 1
        async with round.database.write() as tx:
            count = _rows(await tx.execute(step))
            if part == "events" and count < STEP:
                # and what turns were told, reported and changed, word for word
                values: dict[str, Any] = {"result": None, "spec": None, "parser_state": {}}
                await tx.execute(update(Turn).where(Turn.session_id == ended).values(**values))
                await tx.execute(update(Session).where(Session.id == ended).values(diff=None))
        setattr(round.removed, part, getattr(round.removed, part) + count)
    return True


def _rows(result: Any) -> int:
    return int(result.rowcount)

"""Places for turns, in SQL: who may start, whose box is up, and who makes room. One worker at a time takes one.

A turn holds its place, and its box, from the moment that `Turn.box` is set until it is reported or has ended.
"""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import load_only

from loops.boxes.owners import Owner, give, new_box, owner_key, owner_of
from loops.boxes.queue import Bounds, MayStart, Up, Verdict, Wait, Waiting, schedule
from loops.context import Clock, Loop
from loops.options import LoopOptions
from loops.protocol.tokens import renew_token
from loops.store.database import Database, alone
from loops.store.leases import make_due
from loops.store.locking import locked
from loops.store.states import OPEN_SESSION, TurnKind, TurnStatus
from loops.store.tables import Box, Session, Turn

HOLDING = (TurnStatus.QUEUED, TurnStatus.READY, TurnStatus.RUNNING)
LOCK = "boxes"
REPAIR_WAITS_SECONDS = 900.0
"""So long people go before a repair that red checks began; after that it has its place by age, as everybody has."""


@dataclass(frozen=True)
class Slot:
    """The turn has its place in `box`; the boxes `ends` made room for it and are to be stopped."""

    box: Box
    ends: tuple[str, ...] = ()


def bounds(options: LoopOptions) -> Bounds:
    """How many at once."""
    return Bounds(options.running_sessions, options.box_limit_installation, options.box_limit)


def busy_boxes() -> Select[str | None]:
    """The names of boxes that a turn holds."""
    return select(Turn.box).where(Turn.box.is_not(None), Turn.status.in_(HOLDING))


async def read_queue(tx: AsyncSession, loop: Loop, *, turn_id: int | None = None) -> dict[int, Verdict]:
    """What becomes of each turn that has no place yet.

    A session whose steps fail and that is to be tried later holds up nobody behind it, unless it is that of `turn_id`;
    neither does a turn that waits for its model's provider.
    """
    now = loop.clock()
    patient: ColumnElement[bool] = or_(Session.failures == 0, Session.due_at.is_(None), Session.due_at <= now)
    found = await tx.execute(
        select(Turn, Session, (Turn.kind == TurnKind.CHECKS).label("repairs"))
        # and no more of them: a row that cannot be read, as one of a newer version, must not stop everybody's line
        .options(
            load_only(Turn.id, Turn.owner_id, Turn.requested_by, Turn.created_at, raiseload=True),
            load_only(Session.id, Session.installation_id, Session.repository_id, raiseload=True),
        )
        .join(Session, Session.id == Turn.session_id)
        .where(Turn.status == TurnStatus.QUEUED, Turn.box.is_(None), Session.status.in_(OPEN_SESSION))
        .where(or_(patient, Turn.id == turn_id))
        .where(or_(Turn.retry_at.is_(None), Turn.retry_at <= now))
        .order_by(Turn.id)
    )
    line = sorted(found, key=lambda row: (row.repairs and _may_wait(row[0], now), row[0].id))
    queued = [(turn.id, session.installation_id, owner_key(loop.options, session, turn)) for turn, session, _ in line]
    if not queued:
        return {}
    busy = set((await tx.execute(busy_boxes())).scalars())
    boxes = (await tx.execute(select(Box).where(Box.stopped_at.is_(None)))).scalars()
    up = [Up(box.name, box.owner_key, box.installation_id, box.name in busy, box.used_at) for box in boxes]
    keys = {key for _, _, key in queued}
    homes = set((await tx.execute(select(Box.owner_key).where(Box.owner_key.in_(keys)))).scalars())
    return schedule(
        (Waiting(turn, where, key, key not in homes) for turn, where, key in queued), up, bounds(loop.options)
    )


def _may_wait(repair: Turn, now: float) -> bool:
    """Whether a repair stands behind the turns of people: one that nobody looks at, until it has waited long."""
    return repair.requested_by is None and now - repair.created_at < REPAIR_WAITS_SECONDS


async def take_slot(loop: Loop, session: Session, turn_id: int) -> Slot | Wait | None:
    """Take a place for the turn, and its box; or say what it waits for. None when the turn waits no more."""
    now = loop.clock()
    async with loop.database.write() as tx:
        await alone(tx, LOCK)
        turn = await locked(tx, Turn, turn_id)
        if turn.status != TurnStatus.QUEUED:
            return None
        held = await tx.get(Box, turn.box) if turn.box else None
        if held is not None and held.owner_key == owner_key(loop.options, session, turn):
            return Slot(held)
        turn.box = None  # it is not there any more, or the turn is somebody else's by now
        await tx.flush()
        verdict = (await read_queue(tx, loop, turn_id=turn_id)).get(turn_id)
        if not isinstance(verdict, MayStart):
            return verdict
        box = await _box_for(tx, loop, owner_of(loop.options, session, turn.owner_id), verdict, now)
        renew_token(box, loop.box_key, loop.options, now)
        box.used_at, box.stopped_at = now, None
        turn.box, turn.waits = box.name, None
        if verdict.ends:
            await tx.execute(update(Box).where(Box.name.in_(verdict.ends)).values(stopped_at=now))
    return Slot(box, verdict.ends)


async def _box_for(tx: AsyncSession, loop: Loop, owner: Owner, verdict: MayStart, now: float) -> Box:
    """The owner's box; else the spare that is up for it; else a new one."""
    own = (await tx.execute(select(Box).where(Box.owner_key == owner.key))).scalar_one_or_none()
    if own is not None:
        return own
    spare = await tx.get(Box, verdict.box) if verdict.box else None
    if spare is not None:
        give(spare, owner)
        return spare
    made = new_box(loop.instance, owner, now)
    tx.add(made)
    return made


async def end_longest_idle(clock: Clock, database: Database, but: str) -> str | None:
    """Mark the box that was used last longest ago, of those without a turn, as stopped: its name, for its end."""
    async with database.write() as tx:
        await alone(tx, LOCK)
        idle = select(Box).where(Box.stopped_at.is_(None), Box.name != but, Box.name.not_in(busy_boxes()))
        box = (await tx.execute(idle.order_by(Box.used_at, Box.name).limit(1))).scalar_one_or_none()
        if box is not None:
            box.stopped_at = clock()
    return box.name if box is not None else None


async def call_queue(loop: Loop) -> None:
    """A place may have become free: have the turns that may start now looked at, and no others."""
    async with loop.database.read() as tx:
        verdicts = await read_queue(tx, loop)
    starting = [turn for turn, verdict in verdicts.items() if isinstance(verdict, MayStart)]
    if not starting:
        return
    async with loop.database.write() as tx:
        sessions = (await tx.execute(select(Turn.session_id).where(Turn.id.in_(starting)))).scalars()
        for session in set(sessions):
            await make_due(tx, session, loop.clock())

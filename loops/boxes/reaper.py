"""Keeping the boxes: idle ones are stopped, forgotten homes deleted, spares kept up, orphans in the cluster removed."""

import structlog
from sqlalchemy import ColumnElement, and_, delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from k8s.boxes import Boxes, BoxesUnavailable, BoxState, Known
from loops.boxes import warm_spares
from loops.boxes.box import ensure_box
from loops.boxes.capacity import busy_boxes
from loops.boxes.owners import is_outdated
from loops.boxes.troubles import note_trouble
from loops.context import Clock, Loop
from loops.protocol.tokens import renew_token
from loops.store.database import Database
from loops.store.states import OPEN_SESSION
from loops.store.tables import Box, Session, Turn

log = structlog.get_logger(__name__)

MINUTE, DAY = 60.0, 86400.0
YOUNG_SECONDS = 120.0
"""So long after it was taken a box may still be on its way into the cluster."""


async def reap(loop: Loop) -> None:
    """One round, safe to run by several workers at once. What cannot be reached now is left for the next round."""
    try:
        living = {box.name for box in await loop.boxes.list() if box.state is not BoxState.ABSENT}
        await _mark_gone(loop.clock, loop.database, living)
        await _mark_idle(loop)
        await _delete_outdated(loop)
        await _stop_marked(loop.boxes, loop.database, living)
        await _delete_homes(loop)
        await _renew_tokens(loop, living)
        await warm_spares.keep(loop)
        await _reconcile(loop)
    except BoxesUnavailable as error:
        log.warning("box.reaper_postponed", error=str(error))


async def known_boxes(tx: AsyncSession) -> dict[str, Known]:
    """What the database has of each box. A box was used last when it was asked for, or was heard of with its turn."""
    busy = set((await tx.execute(busy_boxes())).scalars())
    boxes = (await tx.execute(select(Box))).scalars().all()
    return {
        box.name: Known(
            busy=box.name in busy,
            used_at=box.used_at,
            spare=box.owner_key is None and box.stopped_at is None,
        )
        for box in boxes
    }


async def end_box_of(loop: Loop, session: Session) -> None:
    """The session has ended: so do the boxes that were for it alone, one for each who asked, with their homes."""
    async with loop.database.read() as tx:
        names = (await tx.execute(select(Box.name).where(Box.session_id == session.id))).scalars().all()
    for name in names:
        try:
            await _delete_home(loop, name, Box.session_id == session.id)
        except BoxesUnavailable as error:
            log.warning("box.reaper_postponed", box=name, error=str(error))


async def _mark_idle(loop: Loop) -> None:
    limit = loop.clock() - loop.options.box_idle_minutes * MINUTE
    async with loop.database.read() as tx:
        known = await known_boxes(tx)
        up = (await tx.execute(select(Box).where(Box.stopped_at.is_(None), Box.owner_key.is_not(None)))).scalars()
        idle = {box.name: box.used_at for box in up if not known[box.name].busy and known[box.name].used_at < limit}
    for name, used_at in sorted(idle.items()):
        async with loop.database.write() as tx:
            # Only if nobody has asked for the box since we looked.
            free = and_(Box.name == name, Box.used_at == used_at, Box.name.not_in(busy_boxes()))
            await tx.execute(update(Box).where(free).values(stopped_at=loop.clock()))
            log.info("box.idle", box=name)


async def _mark_gone(clock: Clock, database: Database, living: set[str]) -> None:
    """A box that ended by itself holds no place any more: what counts as up is what is there.

    One that was taken a moment ago may be made just now; one that holds a turn is that turn's trouble; spares are
    made anew.
    """
    limit = clock() - YOUNG_SECONDS
    async with database.write() as tx:
        gone = and_(
            Box.stopped_at.is_(None),
            Box.owner_key.is_not(None),
            Box.used_at < limit,
            Box.name.not_in(living),
            Box.name.not_in(busy_boxes()),
        )
        found = await tx.execute(update(Box).where(gone).values(stopped_at=clock()).returning(Box.name))
        for name in found.scalars().all():
            log.info("box.gone", box=name)


async def _delete_outdated(loop: Loop) -> None:
    """Boxes of another isolation than the present one, whose turns have ended: nobody will use them or their homes."""
    async with loop.database.read() as tx:
        boxes = (await tx.execute(select(Box).where(Box.name.not_in(busy_boxes())))).scalars().all()
    for box in boxes:
        if is_outdated(box, loop.options.box_isolation):
            await _delete_home(loop, box.name, Box.owner_key == box.owner_key)


async def _stop_marked(boxes: Boxes, database: Database, living: set[str]) -> None:
    """Stop what is up and should not be: just found idle, or left by a worker that died before it could."""
    async with database.read() as tx:
        stopped = (await tx.execute(select(Box.name).where(Box.stopped_at.is_not(None)))).scalars().all()
    for name in sorted(living & set(stopped)):
        await boxes.stop(name)


async def _renew_tokens(loop: Loop, living: set[str]) -> None:
    """Boxes that stay up have a new token in time, whether a turn comes or not. It is written into the box again until
    the box has shown it."""
    async with loop.database.write() as tx:
        up = await tx.execute(
            select(Box)
            .where(Box.stopped_at.is_(None), Box.name.in_(living))
            .order_by(Box.name)
            .with_for_update(key_share=True)
        )
        due = [
            box.name
            for box in up.scalars()
            if renew_token(box, loop.box_key, loop.options, loop.clock()) or box.former_hash is not None
        ]
    for name in due:
        async with loop.database.read() as tx:
            still = await tx.get(Box, name)
        if still is not None and still.stopped_at is None:
            await ensure_box(loop, still)


async def _delete_homes(loop: Loop) -> None:
    limit = loop.clock() - loop.options.box_home_days * DAY
    async with loop.database.read() as tx:
        known = await known_boxes(tx)
        stopped = (await tx.execute(select(Box).where(Box.stopped_at.is_not(None)))).scalars().all()
        over = select(Box).join(Session, Session.id == Box.session_id).where(Session.status.not_in(OPEN_SESSION))
        ended = (await tx.execute(over)).scalars().all()
    for box in stopped:
        if not known[box.name].busy and (box.owner_key is None or known[box.name].used_at < limit):
            await _delete_home(loop, box.name, Box.stopped_at.is_not(None))
    for box in ended:
        if not known[box.name].busy:
            await _delete_home(loop, box.name, Box.session_id == box.session_id)


async def _delete_home(loop: Loop, name: str, still: ColumnElement[bool]) -> None:
    free = and_(Box.name == name, still, Box.name.not_in(busy_boxes()))
    async with loop.database.write() as tx:
        marked = update(Box).where(free).values(stopped_at=loop.clock()).returning(Box.name)
        if (await tx.execute(marked)).scalar_one_or_none() is None:
            return
    # The row goes last: a worker that dies in between leaves it, and the next round does it again.
    await loop.boxes.delete_home(name)
    async with loop.database.write() as tx:
        await tx.execute(delete(Box).where(free, Box.stopped_at.is_not(None)))
        # the CLIs' conversations were in that home: whoever goes on with a session tells the agent what went before
        were_there = Session.id.in_(select(Turn.session_id).where(Turn.box == name))
        await tx.execute(update(Session).where(were_there).values(resume={}))
    log.info("box.home_deleted", box=name)


async def _reconcile(loop: Loop) -> None:
    async def still_free(name: str) -> bool:
        async with loop.database.read() as tx:
            found = (await known_boxes(tx)).get(name)
        return found is None or not (found.busy or found.spare)

    async with loop.database.read() as tx:
        known = await known_boxes(tx)
    found = await loop.boxes.reconcile(
        known,
        confirm=still_free,
        now=loop.clock(),
        idle_seconds=loop.options.box_idle_minutes * MINUTE,
        home_seconds=loop.options.box_home_days * DAY,
    )
    if found.deleted:
        log.info("box.orphans_deleted", boxes=found.deleted)
    for name in found.missing:
        await note_trouble(loop.clock, loop.database, name)

"""Keeping the boxes: idle ones are stopped, forgotten homes deleted, orphans in the cluster removed."""

import structlog
from sqlalchemy import Select, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from k8s.boxes import BoxesUnavailable
from k8s.kubernetes_boxes import KubernetesBoxes
from k8s.reconcile import Known
from loops.context import Loop
from loops.tables import Box, Turn

log = structlog.get_logger(__name__)

DAY = 86400.0


async def upkeep(loop: Loop) -> None:
    """One round, safe to run by several workers at once. What cannot be reached now is left for the next round."""
    try:
        await _stop_idle(loop)
        await _delete_homes(loop)
        if isinstance(loop.boxes, KubernetesBoxes):
            await _reconcile(loop, loop.boxes)
    except BoxesUnavailable as error:
        log.warning("box.upkeep_postponed", error=str(error))


async def known_boxes(tx: AsyncSession) -> dict[str, Known]:
    """What the database has of each box. A box was used last when it was asked for, or its last turn ended."""
    busy = {name for name in (await tx.execute(_busy_boxes())).scalars() if name}
    ends = dict((await tx.execute(select(Turn.box, func.max(Turn.finished_at)).group_by(Turn.box))).tuples().all())
    boxes = (await tx.execute(select(Box))).scalars().all()
    return {
        box.name: Known(busy=box.name in busy, used_at=max(box.used_at, ends.get(box.name) or 0.0)) for box in boxes
    }


async def _stop_idle(loop: Loop) -> None:
    limit = loop.clock() - loop.options.box_idle_minutes * 60
    async with loop.database.read() as tx:
        known = await known_boxes(tx)
        living = (await tx.execute(select(Box.name, Box.used_at).where(Box.stopped_at.is_(None)))).tuples().all()
    for name, used_at in living:
        if known[name].busy or known[name].used_at >= limit:
            continue
        async with loop.database.write() as tx:
            # Only if nobody has asked for the box since we looked.
            free = (Box.name == name, Box.used_at == used_at, Box.name.not_in(_busy_boxes()))
            marked = update(Box).where(*free).values(stopped_at=loop.clock()).returning(Box.name)
            ours = (await tx.execute(marked)).scalar_one_or_none()
        if ours is not None:
            await loop.boxes.stop(name)
            log.info("box.idle", box=name)


async def _delete_homes(loop: Loop) -> None:
    limit = loop.clock() - loop.options.box_home_days * DAY
    async with loop.database.read() as tx:
        known = await known_boxes(tx)
        stopped = (await tx.execute(select(Box.name).where(Box.stopped_at.is_not(None)))).scalars().all()
    for name in stopped:
        if known[name].busy or known[name].used_at >= limit:
            continue
        async with loop.database.write() as tx:
            # The row goes first: who asks for the box from now on makes it anew, with a new home.
            free = (Box.name == name, Box.stopped_at.is_not(None), Box.name.not_in(_busy_boxes()))
            gone = (await tx.execute(delete(Box).where(*free).returning(Box.name))).scalar_one_or_none()
        if gone is not None:
            await loop.boxes.delete_home(name)
            log.info("box.home_deleted", box=name)


async def _reconcile(loop: Loop, boxes: KubernetesBoxes) -> None:
    async def still_free(name: str) -> bool:
        async with loop.database.read() as tx:
            found = (await known_boxes(tx)).get(name)
        return found is None or not found.busy

    async with loop.database.read() as tx:
        known = await known_boxes(tx)
    plan = await boxes.reconcile(
        known,
        confirm=still_free,
        now=loop.clock(),
        idle_seconds=loop.options.box_idle_minutes * 60,
        home_seconds=loop.options.box_home_days * DAY,
    )
    if plan.missing:
        # Their turns fall silent, and are looked at one by one.
        log.warning("box.missing", boxes=plan.missing)


def _busy_boxes() -> Select[str | None]:
    return select(Turn.box).where(Turn.box.is_not(None), Turn.status.in_(("ready", "running")))

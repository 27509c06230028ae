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
    found = await tx.execute(select(Turn.box, func.max(Turn.finished_at)).group_by(Turn.box))
    ends: dict[str | None, float | None] = dict(found.all())
    boxes = (await tx.execute(select(Box))).scalars().all()
    return {
        box.name: Known(busy=box.name in busy, used_at=max(box.used_at, ends.get(box.name) or 0.0)) for box in boxes
    }


async def _stop_idle(loop: Loop) -> None:
    limit = loop.clock() - loop.options.box_idle_minutes * 60
    living = {box.name for box in await loop.boxes.list() if box.usable}
    async with loop.database.read() as tx:
        known = await known_boxes(tx)
        asked = {box.name: box.used_at for box in (await tx.execute(select(Box))).scalars()}
    for name in sorted(living & known.keys()):
        if known[name].busy or known[name].used_at >= limit:
            continue
        async with loop.database.write() as tx:
            # Only if nobody has asked for the box since we looked.
            free = (Box.name == name, Box.used_at == asked[name], Box.name.not_in(_busy_boxes()))
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
        # The row goes last: a worker that dies in between leaves it, and the next round does it again.
        await loop.boxes.delete_home(name)
        async with loop.database.write() as tx:
            free = (Box.name == name, Box.stopped_at.is_not(None), Box.name.not_in(_busy_boxes()))
            await tx.execute(delete(Box).where(*free))
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

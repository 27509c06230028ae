"""What workers do when triggered, and the sweep that triggers whatever was forgotten."""

from typing import Any

from arq.worker import Function, func
from sqlalchemy import and_, or_, select

from loops.context import Loop
from loops.engine.advance import advance
from loops.requests.route import route
from loops.store.leases import Leased, key_of
from loops.store.tables import Delivery, Session

SWEEP_LIMIT = 500
RESEND_SECONDS = 15
TASK_SECONDS = 300


async def task_advance(ctx: dict[str, Any], session_id: int) -> None:
    """Bring a session as far as it will go now."""
    await advance(ctx["loop"], session_id)


async def task_route(ctx: dict[str, Any], guid: str) -> None:
    """Decide what a delivery means."""
    await route(ctx["loop"], guid)


def functions() -> list[Function]:
    """The tasks under the names that triggers use."""
    return [
        func(task_advance, name="advance", timeout=TASK_SECONDS, keep_result=0, max_tries=1),
        func(task_route, name="route", timeout=TASK_SECONDS, keep_result=0, max_tries=1),
    ]


async def sweep(loop: Loop) -> int:
    """Trigger every row that is due, or whose worker died. How many triggers were sent.

    A worker that was killed leaves its trigger's name taken in Redis for as long as the longest task may last. The name
    therefore changes every few seconds; the lease in the row sees to it that a second trigger does nothing.
    """
    now = loop.clock()
    sent = 0
    tables: tuple[tuple[Leased, str], ...] = ((Session, "advance"), (Delivery, "route"))
    for table, task in tables:
        free = or_(table.lease_until.is_(None), table.lease_until < now)
        due = or_(and_(table.due_at <= now, free), table.lease_until < now)
        async with loop.database.read() as tx:
            found = (await tx.execute(select(key_of(table)).where(due).limit(SWEEP_LIMIT))).scalars().all()
        for one in found:
            sent += await loop.queue.send(task, one, f"{task}:{one}:sweep:{int(now // RESEND_SECONDS)}")
    return sent

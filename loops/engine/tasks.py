"""What workers do when triggered, and the sweep that triggers whatever was forgotten."""

from collections.abc import Awaitable, Callable
from typing import Any

from arq.worker import Function
from arq.worker import func as task
from sqlalchemy import ColumnElement, Select, and_, case, func, literal, or_, select

from github.webhooks.events import PEOPLE
from loops.context import Loop
from loops.engine.advance import advance
from loops.engine.shares import Shares
from loops.requests.route import route
from loops.store.leases import Leased, key_of
from loops.store.tables import Delivery, Session

SWEEP_LIMIT = 500
RESEND_SECONDS = 15
TASK_SECONDS = 300


async def task_advance(ctx: dict[str, Any], session_id: int) -> None:
    """Bring a session as far as it will go now."""
    await _in_place(ctx, Session, session_id, advance)


async def task_route(ctx: dict[str, Any], guid: str) -> None:
    """Decide what a delivery means."""
    await _in_place(ctx, Delivery, guid, route)


async def _in_place(ctx: dict[str, Any], table: Leased, key: Any, step: Callable[[Loop, Any], Awaitable[None]]) -> None:
    """The step, if its installation has not its share of this worker yet; else the row stays due, and the sweep
    triggers it again."""
    loop: Loop = ctx["loop"]
    async with loop.database.read() as tx:
        found = await tx.execute(select(table.installation_id).where(key_of(table) == key))
    shares: Shares = ctx["shares"]
    with shares.place(found.scalar_one_or_none()) as free:
        if free:
            await step(loop, key)


def functions() -> list[Function]:
    """The tasks under the names that triggers use."""
    return [
        task(task_advance, name="advance", timeout=TASK_SECONDS, keep_result=0, max_tries=1),
        task(task_route, name="route", timeout=TASK_SECONDS, keep_result=0, max_tries=1),
    ]


async def sweep(loop: Loop) -> int:
    """Trigger every row that is due, or whose worker died: one of each installation after the other, and of one
    installation what people wrote first. How many triggers were sent.

    A worker that was killed leaves its trigger's name taken in Redis for as long as the longest task may last. The name
    therefore changes every few seconds; the lease in the row sees to it that a second trigger does nothing.
    """
    now = loop.clock()
    sent = 0
    tables: tuple[tuple[Leased, str], ...] = ((Session, "advance"), (Delivery, "route"))
    for table, name in tables:
        free = or_(table.lease_until.is_(None), table.lease_until < now)
        due = or_(and_(table.due_at <= now, free), table.lease_until < now)
        async with loop.database.read() as tx:
            found = (await tx.execute(_in_turn(table, due))).all()
        for one, place in found:
            sent += await loop.queue.send(name, one, f"{name}:{one}:sweep:{int(now // RESEND_SECONDS)}", place=place)
    return sent


def _in_turn(table: Leased, due: ColumnElement[bool]) -> Select[tuple[Any, int]]:
    """The keys of the rows that are due, each with its place among those of its installation; first places first."""
    first = case((_from_people(), 0), else_=1) if table is Delivery else literal(0)
    number = func.row_number().over(partition_by=table.installation_id, order_by=(first, table.due_at))
    ranked = select(key_of(table).label("key"), (number - 1).label("place")).where(due).subquery()
    return select(ranked.c.key, ranked.c.place).order_by(ranked.c.place).limit(SWEEP_LIMIT)


def _from_people() -> ColumnElement[bool]:
    return or_(
        *(
            and_(Delivery.event == event, Delivery.action.in_(actions)) if actions else Delivery.event == event
            for event, actions in PEOPLE.items()
        )
    )

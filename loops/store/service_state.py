"""What the service as a whole remembers from one process to the next, and work that only one process does at a time."""

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any

from sqlalchemy import Update, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from loops.store.background import end
from loops.store.database import Database
from loops.store.service_tables import ServiceState

HELD_SECONDS = 30.0
"""For which work is held before it is renewed: what one who died was at goes on that much later."""


async def remembered(tx: AsyncSession, key: str) -> dict[str, Any] | None:
    """What is remembered under `key`; None if nothing is."""
    return (await tx.execute(select(ServiceState.value).where(ServiceState.key == key))).scalar_one_or_none()


async def remember(database: Database, key: str, value: dict[str, Any], *, now: float) -> None:
    """Remember `value` under `key`, in the place of what stood there."""
    insert = sqlite.insert if database.sqlite else postgresql.insert
    row = {"key": key, "value": value, "updated_at": now}
    changed = {"value": value, "updated_at": now}
    async with database.write() as tx:
        await tx.execute(insert(ServiceState).values(row).on_conflict_do_update(index_elements=["key"], set_=changed))


@contextlib.asynccontextmanager
async def by_one_process(
    database: Database, key: str, *, seconds: float = HELD_SECONDS, clock: Callable[[], float]
) -> AsyncIterator[bool]:
    """Whether this process does, while the block runs, what goes with `key`: False while another one does.

    A process that dies lets go after `seconds`. One that stood still for longer may find that another one has begun.
    """
    me = uuid.uuid4().hex
    insert = sqlite.insert if database.sqlite else postgresql.insert
    now = clock()
    async with database.write() as tx:
        row = {"key": key, "updated_at": now}
        await tx.execute(insert(ServiceState).values(row).on_conflict_do_nothing())
        free = or_(ServiceState.lease_until.is_(None), ServiceState.lease_until < now)
        mine = update(ServiceState).where(ServiceState.key == key, free).values(lease_until=now + seconds, lease_by=me)
        taken = (await tx.execute(mine.returning(ServiceState.key))).first() is not None
    if not taken:
        yield False
        return
    mine = update(ServiceState).where(ServiceState.key == key, ServiceState.lease_by == me)
    renewing = asyncio.create_task(_renew(database, mine, seconds, clock), name=f"renew {key}")
    try:
        yield True
    finally:
        await end(renewing)
        async with database.write() as tx:
            await tx.execute(mine.values(lease_until=None, lease_by=None))


async def _renew(database: Database, mine: Update, seconds: float, clock: Callable[[], float]) -> None:
    while True:
        await asyncio.sleep(seconds / 3)
        with contextlib.suppress(SQLAlchemyError, OSError):  # an outage; the next time may come in time
            async with database.write() as tx:
                await tx.execute(mine.values(lease_until=clock() + seconds))

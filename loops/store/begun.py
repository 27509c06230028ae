"""Rows whose handling may end a process: how often each was begun without coming to an end, so that it is found out."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from sqlalchemy import or_, select, update

from loops.store.leases import Leased, Leases, key_of


@contextlib.asynccontextmanager
async def begun(
    leases: Leases, suspects: asyncio.Lock, table: Leased, key: int | str, *, claimed: bool = False
) -> AsyncIterator[int | None]:
    """Hold the row while the block runs: how many processes have ended over it so far, or None where another worker is
    at it. `claimed`: it is held already (`loops.store.claims`).

    One over which a process has ended is held with no other such beside it, so that the guilty one is found out. Who
    gives the row back in the block clears its `begun`: it came to an end. A block that is cancelled (the worker ends in
    good order, or the step's time is over) ended no process, nor did one of this very worker that raised.
    """
    async with contextlib.AsyncExitStack() as stack:
        deaths = 0
        if not claimed and not await leases.take(table, key, table.begun == 0, begun=1):
            left = await _left(leases, table, key)
            if left is None:
                yield None
                return
            counted, worker = left
            if worker != leases.worker:
                deaths = counted
                await stack.enter_async_context(suspects)
            if not await leases.take(table, key, table.begun == counted, begun=deaths + 1):
                yield None
                return
        await stack.enter_async_context(leases.kept(table, key))
        try:
            yield deaths
        except asyncio.CancelledError:
            await asyncio.shield(leases.let_go(table, key))
            raise


async def came_through(leases: Leases, table: Leased, key: int | str) -> None:
    """A step of the row that is held has ended well: what ended processes before is not what comes now."""
    async with leases.database.write() as tx:
        mine = (key_of(table) == key, table.lease_by == leases.worker)
        await tx.execute(update(table).where(*mine).values(begun=1))


async def _left(leases: Leases, table: Leased, key: int | str) -> tuple[int, str | None] | None:
    """How often the row was begun, and by whom last; None while somebody is at it, and once it came to an end."""
    free = or_(table.lease_until.is_(None), table.lease_until < leases.clock())
    async with leases.database.read() as tx:
        found = await tx.execute(select(table.begun, table.lease_by).where(key_of(table) == key, table.begun > 0, free))
    row = found.one_or_none()
    return (row[0], row[1]) if row is not None else None

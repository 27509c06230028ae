"""Who works on a row now. A lease in the row outlives Redis and ends by itself when its worker dies.

A row with `due_at` in the past and no living lease is free to take; so is one whose lease ran out. Whoever wants a row
looked at sets `due_at` (`make_due`); the holder gives it back only if it did not become due meanwhile: no wake is lost.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, or_, update
from sqlalchemy.ext.asyncio import AsyncSession

from loops.store.database import Database
from loops.store.tables import Delivery, Session

Leased = type[Session] | type[Delivery]


def key_of(table: Leased) -> Any:
    """The column that tells the rows of a leased table apart."""
    return Session.id if table is Session else Delivery.guid


@dataclass(frozen=True)
class Leases:
    """Leases of one worker; `worker` must be unique among all that live."""

    database: Database
    worker: str
    seconds: float
    clock: Callable[[], float] = time.time

    async def take(self, table: Leased, key: int | str, *where: ColumnElement[bool], **values: Any) -> bool:
        """Take the row, clear `due_at` and set `values`. False if another worker holds it, or `where` does not hold."""
        now = self.clock()
        async with self.database.write() as tx:
            done = await tx.execute(
                update(table)
                .where(key_of(table) == key, or_(table.lease_until.is_(None), table.lease_until < now), *where)
                .values(lease_until=now + self.seconds, lease_by=self.worker, due_at=None, **values)
            )
        return _rows(done) == 1

    async def again(self, table: Leased, key: int | str) -> bool:
        """Clear `due_at` if it is in the past; whether it was. For the holder, between two rounds."""
        async with self.database.write() as tx:
            done = await tx.execute(
                update(table)
                .where(key_of(table) == key, table.lease_by == self.worker, table.due_at <= self.clock())
                .values(due_at=None)
            )
        return _rows(done) == 1

    async def give_back(self, table: Leased, key: int | str) -> bool:
        """Give the row back: it came to an end. False if it became due meanwhile: look at it again first."""
        async with self.database.write() as tx:
            done = await tx.execute(
                update(table)
                .where(key_of(table) == key, table.lease_by == self.worker)
                .where(or_(table.due_at.is_(None), table.due_at > self.clock()))
                .values(lease_until=None, lease_by=None, begun=0)
            )
        return _rows(done) == 1

    async def let_go(self, table: Leased, *keys: int | str, at: float | None = None) -> None:
        """Give rows back as if they had not been taken; they are due at once, or `at` that time."""
        async with self.database.write() as tx:
            await tx.execute(
                update(table)
                .where(key_of(table).in_(keys), table.lease_by == self.worker)
                .values(lease_until=None, lease_by=None, begun=0, due_at=self.clock() if at is None else at)
            )

    @contextlib.asynccontextmanager
    async def kept(self, table: Leased, key: int | str) -> AsyncIterator[None]:
        """Renews the lease while the block runs; the block is cancelled if the lease was lost to another worker."""
        holder = asyncio.current_task()
        renewal = asyncio.create_task(self._renew(table, key, holder))
        try:
            yield
        finally:
            renewal.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await renewal

    async def _renew(self, table: Leased, key: int | str, holder: "asyncio.Task[Any] | None") -> None:
        while True:
            await asyncio.sleep(self.seconds / 3)
            async with self.database.write() as tx:
                done = await tx.execute(
                    update(table)
                    .where(key_of(table) == key, table.lease_by == self.worker)
                    .values(lease_until=self.clock() + self.seconds)
                )
            if _rows(done) != 1 and holder is not None:
                holder.cancel()
                return


async def make_due(tx: AsyncSession, session_id: int, at: float) -> None:
    """Have somebody look at the session at `at`, or sooner if it was due sooner already."""
    await tx.execute(
        update(Session)
        .where(Session.id == session_id, or_(Session.due_at.is_(None), Session.due_at > at))
        .values(due_at=at)
    )


def _rows(result: Any) -> int:
    return int(result.rowcount)

"""Which rows a worker takes next: due ones that nobody holds, many by one lease, each installation in its turn.

Whoever claims a row holds its lease and has begun it (`loops.store.begun`). Rows that a worker left behind are not
claimed: each is taken by itself, by whoever found it with `left_behind`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select, union_all, update
from sqlalchemy.ext.asyncio import AsyncSession

from loops.store.leases import Leased, Leases, key_of
from loops.store.states import Lane
from loops.store.tables import Delivery, Session

Tenant = int | None
Room = Callable[[Tenant], int]
"""How many rows of an installation there is still a place for."""

MOST_TENANTS = 64
"""Installations of which one claim takes rows; those behind them have their turn in the next one."""


@dataclass(frozen=True)
class Claimed:
    """A row that this worker holds."""

    key: Any
    installation_id: Tenant


def shares(tenants: Iterable[Tenant], after: int, most: int, room: Room) -> dict[Tenant, int]:
    """How many rows to take of each installation, `most` in all: as many of one as of the other, as far as each has
    room; those behind `after` come first."""
    open_to = sorted((tenant for tenant in tenants if room(tenant) > 0), key=_place)
    behind = [tenant for tenant in open_to if _place(tenant) > after]
    turn = [*behind, *open_to[: len(open_to) - len(behind)]][: min(most, MOST_TENANTS)]
    each, more = divmod(most, len(turn)) if turn else (0, 0)
    return {tenant: min(each + (place < more), room(tenant)) for place, tenant in enumerate(turn)}


def _place(tenant: Tenant) -> int:
    return tenant if tenant is not None else -1


class Claims:
    """What one part of a worker claims: deliveries of these `lanes`, in that order; none: sessions."""

    def __init__(self, leases: Leases, *lanes: Lane) -> None:
        self._leases = leases
        self._lanes = lanes
        self._table: Leased = Delivery if lanes else Session
        self._after = -1

    async def claim(self, most: int, room: Room) -> list[Claimed]:
        """Take up to `most` rows of the first lane that has any, of each installation no more than it has room for."""
        for lane in self._lanes or (None,):
            if found := await self._of_lane(lane, most, room):
                return found
        return []

    async def _of_lane(self, lane: Lane | None, most: int, room: Room) -> list[Claimed]:
        now = self._leases.clock()
        due = self._due(lane, now)
        async with self._leases.database.read() as tx:  # nearly always there is nothing: no writer waits for that
            tenants = (await tx.execute(_waiting(due) if lane is None else _waiting_in_lane(due))).scalars().all()
        share = shares(tenants, self._after, most, room)
        if not share:
            return []
        self._after = _place(list(share)[-1])
        async with self._leases.database.write() as tx:
            rows = await tx.execute(union_all(*(self._oldest(due, *each) for each in share.items())))
            claimed = [Claimed(key, tenant) for key, tenant in rows]
            if claimed:
                await self._lease(tx, [each.key for each in claimed], now)
        return claimed

    def _due(self, lane: Lane | None, now: float) -> Sequence[ColumnElement[bool]]:
        free = (self._table.lease_until.is_(None), self._table.due_at <= now)
        return free if lane is None else (Delivery.status == "new", Delivery.lane == int(lane), *free)

    def _oldest(self, due: Sequence[ColumnElement[bool]], tenant: Tenant, count: int) -> Select[Any]:
        rows = (
            select(key_of(self._table).label("key"), self._table.installation_id)
            .where(*due, self._table.installation_id.is_not_distinct_from(tenant))
            .order_by(self._table.due_at)
            .limit(count)
            .with_for_update(skip_locked=True, key_share=True)
        )
        return select(rows.subquery())

    async def _lease(self, tx: AsyncSession, keys: Sequence[Any], now: float) -> None:
        leases = self._leases
        await tx.execute(
            update(self._table)
            .where(key_of(self._table).in_(keys))
            .values(lease_until=now + leases.seconds, lease_by=leases.worker, due_at=None, begun=1)
            .execution_options(synchronize_session=False)
        )


async def left_behind(leases: Leases, table: Leased, most: int) -> list[Claimed]:
    """Rows whose worker let its lease run out, longest ago first."""
    late = (table.lease_until.is_not(None), table.lease_until < leases.clock())
    rows = select(key_of(table), table.installation_id).where(*late).order_by(table.lease_until).limit(most)
    async with leases.database.read() as tx:
        return [Claimed(*row) for row in await tx.execute(rows)]


async def next_due(leases: Leases) -> float | None:
    """When the next session becomes due, of those that are not yet; None if none does."""
    now = leases.clock()
    async with leases.database.read() as tx:
        found = await tx.execute(select(func.min(Session.due_at)).where(Session.due_at > now))
    return found.scalar()


def _waiting(due: Sequence[ColumnElement[bool]]) -> Select[Any]:
    """The installations of sessions that are due, which are few of all."""
    # plus nothing: for the sake of DISTINCT, SQLite would walk the index over the installations of all sessions
    return select(Session.installation_id + 0).where(*due).distinct()


def _waiting_in_lane(due: Sequence[ColumnElement[bool]]) -> Select[Any]:
    """The installations of the deliveries in a lane: one look at the index for each, however many it has there."""
    first = select(func.min(Delivery.installation_id).label("id")).where(*due).cte("tenants", recursive=True)
    following = select(func.min(Delivery.installation_id)).where(*due, Delivery.installation_id > first.c.id)
    tenants = first.union_all(select(following.scalar_subquery()).where(first.c.id.is_not(None)))
    nobody = select(Delivery.installation_id).where(*due, Delivery.installation_id.is_(None)).limit(1)
    return union_all(  # type: ignore[return-value]
        select(tenants.c.id).where(tenants.c.id.is_not(None)), select(nobody.subquery().c.installation_id)
    )

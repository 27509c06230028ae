"""Which rows a worker takes: on both databases, beside another worker, and of many installations."""

import asyncio
from collections import Counter
from typing import Any

import pytest
from sqlalchemy import update

from loops.store.arrivals import Arrival, arrivals
from loops.store.claims import Claimed, Claims, left_behind, shares
from loops.store.database import Database
from loops.store.leases import Leases
from loops.store.states import Lane
from loops.store.tables import Delivery
from tests.databases import on_sqlite

NOW = 1000.0


def any_number(_: int | None) -> int:
    return 100


def clock() -> float:
    return NOW


async def stored(database: Database, *of: tuple[int | None, str, int]) -> None:
    """So many deliveries of each (installation, event), the first ones oldest."""
    inbox = arrivals(database)
    rows = [(tenant, event, n) for tenant, event, count in of for n in range(count)]
    action = {"issue_comment": "created"}
    await inbox.store(
        [
            Arrival(f"{event}-{tenant}-{n}", event, action.get(event), tenant, 7, b"{}", NOW - 500 + place)
            for place, (tenant, event, n) in enumerate(rows)
        ]
    )
    await inbox.close()


def claims(database: Database, worker: str = "one") -> Claims:
    return Claims(Leases(database, worker, 10, clock), Lane.PEOPLE, Lane.NEWS, Lane.HINTS)


def of(claimed: list[Claimed]) -> dict[Any, int]:
    return dict(Counter(each.installation_id for each in claimed))


@pytest.mark.parametrize(
    ("tenants", "after", "most", "wanted"),
    [
        ([1], -1, 10, {1: 10}),
        ([1, 2, 3], -1, 10, {1: 4, 2: 3, 3: 3}),
        ([3, 1, 2], 1, 2, {2: 1, 3: 1}),
        ([3, 1, 2], 3, 2, {1: 1, 2: 1}),
        ([None, 1], -2, 2, {None: 1, 1: 1}),
        ([None, 1], -1, 1, {1: 1}),
        ([], -1, 5, {}),
        ([1], -1, 0, {}),
    ],
)
def test_places_are_shared_out_between_installations_in_turn(
    tenants: list[int | None], after: int, most: int, wanted: dict[int | None, int]
) -> None:
    assert shares(tenants, after, most, any_number) == wanted


def test_who_has_no_room_has_no_share() -> None:
    assert shares([1, 2], -1, 4, lambda tenant: 0 if tenant == 1 else 3) == {2: 3}


async def test_what_people_wrote_comes_first_and_no_installation_takes_all(database: Database) -> None:
    await stored(database, (1, "status", 30), (1, "issue_comment", 1), (2, "issue_comment", 1), (3, "push", 2))
    takes = claims(database)
    people = await takes.claim(8, any_number)
    assert {each.key for each in people} == {"issue_comment-1-0", "issue_comment-2-0"}
    assert of(await takes.claim(8, any_number)) == {1: 4, 3: 2}


async def test_a_delivery_that_names_no_installation_has_its_turn(database: Database) -> None:
    await stored(database, (1, "status", 20), (None, "status", 1))
    assert of(await claims(database).claim(4, any_number)) == {1: 2, None: 1}


async def test_two_workers_take_all_rows_once(database: Database) -> None:
    await stored(database, (1, "status", 40), (2, "status", 40))
    taken: list[Claimed] = []
    one, other = claims(database), claims(database, "other")
    while found := [
        each for part in await asyncio.gather(one.claim(9, any_number), other.claim(9, any_number)) for each in part
    ]:
        taken += found
    assert len(taken) == len({each.key for each in taken}) == 80


@on_sqlite
async def test_what_is_claimed_is_leased_and_begun_and_what_is_not_due_is_left(database: Database) -> None:
    await stored(database, (1, "status", 2))
    async with database.write() as tx:
        await tx.execute(update(Delivery).where(Delivery.guid == "status-1-0").values(due_at=NOW + 1))
    assert [each.key for each in await claims(database).claim(5, any_number)] == ["status-1-1"]
    async with database.read() as tx:
        row = await tx.get_one(Delivery, "status-1-1")
    assert (row.lease_by, row.lease_until, row.begun, row.due_at) == ("one", NOW + 10, 1, None)
    assert await claims(database, "other").claim(5, any_number) == []


@on_sqlite
async def test_rows_of_a_dead_worker_are_found_one_by_one_and_not_claimed(database: Database) -> None:
    await stored(database, (1, "status", 2))
    dead = Claims(Leases(database, "dead", -1, clock), Lane.HINTS)
    await dead.claim(1, any_number)
    living = Leases(database, "living", 10, clock)
    assert [each.key for each in await left_behind(living, Delivery, 5)] == ["status-1-0"]
    assert [each.key for each in await claims(database, "living").claim(5, any_number)] == ["status-1-1"]


@on_sqlite
async def test_what_is_let_go_is_due_at_once_and_was_not_begun(database: Database) -> None:
    await stored(database, (1, "status", 1))
    (claimed,) = await claims(database).claim(1, any_number)
    await Leases(database, "another", 10, clock).let_go(Delivery, claimed.key)
    assert await claims(database).claim(1, any_number) == []
    await Leases(database, "one", 10, clock).let_go(Delivery, claimed.key)
    assert await claims(database).claim(1, any_number) == [claimed]

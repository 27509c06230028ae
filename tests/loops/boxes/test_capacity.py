"""Places for turns on both databases: races between workers, spares, the order of the line."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest
from sqlalchemy import select, text, update

from github.webhooks.outcomes import Repo
from loops.boxes.capacity import REPAIR_WAITS_SECONDS, Slot, call_queue, end_longest_idle, take_slot
from loops.boxes.owners import blank
from loops.boxes.queue import Wait, Why
from loops.context import Loop
from loops.conversations.asking import add_turn, begin
from loops.options import LoopOptions
from loops.sessions.known_accounts import remember_repository
from loops.store.database import Database
from loops.store.tables import Box, Session, Turn
from tests.loops.asks import mention, topic

NOW = 1_000_000.0


def loop_of(database: Database, **options: object) -> Loop:
    chosen = LoopOptions.model_validate({"running_sessions": 100, "box_limit_installation": 100, **options})
    made = SimpleNamespace(
        database=database, options=chosen, clock=lambda: NOW, instance="greenloop", box_key=b"secret"
    )
    return cast(Loop, made)


@pytest.fixture
async def loop(database: Database) -> AsyncIterator[Loop]:
    async with database.write() as tx:
        await remember_repository(tx, Repo(id=7, full_name="acme/widgets", installation_id=3, default_branch="m"), NOW)
    yield loop_of(database)


async def asked(loop: Loop, person: int, number: int = 5, repository: int = 7) -> tuple[Session, int]:
    """A session of that person, with a turn in line."""
    async with loop.database.write() as tx:
        about = replace(topic(number), repository_id=repository)
        session = await begin(tx, about, mention(by=person), owner=person, cap=3, now=NOW)
        turn = (await tx.execute(select(Turn.id).where(Turn.session_id == session.id))).scalar_one()
    return session, turn


async def spare(loop: Loop, name: str) -> None:
    async with loop.database.write() as tx:
        tx.add(blank(name, NOW))


async def end_turn(loop: Loop, turn: int) -> None:
    async with loop.database.write() as tx:
        await tx.execute(update(Turn).where(Turn.id == turn).values(status="done"))


async def boxes(loop: Loop) -> list[Box]:
    async with loop.database.read() as tx:
        return list((await tx.execute(select(Box).order_by(Box.name))).scalars())


async def test_fifty_at_once_for_one_person_make_one_box_and_one_has_it(loop: Loop) -> None:
    turns = [await asked(loop, 42, number) for number in range(10)]
    workers = [loop_of(Database(loop.database.url)) for _ in range(3)]
    took = await asyncio.gather(*(take_slot(workers[number % 3], *turns[number % 10]) for number in range(50)))
    slots = [slot for slot in took if isinstance(slot, Slot)]
    assert {slot.box.name for slot in slots} == {"gl-greenloop-3-42-r7"}
    assert all(isinstance(each, Wait) and each.why is Why.OWN_BOX for each in took if not isinstance(each, Slot))
    async with loop.database.read() as tx:
        holders = (await tx.execute(select(Turn.id).where(Turn.box.is_not(None)))).scalars().all()
    assert len(holders) == 1
    assert [box.name for box in await boxes(loop)] == ["gl-greenloop-3-42-r7"]
    for worker in workers:
        await worker.database.close()


async def test_fifty_people_at_once_never_share_a_spare(loop: Loop) -> None:
    for number in range(20):
        await spare(loop, f"gl-spare-{number:02}")
    turns = [await asked(loop, 100 + number, number) for number in range(50)]
    workers = [loop_of(Database(loop.database.url)) for _ in range(3)]
    took = await asyncio.gather(*(take_slot(workers[n % 3], *each) for n, each in enumerate(turns)))
    names = [slot.box.name for slot in took if isinstance(slot, Slot)]
    assert len(names) == len(set(names)) == 50
    assert sum(name.startswith("gl-spare-") for name in names) == 20
    found = await boxes(loop)
    assert sorted(box.person_id or 0 for box in found) == [100 + number for number in range(50)]
    for worker in workers:
        await worker.database.close()


async def test_people_go_before_repairs_until_those_have_waited_long(loop: Loop) -> None:
    narrow = loop_of(loop.database, running_sessions=1)
    holder = await asked(loop, 1, 1)
    assert isinstance(await take_slot(narrow, *holder), Slot)
    repair, person = await asked(loop, 2, 2), await asked(loop, 3, 3)
    async with loop.database.write() as tx:
        await tx.execute(update(Turn).where(Turn.id == repair[1]).values(requested_by=None, kind="checks"))
    places = [await take_slot(narrow, *each) for each in (repair, person)]
    assert places == [Wait(Why.TURNS, 2), Wait(Why.TURNS, 1)]
    async with loop.database.write() as tx:
        await tx.execute(update(Turn).where(Turn.id == repair[1]).values(created_at=NOW - REPAIR_WAITS_SECONDS))
    assert [await take_slot(narrow, *each) for each in (repair, person)] == [Wait(Why.TURNS, 1), Wait(Why.TURNS, 2)]


async def test_a_person_keeps_the_spare_they_took_and_its_home(loop: Loop) -> None:
    await spare(loop, "gl-spare-1")
    first = await asked(loop, 42, 1)
    assert isinstance(await take_slot(loop, *first), Slot)
    await end_turn(loop, first[1])
    await spare(loop, "gl-spare-2")
    again = await take_slot(loop, *await asked(loop, 42, 2))
    assert isinstance(again, Slot)
    assert again.box.name == "gl-spare-1"


async def box_of(loop: Loop, placed: tuple[Session, int]) -> Box:
    slot = await take_slot(loop, *placed)
    assert isinstance(slot, Slot)
    return slot.box


@pytest.mark.parametrize(("isolation", "boxes_used"), [("repository", 2), ("session", 3), ("person", 1)])
async def test_the_work_of_one_person_shares_a_box_as_far_as_the_isolation_says(
    loop: Loop, isolation: str, boxes_used: int
) -> None:
    chosen = loop_of(loop.database, box_isolation=isolation)
    names = set()
    for number, repository in [(1, 7), (2, 7), (3, 8)]:
        session, turn = await asked(loop, 42, number, repository)
        names.add((await box_of(chosen, (session, turn))).name)
        await end_turn(loop, turn)
    assert len(names) == boxes_used


@pytest.mark.parametrize("isolation", ["repository", "session", "person"])
async def test_each_turn_of_a_session_runs_in_the_box_of_who_asked_for_it(loop: Loop, isolation: str) -> None:
    chosen = loop_of(loop.database, box_isolation=isolation)
    session, turn = await asked(loop, 42)
    first = await box_of(chosen, (session, turn))
    await end_turn(loop, turn)
    owners: list[int | None] = [43, None, 42]
    took = []
    for owner in owners:
        async with loop.database.write() as tx:
            row = await tx.get_one(Session, session.id)
            turn = (await add_turn(tx, row, mention(by=owner or 1), owner=owner, now=NOW)).id
        took.append(await box_of(chosen, (session, turn)))
        await end_turn(loop, turn)
    assert [box.person_id for box in took] == owners
    assert len({box.name for box in took}) == 3
    assert took[2].name == first.name


async def test_a_turn_that_holds_a_box_of_another_kind_or_owner_gives_it_up(loop: Loop) -> None:
    former, placed = loop_of(loop.database, box_isolation="person"), await asked(loop, 42)
    assert (await box_of(former, placed)).name == "gl-greenloop-3-42"
    assert (await box_of(loop, placed)).name == "gl-greenloop-3-42-r7"
    async with loop.database.write() as tx:
        await tx.execute(update(Turn).where(Turn.id == placed[1]).values(owner_id=None))
    assert (await box_of(loop, placed)).name == "gl-greenloop-3-0-r7"


async def test_each_session_has_a_box_of_its_own_where_sessions_are_isolated(loop: Loop) -> None:
    isolated = loop_of(loop.database, box_isolation="session")
    took = [await take_slot(isolated, *await asked(loop, 42, number)) for number in range(2)]
    names = [slot.box.name for slot in took if isinstance(slot, Slot)]
    assert len(set(names)) == 2
    assert all(name.startswith("gl-greenloop-3-42-r7-") for name in names)


async def test_a_full_house_waits_in_order_and_the_first_is_called_when_a_place_is_free(loop: Loop) -> None:
    small = loop_of(loop.database, box_limit=2)
    turns = [await asked(loop, person, person) for person in range(1, 6)]
    took = [await take_slot(small, *each) for each in turns]
    assert took[2:] == [Wait(Why.BOXES, 1), Wait(Why.BOXES, 2), Wait(Why.BOXES, 3)]
    async with loop.database.write() as tx:
        await tx.execute(update(Session).values(due_at=NOW + 500))
    await call_queue(small)
    assert await due(loop) == []
    await end_turn(loop, turns[1][1])
    await call_queue(small)
    assert await due(loop) == [turns[2][0].id]
    slot = await take_slot(small, *turns[2])
    assert isinstance(slot, Slot)
    assert slot.ends == ("gl-greenloop-3-2-r7",)


async def test_a_session_that_backs_off_does_not_hold_up_the_others(loop: Loop) -> None:
    small = loop_of(loop.database, box_limit=1)
    (stuck, _), after = await asked(loop, 1, 1), await asked(loop, 2, 2)
    async with loop.database.write() as tx:
        await tx.execute(update(Session).where(Session.id == stuck.id).values(failures=3, due_at=NOW + 100))
    assert isinstance(await take_slot(small, *after), Slot)


@pytest.mark.parametrize(("table", "column"), [("turns", "kind"), ("turns", "trigger"), ("sessions", "surface")])
async def test_a_row_that_this_version_cannot_read_stops_nobody_elses_line(loop: Loop, table: str, column: str) -> None:
    small = loop_of(loop.database, box_limit=1)
    (first, turn), after = await asked(loop, 1, 1), await asked(loop, 2, 2)
    async with loop.database.write() as tx:
        key = first.id if table == "sessions" else turn
        await tx.execute(text(f"UPDATE {table} SET {column} = 'later' WHERE id = {key}"))  # noqa: S608
        await tx.execute(update(Session).values(due_at=NOW + 500))
    await call_queue(small)
    assert await due(loop) == [first.id], "its own step says what is wrong with it"
    async with loop.database.write() as tx:
        await tx.execute(update(Turn).where(Turn.id == turn).values(status="failed"))
    assert isinstance(await take_slot(small, *after), Slot)


async def test_the_longest_idle_box_makes_room_and_a_busy_one_never(loop: Loop) -> None:
    busy, idle = await asked(loop, 1, 1), await asked(loop, 2, 2)
    for each in (busy, idle):
        await take_slot(loop, *each)
    await end_turn(loop, idle[1])
    assert await end_longest_idle(loop.clock, loop.database, "gl-another") == "gl-greenloop-3-2-r7"
    assert await end_longest_idle(loop.clock, loop.database, "gl-another") is None


async def test_a_box_that_starts_afresh_or_is_old_gets_a_new_token_and_no_other(loop: Loop) -> None:
    async def generation(at: float, stopped: float | None = None) -> tuple[int, str | None]:
        placed = await asked(loop, 42, int(at))
        if stopped is not None:
            async with loop.database.write() as tx:
                await tx.execute(update(Box).values(stopped_at=stopped))
        later = cast(Loop, SimpleNamespace(**{**vars(loop), "clock": lambda: at}))
        slot = await take_slot(later, *placed)
        assert isinstance(slot, Slot)
        await end_turn(loop, placed[1])
        return slot.box.generation, slot.box.former_hash

    first, _ = await generation(NOW)
    assert await generation(NOW + 60) == (first, None)
    assert (await generation(NOW + 120, stopped=NOW + 100)) == (first + 1, None)
    aged, former = await generation(NOW + 2 * 86400)
    assert aged == first + 2
    assert former is not None


async def due(loop: Loop) -> list[int]:
    async with loop.database.read() as tx:
        return list((await tx.execute(select(Session.id).where(Session.due_at <= NOW))).scalars())

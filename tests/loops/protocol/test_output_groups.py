"""Output of many turns in one transaction, as their boxes would have it stored one by one; on both databases."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import event, select, update

from loops.protocol import output_groups
from loops.protocol.output_groups import Chunk, Outputs
from loops.protocol.parse_output import ParsedOutput, TurnUsage
from loops.sessions.plan_pace import EDIT_SECONDS
from loops.store.database import Database
from loops.store.states import TurnStatus
from loops.store.tables import Box, Event, Session, Turn
from tests.databases import on_sqlite

NOW = 1000.0


@pytest.fixture
async def outputs(database: Database) -> AsyncIterator[Outputs]:
    made = Outputs(database)
    yield made
    await made.close()


async def running(database: Database, count: int, **values: Any) -> list[Turn]:
    """Turns that run, each in a box and a session of its own."""
    turns = []
    async with database.write() as tx:
        for n in range(count):
            tx.add(Box(name=f"box-{n}", installation_id=3, token_hash="", used_at=0, created_at=0))
            session = Session(
                public_id=f"s_{n}", installation_id=3, repository_id=7, subject_kind="issue", subject_number=n,
                surface="github", trigger="mention", title="T", instruction="fix it", cap=3, created_at=0,
            )  # fmt: skip
            tx.add(session)
            await tx.flush()
            turn = Turn(
                public_id=f"t_{n}", session_id=session.id, number=1, kind="issue", trigger="mention", marker="m",
                status="running", runtime="command", box=f"box-{n}", created_at=0, spec={"workdir": "w"},
                **{"limits": {}, **values},
            )  # fmt: skip
            tx.add(turn)
            turns.append(turn)
    return turns


def chunk(turn: Turn, text: str = "x", **more: Any) -> Chunk:
    entries: list[Any] = [("assistant_delta", {"text": text})] if text else []
    begins = more.pop("begins", False)
    return Chunk(turn, ParsedOutput(len(text), {"seen": text}, entries, **more), begins, NOW)


async def rows(database: Database) -> list[Turn]:
    async with database.read() as tx:
        return list((await tx.execute(select(Turn).order_by(Turn.id))).scalars())


async def test_a_group_stores_offset_state_events_and_signs_of_life_of_each_turn(outputs: Outputs) -> None:
    turns = await running(outputs.database, 4)
    found = await asyncio.gather(*(outputs.put(chunk(turn, "ab" * n)) for n, turn in enumerate(turns)))
    assert [(each.stored, each.offset, each.stop_reason) for each in found] == [(True, 2 * n, None) for n in range(4)]
    stored = await rows(outputs.database)
    assert [(each.output_offset, each.heartbeat_at) for each in stored] == [(2 * n, NOW) for n in range(4)]
    assert stored[3].parser_state == {"seen": "ababab"}
    async with outputs.database.read() as tx:
        events = (await tx.execute(select(Event.session_id, Event.seq, Event.turn_id))).all()
        assert {each.seen_at for each in (await tx.execute(select(Box))).scalars()} == {NOW}
        assert [each.event_seq for each in (await tx.execute(select(Session).order_by(Session.id))).scalars()] == [
            0,
            1,
            1,
            1,
        ]
    assert sorted(map(tuple, events)) == [(turn.session_id, 1, turn.id) for turn in turns[1:]]


async def test_of_two_chunks_at_one_place_one_is_stored_and_the_other_told_where_to_go_on(outputs: Outputs) -> None:
    (turn,) = await running(outputs.database, 1)
    async with outputs.database.write() as tx:
        found = await output_groups.store_chunks(tx, [chunk(turn, "first"), chunk(turn, "2nd")])
    assert [(each.stored, each.offset) for each in found] == [(True, 5), (False, 5)]


async def test_what_a_group_tells_of_use_files_and_the_beginning_is_stored_and_caps_hold(outputs: Outputs) -> None:
    turns = await running(outputs.database, 3, limits={"steps": 2})
    much, little, silent = turns
    found = await asyncio.gather(
        outputs.put(
            chunk(much, usage=TurnUsage(steps=3, input=10, output=5, cost=0.5), edited={"w/a.py", "/h/w/b.py"})
        ),
        outputs.put(chunk(little, usage=TurnUsage(steps=1), begins=True)),
        outputs.put(chunk(silent)),
    )
    assert [each.stop_reason is not None for each in found] == [True, False, False]
    one, two, three = await rows(outputs.database)
    assert (one.steps, one.input_tokens, one.output_tokens, one.cost) == (3, 10, 5, 0.5)
    assert (one.changed_files, one.begun_at, one.stop_reason) == (["b.py", "w/a.py"], None, found[0].stop_reason)
    assert (two.steps, two.begun_at, two.stop_reason) == (1, NOW, None)
    assert (three.steps, three.begun_at, three.changed_files) == (0, None, [])


@pytest.mark.parametrize("status", ["done", "cancelled", "reported", "queued"])
@on_sqlite
async def test_a_turn_that_ended_meanwhile_takes_nothing_and_the_others_do(outputs: Outputs, status: str) -> None:
    over, goes_on = await running(outputs.database, 2)
    async with outputs.database.write() as tx:
        await tx.execute(update(Turn).where(Turn.id == over.id).values(status=status))
    found = await asyncio.gather(outputs.put(chunk(over)), outputs.put(chunk(goes_on)))
    assert [(each.stored, each.status) for each in found] == [(False, status), (True, TurnStatus.RUNNING)]


@on_sqlite
async def test_the_wish_to_stop_is_answered_at_once(outputs: Outputs) -> None:
    (turn,) = await running(outputs.database, 1, stop_reason="cancelled by ann")
    assert (await outputs.put(chunk(turn))).stop_reason == "cancelled by ann"


@on_sqlite
async def test_a_turn_whose_row_is_broken_fails_alone(outputs: Outputs) -> None:
    broken, well = await running(outputs.database, 2, limits={"steps": 9})
    async with outputs.database.write() as tx:
        await tx.execute(update(Turn).where(Turn.id == broken.id).values(limits={"steps": "many"}))
    used = TurnUsage(steps=1)
    found = await asyncio.gather(
        *(outputs.put(chunk(turn, usage=used)) for turn in (broken, well)), return_exceptions=True
    )
    assert isinstance(found[0], Exception)
    assert not isinstance(found[1], BaseException) and found[1].stored


async def test_a_group_of_many_takes_no_more_statements_than_one_of_two(outputs: Outputs) -> None:
    turns = await running(outputs.database, 30)
    engine = outputs.database._writer.sync_engine
    counts = []
    for part in (turns[:2], turns[2:]):
        statements: list[str] = []

        def note(*about: Any, told: list[str] = statements) -> None:
            told.append(about[2])

        event.listen(engine, "before_cursor_execute", note)
        async with outputs.database.write() as tx:
            await output_groups.store_chunks(tx, [chunk(turn) for turn in part])
        event.remove(engine, "before_cursor_execute", note)
        counts.append(len(statements))
    assert counts[0] == counts[1]


async def test_a_check_list_is_kept_and_the_session_is_due_at_once_and_then_now_and_then(outputs: Outputs) -> None:
    (turn,) = await running(outputs.database, 1)
    first, second = ([{"text": "Look", "state": state}] for state in ("active", "done"))

    async def due_after(*plans: list[dict[str, str]]) -> float | None:
        """When the session is due once a chunk has told of these lists, one after the other."""
        async with outputs.database.write() as tx:
            await tx.execute(update(Session).values(due_at=None))
            now = await tx.get_one(Turn, turn.id)
        told = ParsedOutput(1, {}, [("plan", {"items": each}) for each in plans])
        assert (await outputs.put(Chunk(now, told, False, NOW))).stored
        async with outputs.database.read() as tx:
            return (await tx.execute(select(Session.due_at))).scalar_one()

    assert await due_after() is None
    assert await due_after(second, first) == NOW
    assert (await rows(outputs.database))[0].plan == first
    assert await due_after(second) == NOW + EDIT_SECONDS
    assert (await rows(outputs.database))[0].plan == second
    assert await due_after() is None
    assert (await rows(outputs.database))[0].plan == second

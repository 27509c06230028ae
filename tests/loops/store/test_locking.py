"""What two processes change at once, in both orders, on both databases: neither undoes what the other did."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from cryptography.fernet import Fernet
from sqlalchemy import select, update

from github.webhooks.outcomes import Repo
from k8s.boxes import BoxState, BoxStatus
from k8s.runner.protocol import Output, Result
from loops.boxes.box import look_at_box, stop_turn
from loops.boxes.owners import blank
from loops.context import Loop
from loops.conversations.asking import take as ask
from loops.conversations.cancelling import cancel
from loops.conversations.withdrawing import withdraw
from loops.offload import Offload
from loops.options import LoopOptions
from loops.protocol.access import TurnOver
from loops.protocol.assign_turn import take as hand_out
from loops.protocol.output_groups import Outputs
from loops.protocol.results import store_result
from loops.protocol.store_output import store_output
from loops.secrets.redact import Redactor
from loops.secrets.token_hash import token_hash
from loops.secrets.vault import Vault
from loops.sessions import decide
from loops.sessions.finish import finish
from loops.sessions.known_accounts import remember_repository
from loops.sessions.reasons import Outcome
from loops.store.database import Database
from loops.store.locking import locked
from loops.store.states import OPEN_SESSION, SessionStatus, TurnStatus
from loops.store.tables import Session, Turn
from loops.turns.finishing.classify_result import TurnVerdict
from loops.turns.finishing.record_turn import Ending, record_turn
from loops.turns.finishing.report import Report
from tests.loops.asks import mention, topic

NOW = 1_000_000.0
BOX = "gl-box"
BLOCKED_SECONDS = 0.3  # so long the second may run into the first before that commits

Writer = Callable[[Database], Awaitable[object]]


class Paused(Database):
    """Its first transaction stands still, done but not committed, until `go`."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.done, self.go = asyncio.Event(), asyncio.Event()

    @contextlib.asynccontextmanager
    async def write(self) -> AsyncIterator[Any]:
        async with super().write() as tx:
            yield tx
            self.done.set()
            await self.go.wait()


class Observed(Database):
    """`looked` is set once it has read something, or begins to write: by then it knows what it goes by."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.looked = asyncio.Event()

    @contextlib.asynccontextmanager
    async def read(self) -> AsyncIterator[Any]:
        async with super().read() as tx:
            yield tx
        self.looked.set()

    @contextlib.asynccontextmanager
    async def write(self) -> AsyncIterator[Any]:
        self.looked.set()
        async with super().write() as tx:
            yield tx


@pytest.fixture
async def turn(database: Database) -> Turn:
    """A turn that is in the box; `begun` makes it run there."""
    async with database.write() as tx:
        await remember_repository(tx, Repo(id=7, full_name="acme/widgets", installation_id=3, default_branch="m"), NOW)
        await ask(tx, topic(), mention(), owner=1, cap=3, now=NOW)
        box = blank(BOX, NOW)
        box.token_hash = token_hash("box-token")
        tx.add(box)
        row = (await tx.execute(select(Turn))).scalar_one()
        row.box, row.status, row.runtime, row.started_at = BOX, TurnStatus.READY, "command", NOW
    return row


async def begun(database: Database) -> None:
    async with database.write() as tx:
        values = {"status": TurnStatus.RUNNING, "handed_at": NOW, "heartbeat_at": NOW}
        await tx.execute(update(Turn).values(**values))


async def raced(database: Database, first: Writer, second: Writer) -> list[object]:
    """What the two come to when the second begins while the first has not committed."""
    one, other = Paused(database.url), Observed(database.url)
    try:
        began = asyncio.ensure_future(first(one))
        await asyncio.wait_for(one.done.wait(), 30)
        follows = asyncio.ensure_future(second(other))
        await asyncio.wait_for(other.looked.wait(), 60)
        await asyncio.wait({follows}, timeout=BLOCKED_SECONDS)
        one.go.set()
        return list(await asyncio.wait_for(asyncio.gather(began, follows, return_exceptions=True), 60))
    finally:
        await one.close()
        await other.close()


async def rows(database: Database) -> tuple[Session, list[Turn]]:
    async with database.read() as tx:
        turns = (await tx.execute(select(Turn).order_by(Turn.id))).scalars().all()
        return (await tx.execute(select(Session))).scalar_one(), list(turns)


def loop_of(database: Database) -> Loop:
    async def status(name: str) -> BoxStatus:
        return BoxStatus(name=name, state=BoxState.ABSENT, message="It was deleted.")

    made = SimpleNamespace(
        database=database,
        options=LoopOptions(),
        clock=lambda: NOW + 60,
        boxes=SimpleNamespace(status=status),
        on_box_lost=lambda state: None,
        vault=Vault([Fernet.generate_key().decode()]),
    )
    return cast(Loop, made)


async def box_lost(database: Database) -> None:
    session, (turn, *_) = await rows(database)
    await look_at_box(loop_of(database), session, decide.LookAtBox(turn.id))


async def reported(database: Database) -> object:
    _, (turn, *_) = await rows(database)
    result = Result(reason="exited", exit_code=0)
    return await store_result(database, turn, result, {}, Redactor(), Offload(), now=NOW + 60)


async def told(database: Database) -> object:
    _, (turn, *_) = await rows(database)
    return await store_output(Outputs(database), turn, Output(0), b"begun\n", Redactor(), Offload(), now=NOW + 60)


async def handed_out(database: Database) -> object:
    async with database.write() as tx:
        found = await hand_out(tx, BOX, "box-token", b"key", holding=None, now=NOW + 60)
        return found.turn if found is not None else None


async def withdrawn(database: Database) -> object:
    async with database.write() as tx:
        return await withdraw(tx, 7, 11, NOW + 60)


async def asked(database: Database) -> object:
    async with database.write() as tx:
        return await ask(tx, topic(), mention("and more"), owner=1, cap=3, now=NOW + 60)


async def completed(database: Database) -> None:
    session, _ = await rows(database)
    await finish(loop_of(database), session, decide.Finish(SessionStatus.COMPLETED, outcome=Outcome.ANSWERED))


async def stopped(database: Database) -> None:
    session, (turn, *_) = await rows(database)
    await stop_turn(loop_of(database), session, decide.StopTurn(turn.id, "cancelled"))


async def cancel_asked(database: Database) -> bool:
    session, _ = await rows(database)
    async with database.write() as tx:
        return await cancel(tx, await locked(tx, Session, session.id), "alice", NOW + 60)


async def settled(database: Database) -> None:
    await _settled(database, TurnVerdict("nothing"))


async def settled_for_once_more(database: Database) -> None:
    await _settled(database, TurnVerdict("again"))


async def _settled(database: Database, verdict: TurnVerdict) -> None:
    session, (turn, *_) = await rows(database)
    await record_turn(loop_of(database), session, turn, Report.of(turn), Ending(verdict))


def both_orders(one: Writer, other: Writer) -> pytest.MarkDecorator:
    names = [f"{one.__name__} first", f"{other.__name__} first"]
    return pytest.mark.parametrize("pair", [(one, other), (other, one)], ids=names)


@both_orders(box_lost, reported)
async def test_a_lost_box_and_its_late_report_end_as_one_of_the_two(
    database: Database, turn: Turn, pair: tuple[Writer, Writer]
) -> None:
    await begun(database)
    outcomes = await raced(database, *pair)
    _, (row,) = await rows(database)
    if pair[0] is reported:
        assert (row.status, row.lost, outcomes[1]) == (TurnStatus.REPORTED, 0, None)
        assert row.result is not None
        return
    assert (row.status, row.lost, row.result) == (TurnStatus.QUEUED, 1, None)
    assert isinstance(outcomes[1], TurnOver)
    async with database.write() as tx:
        await tx.execute(update(Turn).values(status=TurnStatus.RUNNING))
    assert await reported(database), "the report of the second try counts"


@both_orders(box_lost, told)
async def test_a_turn_that_is_tried_once_more_begins_without_the_output_of_the_first_try(
    database: Database, turn: Turn, pair: tuple[Writer, Writer]
) -> None:
    await begun(database)
    outcomes = await raced(database, *pair)
    _, (row,) = await rows(database)
    assert (row.status, row.output_offset, row.parser_state, row.begun_at) == (TurnStatus.QUEUED, 0, {}, None)
    assert isinstance(outcomes[1], TurnOver) == (pair[1] is told)


@both_orders(box_lost, handed_out)
async def test_a_turn_whose_box_is_lost_runs_in_no_box(
    database: Database, turn: Turn, pair: tuple[Writer, Writer]
) -> None:
    outcomes = await raced(database, *pair)
    _, (row,) = await rows(database)
    assert (row.status, row.box, row.handed_at) == (TurnStatus.QUEUED, None, None)
    assert not any(isinstance(each, Exception) for each in outcomes)


@both_orders(withdrawn, handed_out)
async def test_a_turn_is_withdrawn_or_handed_out_and_never_both(
    database: Database, turn: Turn, pair: tuple[Writer, Writer]
) -> None:
    outcomes = await raced(database, *pair)
    _, (row,) = await rows(database)
    taken = pair[0] is handed_out
    assert (row.status, row.handed_at is not None) == (TurnStatus.RUNNING if taken else TurnStatus.CANCELLED, taken)
    assert outcomes[1] == ([] if taken else None)


@both_orders(completed, asked)
async def test_who_asks_while_a_session_ends_is_heard(
    database: Database, turn: Turn, pair: tuple[Writer, Writer]
) -> None:
    async with database.write() as tx:
        await tx.execute(update(Turn).values(status=TurnStatus.DONE))
        await tx.execute(update(Session).values(status=SessionStatus.RUNNING))
    outcomes = await raced(database, *pair)
    session, turns = await rows(database)
    assert not any(isinstance(each, Exception) for each in outcomes)
    assert session.status in OPEN_SESSION
    assert [row.status for row in turns] == [TurnStatus.DONE, TurnStatus.QUEUED]


@both_orders(stopped, reported)
async def test_a_turn_that_is_to_end_and_its_report_are_both_kept(
    database: Database, turn: Turn, pair: tuple[Writer, Writer]
) -> None:
    await begun(database)
    outcomes = await raced(database, *pair)
    _, (row,) = await rows(database)
    assert not any(isinstance(each, Exception) for each in outcomes)
    assert (row.status, row.stop_reason, row.result is not None) == (TurnStatus.REPORTED, "cancelled", True)


@both_orders(cancel_asked, completed)
async def test_who_cancels_a_session_that_ends_cancels_it_or_comes_too_late(
    database: Database, turn: Turn, pair: tuple[Writer, Writer]
) -> None:
    async with database.write() as tx:
        await tx.execute(update(Turn).values(status=TurnStatus.DONE))
        await tx.execute(update(Session).values(status=SessionStatus.RUNNING))
    outcomes = await raced(database, *pair)
    session, _ = await rows(database)
    assert not any(isinstance(each, Exception) for each in outcomes)
    in_time = session.cancel_by == "alice"
    assert in_time == (outcomes[pair.index(cancel_asked)] is True) == (pair[0] is cancel_asked)


@both_orders(settled, asked)
async def test_who_asks_while_a_turn_is_settled_gets_a_turn_of_their_own(
    database: Database, turn: Turn, pair: tuple[Writer, Writer]
) -> None:
    await begun(database)
    await reported(database)
    outcomes = await raced(database, *pair)
    session, turns = await rows(database)
    assert not any(isinstance(each, Exception) for each in outcomes)
    assert ([row.status for row in turns], session.status in OPEN_SESSION) == (
        [TurnStatus.DONE, TurnStatus.QUEUED],
        True,
    )


@both_orders(settled, settled_for_once_more)
async def test_a_turn_that_two_workers_settle_is_settled_by_one_of_them(
    database: Database, turn: Turn, pair: tuple[Writer, Writer]
) -> None:
    await begun(database)
    await reported(database)
    outcomes = await raced(database, *pair)
    _, (row,) = await rows(database)
    assert not any(isinstance(each, Exception) for each in outcomes)
    ended = (TurnStatus.DONE, 0) if pair[0] is settled else (TurnStatus.QUEUED, 1)
    assert (row.status, row.lost) == ended


async def test_a_turn_that_two_workers_have_tried_once_more_is_tried_once_more_once(
    database: Database, turn: Turn
) -> None:
    await begun(database)
    await reported(database)
    await raced(database, settled_for_once_more, settled_for_once_more)
    _, (row,) = await rows(database)
    assert (row.status, row.lost) == (TurnStatus.QUEUED, 1)

"""Old deliveries, events and evidence leave in small steps."""

import asyncio

import pytest
from sqlalchemy import func, select, update

from github.webhooks.outcomes import Repo
from loops.conversations.asking import take as ask
from loops.operations.view import stored_bytes
from loops.options import LoopOptions
from loops.sessions.known_accounts import remember_repository
from loops.store import journal, retention
from loops.store.access_tables import DeviceApproval, IdempotencyKey, PersonalToken
from loops.store.database import Database
from loops.store.retention import DAY, Removed, forget_old
from loops.store.service_tables import PassingLog
from loops.store.states import SessionStatus, TurnStatus
from loops.store.tables import Delivery, Event, Session, Turn
from tests.loops.asks import mention, topic

NOW = 1_000 * DAY
OPTIONS = LoopOptions(keep_deliveries_days=10, keep_evidence_days=20, keep_events_days=30)


async def ended(database: Database, number: int, days_ago: float, *, events: int = 3) -> int:
    """A session that ended so long ago, with events, one piece of evidence, and a report."""
    at = NOW - days_ago * DAY
    async with database.write() as tx:
        await remember_repository(tx, Repo(id=7, full_name="acme/widgets", installation_id=3, default_branch="m"), at)
        session, _ = await ask(tx, topic(number), mention(), owner=1, cap=3, now=at)
        await journal.append(tx, session.id, [("status", {"text": "x"})] * events + [("evidence", {"sha": "a"})], at=at)
        session.status, session.completed_at, session.diff = SessionStatus.COMPLETED, at, "a diff"
        report = {"status": TurnStatus.DONE, "result": {"diff": "+1"}, "message": "done"}
        await tx.execute(update(Turn).where(Turn.session_id == session.id).values(**report))
        return session.id


async def kinds(database: Database, session: int) -> set[str]:
    async with database.read() as tx:
        return set((await tx.execute(select(Event.kind).where(Event.session_id == session))).scalars())


async def forget(database: Database, at: float = NOW) -> Removed:
    removed = await forget_old(database, OPTIONS, clock=lambda: at)
    assert removed is not None
    return removed


async def test_evidence_leaves_before_events_and_who_asked_what_and_how_it_ended_stays(database: Database) -> None:
    fresh, middle, old = [await ended(database, number, days) for number, days in ((1, 5), (2, 25), (3, 35))]
    await forget(database)
    assert "evidence" in await kinds(database, fresh)
    assert await kinds(database, middle) == await kinds(database, fresh) - {"evidence"}
    assert await kinds(database, old) == set()
    async with database.read() as tx:
        session = await tx.get_one(Session, old)
        (turn,) = (await tx.execute(select(Turn).where(Turn.session_id == old))).scalars()
        assert (session.status, session.diff, turn.result, turn.message) == ("completed", None, None, "done")
        assert (await tx.get_one(Session, middle)).diff == "a diff"
        assert await stored_bytes(tx, old) < await stored_bytes(tx, middle) < await stored_bytes(tx, fresh)


async def test_a_session_that_somebody_woke_keeps_everything_until_it_ends_again(database: Database) -> None:
    session = await ended(database, 1, 35)
    async with database.write() as tx:
        await tx.execute(update(Session).values(status=SessionStatus.RUNNING))
    assert await forget(database) == Removed()
    assert "evidence" in await kinds(database, session)
    async with database.write() as tx:
        await tx.execute(update(Session).values(status=SessionStatus.COMPLETED, completed_at=NOW))
    await forget(database, NOW + 31 * DAY)
    assert await kinds(database, session) == set()


async def test_a_round_takes_no_more_than_its_steps_and_the_next_one_goes_on(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "STEP", 2)
    monkeypatch.setattr(retention, "STEPS", 4)
    sessions = [await ended(database, number, 40 - number, events=5) for number in (1, 2, 3)]
    rounds = [await forget(database)]
    while rounds[-1] != Removed():
        rounds.append(await forget(database))
    assert len(rounds) > 4
    assert max(each.events for each in rounds) <= 8
    assert [await kinds(database, session) for session in sessions] == [set()] * 3
    async with database.read() as tx:
        assert (await tx.execute(select(func.count()).select_from(Event))).scalar_one() == 0


async def test_only_deliveries_that_were_decided_leave(database: Database) -> None:
    async with database.write() as tx:
        for guid, days, status in (("old", 11, "done"), ("young", 9, "done"), ("waits", 11, "new")):
            tx.add(Delivery(guid=guid, event="issues", received_at=NOW - days * DAY, status=status))
    assert (await forget(database)).deliveries == 1
    async with database.read() as tx:
        assert set((await tx.execute(select(Delivery.guid))).scalars()) == {"young", "waits"}


async def test_what_jobs_print_while_they_pass_leaves_with_the_evidence(database: Database) -> None:
    async with database.write() as tx:
        for name, days in (("old", 21), ("young", 19)):
            about = {"repository_id": 1, "workflow_id": 1, "job_id": 1, "templates": b""}
            tx.add(PassingLog(name=name, fetched_at=NOW - days * DAY, **about))
    assert (await forget(database)).evidence == 1


async def test_of_several_workers_one_removes(database: Database) -> None:
    await ended(database, 1, 40)
    found = await asyncio.gather(*(forget_old(database, OPTIONS, clock=lambda: NOW) for _ in range(3)))
    assert sum(each.events for each in found if each is not None) >= 3
    assert await forget(database) == Removed()


async def test_keys_of_calls_leave_after_a_day_and_tokens_long_after_they_ended(database: Database) -> None:
    async with database.write() as tx:
        for days in (0.5, 2.0):
            tx.add(IdempotencyKey(caller="1", key=f"{days}", digest="", answer=None, created_at=NOW - days * DAY))
            tx.add(
                DeviceApproval(code_hash=f"{days}", person_id=1, login="a", days=1, expires_at=NOW + DAY - days * DAY)
            )
        for days in (10, 400):
            token = PersonalToken(person_id=1, name="", scopes=[], token_hash=f"{days}", created_at=0.0)
            token.expires_at = NOW - days * DAY
            tx.add(token)
    await forget(database)
    async with database.read() as tx:
        assert (await tx.execute(select(IdempotencyKey.key))).scalars().all() == ["0.5"]
        assert (await tx.execute(select(DeviceApproval.code_hash))).scalars().all() == ["0.5"]
        assert (await tx.execute(select(PersonalToken.token_hash))).scalars().all() == ["10"]

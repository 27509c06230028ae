import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import update

from github.webhooks.outcomes import Repo
from loops.conversations.asking import take
from loops.sessions.known_accounts import remember_repository
from loops.store.database import Database
from loops.store.leases import Leases, make_due
from loops.store.migrations import upgrade
from loops.store.tables import Session
from tests.loops.asks import mention, topic

REPO = Repo(id=7, full_name="acme/widgets", installation_id=3, default_branch="main")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    url = f"sqlite:///{tmp_path}/loop.db"
    await upgrade(url)
    opened = Database(url)
    yield opened
    await opened.close()


async def begin(database: Database) -> int:
    async with database.write() as tx:
        await remember_repository(tx, REPO, 1000)
        session, _ = await take(tx, topic(), mention(), owner=1, cap=3, now=1000)
        return session.id


async def test_only_one_worker_holds_a_session(database: Database) -> None:
    session = await begin(database)
    one, other = Leases(database, "one", 10), Leases(database, "other", 10)
    assert await one.take(Session, session)
    assert not await other.take(Session, session)
    assert await one.give_back(Session, session)
    assert await other.take(Session, session)


async def test_a_session_of_a_dead_worker_is_free_once_its_lease_ran_out(database: Database) -> None:
    session = await begin(database)
    clock = Clock()
    assert await Leases(database, "dead", 10, clock).take(Session, session)
    clock.now += 11
    assert await Leases(database, "living", 10, clock).take(Session, session)


async def test_a_wake_during_the_work_is_not_lost_when_the_lease_is_given_back(database: Database) -> None:
    session = await begin(database)
    clock = Clock()
    leases = Leases(database, "one", 10, clock)
    assert await leases.take(Session, session)
    async with database.write() as tx:
        await make_due(tx, session, clock.now)
    assert not await leases.give_back(Session, session)
    assert await leases.again(Session, session)
    assert await leases.give_back(Session, session)


async def test_a_later_due_time_does_not_push_back_a_sooner_one(database: Database) -> None:
    session = await begin(database)
    async with database.write() as tx:
        await tx.execute(update(Session).values(due_at=1010.0))
        await make_due(tx, session, 1050)
        assert (await tx.get_one(Session, session)).due_at == 1010
        await make_due(tx, session, 1005)
    async with database.read() as tx:
        assert (await tx.get_one(Session, session)).due_at == 1005


async def test_work_stops_when_the_lease_went_to_another_worker(database: Database) -> None:
    session = await begin(database)
    leases = Leases(database, "one", 0.3)
    assert await leases.take(Session, session)
    with contextlib.suppress(asyncio.CancelledError):
        async with leases.kept(Session, session):
            async with database.write() as tx:
                await tx.execute(update(Session).values(lease_by="other"))
            await asyncio.sleep(5)
            pytest.fail("the work went on without a lease")

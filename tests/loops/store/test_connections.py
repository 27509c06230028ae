"""Connections to PostgreSQL, which end when the server is replaced."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import asyncpg

from loops.store import database as module
from loops.store.arrivals import Arrival, arrivals
from loops.store.database import Database
from loops.store.tables import Delivery, Session


@pytest.fixture
async def postgres(postgres_url: str) -> AsyncIterator[Database]:
    found = Database(postgres_url)
    yield found
    await found.close()


async def read(database: Database) -> None:
    async with database.read() as tx:
        await tx.execute(select(Session.id).limit(1))


async def test_connections_that_the_server_has_ended_while_they_were_idle_are_replaced_unnoticed(
    postgres: Database, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SILENT_SECONDS", 0.0)
    await read(postgres)
    await end_connections(postgres_url)
    await read(postgres)


async def test_deliveries_are_stored_again_though_connections_ended_while_they_were_in_constant_use(
    postgres: Database, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SILENT_SECONDS", 3600.0)
    store = arrivals(postgres)
    await store.store([Arrival("before", "issues", "opened", 1, 2, b"{}", 1.0)])
    await end_connections(postgres_url)
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(Exception):
                await store.store([Arrival("after", "issues", "opened", 1, 2, b"{}", 2.0)])
                break
            await asyncio.sleep(0.01)
    async with postgres.read() as tx:
        assert set((await tx.execute(select(Delivery.guid))).scalars()) == {"before", "after"}


async def end_connections(url: str) -> None:
    """As a server that is replaced does."""
    other = Database(url)
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
    async with other.write() as tx:
        await tx.execute(text(f"{ended} AND pid <> pg_backend_pid()"))
    await other.close()


async def test_a_connection_that_was_used_a_moment_ago_is_not_asked_whether_it_is_there(
    postgres: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SILENT_SECONDS", 3600.0)
    asked = 0
    real: Any = asyncpg.PGDialect_asyncpg.do_ping

    def counted(dialect: Any, connection: Any) -> Any:
        nonlocal asked
        asked += 1
        return real(dialect, connection)

    monkeypatch.setattr(asyncpg.PGDialect_asyncpg, "do_ping", counted)
    for _ in range(5):
        await read(postgres)
    assert asked == 0
    monkeypatch.setattr(module, "SILENT_SECONDS", 0.0)
    await read(postgres)
    assert asked == 1

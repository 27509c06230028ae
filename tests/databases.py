"""Fixtures for tests that must hold on both databases: take `database` and the test runs on each."""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from app.process.valkey import EmbeddedRedis
from loops.store.database import Database
from loops.store.migrations import upgrade
from tests.postgres import in_a_thread

on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""For a test that uses `database_url` but not what differs between databases: once is enough."""


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file to copy."""
    file = tmp_path_factory.mktemp("template") / "greenloop.db"
    in_a_thread(upgrade(f"sqlite:///{file}"))
    return file


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """A migrated SQLite database of this test alone."""
    file = tmp_path / "greenloop.db"
    shutil.copy(sqlite_template, file)
    return f"sqlite:///{file}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A migrated database of this test alone, once on each kind."""
    url: str = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of this test alone without any table, once on each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/empty.db"
    url: str = request.getfixturevalue("postgres_empty")
    return url


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """The open database."""
    found = Database(database_url)
    yield found
    await found.close()


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis-compatible server shared by the tests of this process."""
    server = EmbeddedRedis(tmp_path_factory.mktemp("redis"))
    yield server.start()
    server.stop()

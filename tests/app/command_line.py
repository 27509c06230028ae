"""`greenloop` as a person calls it, on a database that knows the installation of `acme`, `acme/widgets`, and Ann."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app.commands.cli import main
from github.webhooks.outcomes import Actor, Repo
from loops.sessions.known_accounts import remember_installation, remember_person, remember_repository
from loops.store.database import Database
from tests.postgres import in_a_thread


@dataclass(frozen=True)
class Greenloop:
    """The command on the database at `url`. `keys`: encryption keys, a line each."""

    url: str

    def __call__(self, *words: str, stdin: str = "", keys: str = "") -> Result:
        return CliRunner().invoke(main, words, input=stdin, env={"GREENLOOP_ENCRYPTION_KEYS": keys})


@pytest.fixture
def greenloop(sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Greenloop:
    in_a_thread(_fill(sqlite_url))
    monkeypatch.setenv("GREENLOOP_DATABASE_URL", sqlite_url)
    monkeypatch.setenv("GREENLOOP_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))  # where nobody logged in at a server
    for name in ("GREENLOOP_REDIS_URL", "GREENLOOP_SERVER"):
        monkeypatch.delenv(name, raising=False)
    return Greenloop(sqlite_url)


async def _fill(url: str) -> None:
    database = Database(url)
    async with database.write() as tx:
        await remember_installation(tx, 3, Actor(30, "acme"), 1000)
        await remember_repository(tx, Repo(7, "acme/widgets", 3, "main"), 1000)
        await remember_person(tx, Actor(1, "ann"), 1000)
    await database.close()

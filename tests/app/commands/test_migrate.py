"""`greenloop migrate`."""

import contextlib
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.commands import serve
from app.commands.cli import main
from loops.store.database import Database
from tests.app.web.test_ops import free_port


def test_a_database_that_never_answers_ends_the_wait_with_what_it_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENLOOP_DATA", str(tmp_path))
    monkeypatch.setenv("GREENLOOP_DATABASE_URL", f"postgresql://greenloop@127.0.0.1:{free_port()}/greenloop")
    monkeypatch.setattr(serve, "WAIT_PAUSE", 0.05)
    ended = CliRunner().invoke(main, ["migrate", "--wait", "0.2"])
    assert ended.exit_code == 2
    assert "did not answer within 0 s" in ended.output and "Error" in ended.output


def test_a_schema_of_a_newer_version_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREENLOOP_DATA", str(tmp_path))
    assert CliRunner().invoke(main, ["migrate"]).exit_code == 0
    with contextlib.closing(sqlite3.connect(tmp_path / "greenloop.db")) as database, database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    ended = CliRunner().invoke(main, ["migrate"])
    assert ended.exit_code == 2
    assert ended.output.startswith("greenloop: ") and "'9999'" in ended.output and "newer" in ended.output


def test_a_database_that_comes_late_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREENLOOP_DATA", str(tmp_path))
    monkeypatch.setenv("GREENLOOP_DATABASE_URL", f"sqlite:///{tmp_path / 'late.db'}")
    monkeypatch.setattr(serve, "WAIT_PAUSE", 0.01)
    refused = ["starting up", "starting up"]
    read = Database.read

    def late(self: Database) -> object:
        if refused:
            raise OSError(refused.pop())
        return read(self)

    monkeypatch.setattr(Database, "read", late)
    ended = CliRunner().invoke(main, ["migrate", "--wait", "30"])
    assert ended.exit_code == 0, ended.output
    assert refused == []

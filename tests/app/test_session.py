import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app.cli import main
from github.outcomes import Actor, Repo
from loops.database import Database
from loops.steps.facts import remember_installation, remember_person, remember_repository
from loops.tables import Session
from tests.postgres import in_a_thread


@pytest.fixture
def greenloop(sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    in_a_thread(_fill(sqlite_url))
    monkeypatch.setenv("GREENLOOP_DATABASE_URL", sqlite_url)
    monkeypatch.setenv("GREENLOOP_DATA", str(tmp_path))
    monkeypatch.delenv("GREENLOOP_REDIS_URL", raising=False)
    return CliRunner()


async def _fill(url: str) -> None:
    database = Database(url)
    async with database.write() as tx:
        await remember_installation(tx, 3, Actor(30, "acme"), 1000)
        await remember_repository(tx, Repo(7, "acme/widgets", 3, "main"), 1000)
        await remember_person(tx, Actor(1, "ann"), 1000)
    await database.close()


def run(greenloop: CliRunner, *words: str) -> Result:
    return greenloop.invoke(main, ["session", *words])


def test_a_session_is_started_shown_listed_and_cancelled(greenloop: CliRunner) -> None:
    started = run(greenloop, "start", "acme/widgets", "fix the login", "--as", "ann", "--max-steps", "5")
    assert started.exit_code == 0, started.output
    name = started.output.strip()
    shown = run(greenloop, "show", name)
    assert name in shown.output and "fix the login (as ann)" in shown.output
    listed = [json.loads(line) for line in run(greenloop, "list", "--json").output.splitlines()]
    assert [(each["session"], each["surface"], each["status"]) for each in listed] == [(name, "cli", "pending")]
    assert "cancel requested" in run(greenloop, "cancel", name).output
    assert json.loads(run(greenloop, "show", name, "--json").output)["events"][-1]["payload"]["text"].startswith(
        "cancel"
    )


@pytest.mark.parametrize(("status", "code"), [("completed", 0), ("failed", 1), ("cancelled", 1)])
def test_watching_ends_with_the_session_and_tells_by_its_exit_code(
    greenloop: CliRunner, sqlite_url: str, status: str, code: int
) -> None:
    name = run(greenloop, "start", "7", "fix it").output.strip()

    async def end() -> None:
        database = Database(sqlite_url)
        async with database.write() as tx:
            (await tx.get_one(Session, 1)).status = status
        await database.close()

    in_a_thread(end())
    watched = run(greenloop, "watch", name)
    assert watched.exit_code == code
    assert "turn 1 asked for by cli" in watched.output and status in watched.output


@pytest.mark.parametrize(
    "words",
    [
        ("start", "acme/widgets", " "),
        ("start", "acme/none", "x"),
        ("start", "7", "x", "--as", "bob"),
        ("show", "s_none"),
        ("list", "--installation", "9"),
    ],
)
def test_what_cannot_be_done_ends_in_one_line_and_2(greenloop: CliRunner, words: tuple[str, ...]) -> None:
    ended = run(greenloop, *words)
    assert ended.exit_code == 2
    assert ended.output.startswith("greenloop: ") and ended.output.count("\n") == 1


def test_a_database_without_tables_is_said_in_words(
    greenloop: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENLOOP_DATABASE_URL", f"sqlite:///{tmp_path / 'empty.db'}")
    ended = run(greenloop, "list")
    assert ended.exit_code == 2 and "greenloop migrate" in ended.output


@pytest.mark.parametrize("command", ["start", "show", "watch", "cancel", "list"])
def test_every_command_explains_itself(greenloop: CliRunner, command: str) -> None:
    assert run(greenloop, command, "--help").exit_code == 0

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.commands.sessions.shown import line_of
from loops.operations import Happened
from loops.store.database import Database
from loops.store.states import SessionStatus
from loops.store.tables import Session
from tests.app.command_line import Greenloop
from tests.postgres import in_a_thread


def test_a_session_is_started_shown_listed_and_cancelled(greenloop: Greenloop) -> None:
    started = greenloop("session", "start", "acme/widgets", "fix the login", "--as", "ann", "--max-steps", "5")
    assert started.exit_code == 0, started.output
    name = started.output.strip()
    assert greenloop("session", "list", "--status", "failed").stderr == "there are no such sessions\n"
    shown = greenloop("session", "show", name)
    assert name in shown.output and "fix the login (as ann)" in shown.output
    listed = [json.loads(line) for line in greenloop("session", "list", "--json").output.splitlines()]
    assert [(each["session"], each["surface"], each["status"]) for each in listed] == [(name, "cli", "pending")]
    assert "cancel requested" in greenloop("session", "cancel", name).output
    assert json.loads(greenloop("session", "show", name, "--json").output)["events"][-1]["payload"]["text"].startswith(
        "cancel"
    )


@pytest.mark.parametrize(("status", "code"), [("completed", 0), ("failed", 1), ("cancelled", 1)])
def test_watching_ends_with_the_session_and_tells_by_its_exit_code(
    greenloop: Greenloop, status: str, code: int
) -> None:
    name = greenloop("session", "start", "7", "fix it").output.strip()

    async def end() -> None:
        database = Database(greenloop.url)
        async with database.write() as tx:
            (await tx.get_one(Session, 1)).status = SessionStatus(status)
        await database.close()

    in_a_thread(end())
    watched = greenloop("session", "watch", name)
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
def test_what_cannot_be_done_ends_in_one_line_and_2(greenloop: Greenloop, words: tuple[str, ...]) -> None:
    ended = greenloop("session", *words)
    assert ended.exit_code == 2
    assert ended.output.startswith("greenloop: ") and ended.output.count("\n") == 1


def test_a_database_without_tables_is_said_in_words(
    greenloop: Greenloop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENLOOP_DATABASE_URL", f"sqlite:///{tmp_path / 'empty.db'}")
    ended = greenloop("session", "list")
    assert ended.exit_code == 2 and "greenloop migrate" in ended.output


@pytest.mark.parametrize("command", ["start", "show", "watch", "cancel", "list"])
def test_every_command_explains_itself(greenloop: Greenloop, command: str) -> None:
    assert greenloop("session", command, "--help").exit_code == 0


@pytest.mark.parametrize("command", ["list", "watch"])
def test_a_reader_that_has_seen_enough_is_no_error(greenloop: Greenloop, command: str) -> None:
    """As with `| head`, whose end is there before anything is printed."""
    name = greenloop("session", "start", "7", "fix it").output.strip()
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "-m", "app", "session", command, *([name] if command == "watch" else [])]
    ended = subprocess.run(words, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, b"")


def test_what_agents_say_moves_no_terminal() -> None:
    said = line_of(Happened(1, "assistant_completed", {"text": "done\x1b]0;owned\x07\u202e"}, 1.0))
    assert said == f"{'assistant_completed':<20} done]0;owned"

"""What is known at the moment of asking is said then; and what a later turn knows of those before it."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.house import REPOSITORY, House, house
from tests.e2e.ownloop import HEAD, install
from tests.walking import files

CANNOT = 'Provider "{}" cannot run the "{}" runtime. Supported: {}.'
TOKEN = "a-long-random-token"
CLI: dict[str, Any] = {"text": True, "capture_output": True, "check": False}


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The house's agent is our own loop."""
    install(tmp_path / "bin", tmp_path / "agent.py")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")


async def refused(home: House, number: int, words: str, count: int = 1) -> str:
    """The answer to a mention, the `count`th comment, that starts nothing."""
    await home.comment(number, f"@greenloop {words}")
    decided = await home.handled("issue_comment", count)
    assert [delivery.decision for delivery in decided] == ["refused"] * count
    return (await home.bot_comments(number))[-1]


async def test_a_runtime_that_the_account_cannot_drive_is_refused_by_comment_command_and_api(tmp_path: Path) -> None:
    async with house(tmp_path, api_token=TOKEN) as home:
        await home.account(provider="anthropic")
        number = await home.issue()
        said = CANNOT.format("anthropic", "codex", "claude, opencode")
        assert said in await refused(home, number, "make it right --runtime codex")
        unknown = 'Unknown runtime "copilot". Known: codex, opencode, claude, gemini, native, command.'
        assert unknown in await refused(home, number, "make it right --runtime copilot", 2)
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(base_url=home.settings.public_url, headers=headers) as api:
            asked = {"repository": REPOSITORY, "instruction": "make it right", "runtime": "codex"}
            answer = await api.post("/api/v1/sessions", json=asked)
        said += " It was named by `--runtime` in the comment or in the request."
        problem = answer.json()
        assert (answer.status_code, problem["detail"], problem["field"]) == (400, said, "runtime")
        env = {**os.environ, "GREENLOOP_DATABASE_URL": home.settings.database_url}
        command = [sys.executable, "-m", "app", "session", "start", REPOSITORY, "make it right", "--runtime", "codex"]
        # off the loop: the house's own transactions stand on it, and held open they keep the command from the database
        done = await asyncio.to_thread(lambda: subprocess.run(command, env=env, **CLI))
        assert done.returncode == 2 and said in done.stderr
        assert await home.sessions() == []


async def test_a_runtime_in_the_repositorys_file_is_refused_at_once_too(tmp_path: Path) -> None:
    async with house(tmp_path, files={".github/greenloop.yml": "runtime: claude\n"}) as home:
        await home.account(provider="openai")
        said = CANNOT.format("openai", "claude", "opencode, codex")
        assert said in await refused(home, await home.issue(), "make it right")


async def test_our_own_loop_is_for_whoever_has_a_key_and_asks(tmp_path: Path, program: None) -> None:
    async with house(tmp_path) as home:
        await home.account(provider="openai")
        home.agent(HEAD + "tell('session', id='c1'); edited('value.txt'); done()")
        await home.comment(await home.issue(), "@greenloop make it right --runtime native")
        turn = await home.turn_ended(1)
        assert (turn.status, turn.runtime, turn.message) == ("done", "native", "Done.")


async def test_an_old_name_of_a_runtime_is_understood_and_mentioned(tmp_path: Path) -> None:
    async with house(tmp_path, files={".github/greenloop.yml": "runtime: openai_direct\n"}, turn_seconds=3) as home:
        await home.account(provider="openai")
        number = await home.issue()
        await home.comment(number, "@greenloop make it right")
        turn = await home.turn_ended(1)
        assert turn.runtime == "opencode"
        assert '"openai_direct" is now called "opencode"' in (await home.bot_comments(number))[0]


RESUMES = """
resumed = "--resume" in sys.argv
pathlib.Path(__file__).with_name("said").open("a").write(json.dumps([resumed, prompt]) + "\\n")
if resumed and "conversation is lost" in prompt:
    failed("No conversation found with that session ID")
tell("session", id=sys.argv[sys.argv.index("--resume") + 1] if resumed else f"c{time.time_ns()}")
edited(f"{time.time()}.txt")
done("The first answer." if "begin" in prompt else "Another answer.")
"""


async def test_a_later_turn_resumes_and_where_that_is_gone_begins_anew_with_a_summary(
    tmp_path: Path, program: None
) -> None:
    async with house(tmp_path, run=None) as home:
        await home.account()
        number = await home.issue("A title")
        home.agent(HEAD + RESUMES)
        for turn, words in enumerate(("begin with this", "go on", "the conversation is lost", "go on"), start=1):
            await home.comment(number, f"@greenloop {words} --runtime native")
            assert (await home.turn_ended(turn)).status == "done"
        (said,) = files(home.folder, "said")
        told = list(map(_loads, said.read_text().splitlines()))
        assert [resumed for resumed, _ in told] == [False, True, True, False, True]
        first, second, third, afresh, last = (prompt for _, prompt in told)
        for prompt in (first, second, third, last):
            assert "What went before" not in prompt
        assert "Turn 1: begin with this\nIts answer: The first answer.\nIt changed" in afresh
        assert "Turn 2: go on" in afresh
        turns = await home.turns()
        assert [(turn.spec or {})["request"]["resume"] is not None for turn in turns] == [False, True, False, True]


def _loads(line: str) -> tuple[bool, str]:
    resumed, prompt = json.loads(line)
    return resumed, prompt

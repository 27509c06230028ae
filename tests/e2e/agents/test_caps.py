"""Every cap, of one turn and of a session: the turn is stopped, and the comment says which cap and what raises it."""

import os
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from loops.store.tables import Turn
from tests.e2e.house import House, house
from tests.e2e.ownloop import HEAD, install

TURN: dict[str, Any] = {"turn_steps": 5, "turn_tokens": 1_000, "turn_cost": 1.0, "changed_files": 2}
SESSION: dict[str, Any] = {
    "session_steps": 5, "session_tokens": 1_000, "session_cost": 1.0, "session_changed_files": 2,
}  # fmt: skip
PRICES: dict[str, Any] = {"prices": {"scripted": {"input": 1_000_000, "output": 0}}}


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The house's agent is our own loop."""
    install(tmp_path / "bin", tmp_path / "agent.py")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")


async def ask(home: House, agent: str, turn: int, number: int | None = None) -> tuple[Turn, str, int]:
    """The turn, and what the comment says of it."""
    home.agent(HEAD + 'tell("session", id="c1")\n' + agent)
    number = number or await home.issue()
    await home.comment(number, "@greenloop go on --runtime native")
    ended = await home.turn_ended(turn)
    return ended, (await home.bot_comments(number))[0], number


OVER = (
    ("used(); used(3); used(2); too_long()", "6 steps of one turn, the cap is 5", "`limits.steps`"),
    ("used(1, 900); used(1, 200); too_long()", "1,100 tokens of one turn, the cap is 1,000", "GREENLOOP_TURN_TOKENS"),
    ("used(1, 9, 1.25); too_long()", "1.25 US dollars of one turn, the cap is 1", "GREENLOOP_TURN_COST"),
    ("edited('a', 'b', 'c'); too_long()", "3 changed files of one turn, the cap is 2", "`limits.files`"),
    ("pathlib.Path('a').touch(); edited('b', 'c'); done()", "3 files changed; the limit is 2", "`limits.files`"),
)


async def stopped(home: House, turn: Turn, comment: str, said: str, raised: str) -> None:
    """The turn was stopped at a cap, and the comment says which and what raises it; a setting is the operator's."""
    assert turn.status == "failed" and (turn.error or "").startswith("limit_exceeded: "), (said, turn.error)
    ours = raised.startswith("GREENLOOP_")
    assert said in comment and ("a setting of the service" if ours else raised) in comment, comment
    noted = [turn.error, *(note for session in await home.sessions() for note in session.notes)]
    assert not ours or (raised in str(noted) and raised not in comment), noted


async def test_a_turn_is_stopped_at_each_of_its_caps(tmp_path: Path, program: None) -> None:
    async with house(tmp_path, run=None, **TURN) as home:
        await home.account()
        for number, (agent, said, raised) in enumerate(OVER, start=1):
            turn, comment, _ = await ask(home, agent, number)
            await stopped(home, turn, comment, said, raised)
            assert turn.commit_sha is None and turn.changed_files == []
        assert [branch["name"] for branch in await home.get("branches")] == ["main"]


async def test_a_turn_is_stopped_when_its_time_is_over(tmp_path: Path, program: None) -> None:
    async with house(tmp_path, run=None, turn_seconds=2) as home:
        await home.account()
        turn, comment, _ = await ask(home, "too_long()", 1)
        await stopped(home, turn, comment, "2 seconds of one turn, the cap is 2", "`limits.minutes`")


async def test_a_cost_that_no_cli_tells_is_estimated_by_the_table_of_the_settings(
    tmp_path: Path, program: None
) -> None:
    async with house(tmp_path, run=None, turn_cost=2.5, **PRICES) as home:
        await home.account()
        turn, comment, _ = await ask(home, "used(1, 2); edited('a'); done()", 1)
        assert (turn.status, turn.cost, turn.input_tokens) == ("done", 2.0, 2)
        assert "$2.00" in comment
        turn, comment, _ = await ask(home, "used(1, 2); used(1, 1); too_long()", 2)
        assert "3 US dollars of one turn, the cap is 2.50" in comment


TOGETHER = (
    ("used(3)", "used(3); too_long()", "6 steps of one session, the cap is 5", "GREENLOOP_SESSION_STEPS"),
    ("used(1, 900)", "used(1, 200); too_long()", "1,100 tokens of one session", "`limits.tokens`"),
    ("used(1, 9, 0.75)", "used(1, 9, 0.5); too_long()", "1.25 US dollars of one session", "`limits.cost`"),
    ("edited('b')", "edited('c'); done()", "3 changed files of one session", "GREENLOOP_SESSION_CHANGED_FILES"),
)


async def test_a_session_is_stopped_at_its_caps_whatever_each_turn_used(tmp_path: Path, program: None) -> None:
    async with house(tmp_path, run=None, **SESSION) as home:
        await home.account()
        for before, (first, second, said, raised) in enumerate(TOGETHER):
            turn, _, number = await ask(home, f"edited('a'); {first}; done()", 2 * before + 1)
            assert turn.status == "done"
            turn, comment, _ = await ask(home, second, 2 * before + 2, number)
            await stopped(home, turn, comment, said, raised)


async def test_a_session_is_stopped_when_the_time_of_all_its_turns_is_over(tmp_path: Path, program: None) -> None:
    async with house(tmp_path, run=None, session_seconds=60) as home:
        await home.account()
        turn, _, number = await ask(home, "edited('a'); done()", 1)
        assert turn.status == "done"
        async with home.database.write() as tx:
            await tx.execute(update(Turn).values(begun_at=Turn.heartbeat_at - 58))
        turn, comment, _ = await ask(home, "too_long()", 2, number)
        await stopped(home, turn, comment, "60 seconds of one session, the cap is 60", "GREENLOOP_SESSION_SECONDS")


async def test_a_session_that_has_used_a_cap_up_is_told_so_before_anything_runs(tmp_path: Path, program: None) -> None:
    async with house(tmp_path, run=None, **SESSION) as home:
        await home.account()
        turn, _, number = await ask(home, "edited('a'); used(5); done()", 1)
        assert turn.status == "done"
        turn, comment, _ = await ask(home, "edited('b'); done()", 2, number)
        assert (turn.status, turn.handed_at) == ("failed", None)
        assert "5 steps of one session, the cap is 5" in comment

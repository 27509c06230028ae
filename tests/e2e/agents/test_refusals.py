"""Providers that refuse a turn: it goes on by itself where that can be, and nobody's attempt is used up."""

import asyncio
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from loops.runtimes import registry
from loops.runtimes.scripted.brain import Script
from loops.runtimes.scripted.conversation import Conversation
from loops.runtimes.scripted.replies import Refusal, Reply, Shell, Step
from loops.runtimes.scripted.server import ModelServer
from loops.store.tables import Turn
from tests.e2e.acts import asked
from tests.e2e.house import House, house

OVERLOADED = Refusal(503, "The service is overloaded.", kind="overloaded_error")
LIMITED = Refusal(429, "Too many requests.", retry_after=3)
TOO_LONG = Refusal(400, "The maximum context length is 8192 tokens.", kind="context_length_exceeded")
BAD_KEY = Refusal(401, "Incorrect API key provided.", kind="invalid_api_key")
WORK: tuple[Step, ...] = (Reply("", Shell("printf right > value.txt")), Reply("It is right now."))

pytestmark = pytest.mark.timeout(900)


class Troubled:
    """Refuses everything with `trouble` while there is one; then works."""

    def __init__(self, trouble: Refusal | None) -> None:
        self.trouble = trouble
        self.keys: list[str] = []
        self._work = Script(*WORK)

    def next(self, conversation: Conversation) -> Step:
        self.keys.append(conversation.key)
        return self.trouble or self._work.next(conversation)


async def until(home: House, what: Callable[[Turn], bool], seconds: float = 300) -> Turn:
    """The first turn, once that is true of it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        turns = await home.turns()
        if turns and what(turns[0]):
            return turns[0]
        await asyncio.sleep(0.1)
    raise AssertionError(await home.describe())


async def test_an_overload_a_rate_limit_and_a_full_context_are_survived_to_green_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With every agent: `test_runtimes`."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    brain, smoke = Troubled(OVERLOADED), registry.smoke("native")
    with ModelServer({"x": brain}) as server:
        async with house(tmp_path, runtime="native", overload_seconds=2) as home:
            url = server.base_url("x", smoke.wire)
            await home.account(provider=smoke.provider, base_url=url, model="scripted-1")
            number = await asked(home, "make it right --runtime native")
            turn = await until(home, lambda turn: turn.retries == 1)
            assert turn.waits and "tried again at" in turn.waits and "UTC" in turn.waits
            brain.trouble = LIMITED
            await until(home, lambda turn: turn.retries == 2)
            brain.trouble = TOO_LONG
            await until(home, lambda turn: turn.afresh)
            brain.trouble = None
            session = await home.ended()
            assert (session.status, session.outcome) == ("completed", "green"), await home.describe()
            (turn,) = await home.turns()
            assert (turn.number, turn.lost) == (1, 0)
            assert "attempt" not in (await home.bot_comments(number))[0]


async def test_a_refused_account_is_left_alone_and_the_one_listed_for_it_takes_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    bad, good = Troubled(BAD_KEY), Troubled(None)
    with ModelServer({"bad": bad, "good": good}) as server:
        async with house(tmp_path, runtime="native") as home:
            about = {"provider": "scripted", "model": "scripted-1"}
            await home.account(base_url=server.base_url("bad", "chat"), fallback="spare", **about)
            spare = {"name": "spare", "is_default": False}
            await home.account("sk-spare", base_url=server.base_url("good", "chat"), **spare, **about)
            await asked(home, "make it right --runtime native")
            session = await home.ended()
            assert (session.status, session.outcome) == ("completed", "green"), await home.describe()
            tried = len(bad.keys)
            await asked(home, "and again --runtime native")
            await home.ended(sessions=2)
            assert len(bad.keys) == tried, "the refused account is not asked again"
            assert set(good.keys) == {"sk-spare"}


async def test_a_refused_account_without_another_is_said_and_costs_no_second_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    brain = Troubled(BAD_KEY)
    with ModelServer({"x": brain}) as server:
        async with house(tmp_path, runtime="native") as home:
            await home.account(provider="scripted", base_url=server.base_url("x", "chat"), model="scripted-1")
            number = await asked(home, "make it right --runtime native")
            assert (await home.ended()).reason == "credentials"
            assert "no working account" in (await home.bot_comments(number))[0]
            tried = len(brain.keys)
            number = await asked(home, "make it right --runtime native")
            assert (await home.ended(sessions=2)).reason == "credentials"
            assert len(brain.keys) == tried
            assert "refused this account a moment ago" in (await home.bot_comments(number))[0]


async def test_other_turns_leave_a_limited_account_alone_until_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    brain = Troubled(Refusal(429, "Too many requests.", retry_after=600))
    with ModelServer({"x": brain}) as server:
        async with house(tmp_path, runtime="native") as home:
            await home.account(provider="scripted", base_url=server.base_url("x", "chat"), model="scripted-1")
            await asked(home, "make it right --runtime native")
            refused = await until(home, lambda turn: turn.retries == 1)
            # the header alone says how long, and the agent does not pass it on
            assert (refused.retry_at or 0) > time.time() + 300
            tried = len(brain.keys)
            number = await asked(home, "make it right, too --runtime native")
            end = time.monotonic() + 60
            while "Waiting for the model's provider" not in "".join(await home.bot_comments(number)):
                assert time.monotonic() < end, await home.describe()
                await asyncio.sleep(0.2)
            assert "begins at" in (await home.bot_comments(number))[0]
            assert len(brain.keys) == tried

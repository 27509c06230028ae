"""A check that goes red after its session has ended well: the session goes on with its repair."""

from pathlib import Path
from typing import Any

import pytest

from loops.store.tables import Session
from tests.e2e.acts import GROW, RIGHT, asked, comment_says, push
from tests.e2e.house import House, house

OFF = {".github/greenloop.yml": "autofix:\n  pull_requests: 'off'\n"}
REPAIR = f"if 'failed on' in prompt: pathlib.Path('late.txt').write_text('x')\nelse: {RIGHT}"


async def goes_red(home: House, sha: str | None, state: str = "failure") -> None:
    """Another system reports, late."""
    await home.post("alice", f"statuses/{sha}", {"state": state, "context": "ci/late", "description": "It fell"})


async def repaired(home: House) -> Session:
    """The session once it has repaired what was red, the other system has passed that, and it has ended again."""

    async def look() -> str | None:
        commits = [turn.commit_sha for turn in await home.turns()]
        return commits[1] if len(commits) == 2 else None

    await goes_red(home, await home.until(look), "success")
    return await home.ended()


@pytest.mark.parametrize(("run", "outcome"), [('test "$(cat value.txt)" = right', "green"), (None, "no_checks")])
async def test_a_session_that_ended_well_repairs_a_check_that_comes_after_the_end(
    tmp_path: Path, run: str | None, outcome: str
) -> None:
    async with house(tmp_path, run=run, files=OFF) as home:
        home.agent(REPAIR)
        number = await asked(home, "make it right")
        first = await home.ended()
        assert first.outcome == outcome
        await goes_red(home, first.head_sha)
        session = await repaired(home)
        turns = await home.turns()
        await comment_says(home, number, "after attempt 1 of 3")
        sticky = await home.bot_comments(number)
    assert (session.id, session.outcome, session.head_sha) == (first.id, "green", turns[1].commit_sha)
    assert [turn.kind for turn in turns] == ["issue", "checks"]
    assert len(sticky) == 1


async def test_a_persons_own_pull_request_that_was_asked_about_is_watched_after_the_end_too(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        main = (await home.get("git/ref/heads/main"))["object"]["sha"]
        await home.post("alice", "git/refs", {"ref": "refs/heads/topic", "sha": main})
        await push(home, "other.txt", "x", "topic")
        pull = await home.post("alice", "pulls", {"title": "Mine", "head": "topic", "base": "main"})
        home.agent(REPAIR)
        await home.comment(pull["number"], "@greenloop make it right")
        first = await home.ended()
        assert first.outcome == "green"
        await goes_red(home, first.head_sha)
        session = await repaired(home)
        commits = await home.get(f"pulls/{pull['number']}/commits")
    assert (session.id, session.outcome, session.head_sha) == (first.id, "green", commits[-1]["sha"])


async def test_the_attempts_before_the_end_count(tmp_path: Path) -> None:
    async with house(tmp_path, files=OFF) as home:
        home.agent(f"if 'failed on' in prompt: {RIGHT}\nelse: {GROW}")
        number = await asked(home, "--cap 1 make it right")
        first = await home.ended()
        assert (first.outcome, len(await home.turns())) == ("green", 2)
        await goes_red(home, first.head_sha)
        await comment_says(home, number, "Still red after 1 of 1 attempts")
        session = await home.ended()
    assert (session.status, session.reason) == ("failed", "cap_reached")
    assert session.id == first.id


async def test_news_of_a_failure_that_is_over_opens_nothing_again(tmp_path: Path) -> None:
    async with house(tmp_path, files=OFF) as home:
        home.agent(RIGHT)
        await asked(home, "make it right")
        first = await home.ended()
        home.local.add_fault("delay", event="status", times=1, seconds=2)
        await goes_red(home, first.head_sha)
        await goes_red(home, first.head_sha, "success")
        said = {each.reason for each in await home.handled("status", 2)}
        assert f"nothing that counts is red on {(first.head_sha or '')[:12]} now" in said
        assert await _told(home) == [(first.id, "completed", "green", 1)]


async def test_where_repairs_are_switched_off_nothing_goes_on(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        home.agent(RIGHT)
        number = await asked(home, "make it right")
        first = await home.ended()
        await home.comment(number, "@greenloop autofix off")
        await home.handled("issue_comment", 2)
        await goes_red(home, first.head_sha)
        (noted,) = await home.handled("status")
        assert (noted.decision, noted.reason) == ("ignored", "repairs are switched off here")
        assert await _told(home) == [(first.id, "completed", "green", 1)]


async def _told(home: House) -> list[Any]:
    count = len(await home.turns())
    return [(each.id, each.status, each.outcome, count) for each in await home.sessions()]

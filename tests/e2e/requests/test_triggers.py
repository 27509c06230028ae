"""What people do on GitHub, and what comes of it, with every part real but GitHub itself."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.e2e.acts import deliver_again
from tests.e2e.house import House, house

RIGHT = "pathlib.Path('value.txt').write_text('right')"


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path) as opened:
        yield opened


async def test_a_mention_by_somebody_without_write_access_is_refused_with_a_reason(home: House) -> None:
    number = await home.issue()
    await home.comment(number, "@greenloop fix it", login="bob")
    (delivery,) = await home.handled("issue_comment")
    assert delivery.decision == "refused"
    assert "bob has no write access" in (delivery.reason or "")
    assert await home.sessions() == []


async def test_a_mention_in_a_code_fence_does_nothing(home: House) -> None:
    number = await home.issue()
    await home.comment(number, "like this:\n```\n@greenloop fix it\n```")
    (delivery,) = await home.handled("issue_comment")
    assert (delivery.decision, await home.sessions()) == ("ignored", [])


async def test_an_issue_opened_with_a_mention_and_five_labels_makes_one_session(home: House) -> None:
    home.agent(RIGHT)
    body = {"title": "Make it right", "body": "@greenloop please", "labels": ["a", "b", "c", "d", "greenloop"]}
    await home.post("alice", "issues", body)
    session = await home.ended()
    assert (session.outcome, len(await home.sessions()), len(await home.turns())) == ("green", 1, 1)


async def test_a_second_mention_goes_on_with_the_same_branch_and_pull_request(home: House) -> None:
    home.agent(f"pathlib.Path('less.txt').write_text('less'); {RIGHT}")
    number = await home.issue()
    await home.comment(number, "@greenloop fix it")
    first = await home.ended()
    home.agent("pathlib.Path('less.txt').unlink(); pathlib.Path('more.txt').write_text('more')")
    await home.comment(first.pull_number or 0, "@greenloop and add more.txt instead of less.txt")
    await home.handled("issue_comment", 2)
    session = await home.ended()
    assert [turn.commit_sha is not None for turn in await home.turns()] == [True, True]
    assert (session.id, session.pull_number, session.outcome) == (first.id, first.pull_number, "green")
    assert "+++ b/value.txt" in (session.diff or "")
    assert "+++ b/more.txt" in (session.diff or "")
    assert (first.changed_files, session.changed_files) == (["less.txt", "value.txt"], ["more.txt", "value.txt"])
    assert len(await home.bot_comments(number)) == 1


async def test_stop_ends_a_running_turn_and_nothing_is_published(home: House) -> None:
    home.agent("time.sleep(60); pathlib.Path('value.txt').write_text('right')")
    number = await home.issue()
    await home.comment(number, "@greenloop fix it")

    async def runs() -> bool:
        return any(turn.status == "running" for turn in await home.turns())

    await home.until(runs)
    await home.comment(number, "@greenloop stop")
    session = await home.ended()
    assert (session.status, session.pull_number) == ("cancelled", None)
    assert "Stopped" in (await home.bot_comments(number))[0]


async def test_help_is_answered_and_starts_nothing(home: House) -> None:
    number = await home.issue()
    await home.comment(number, "@greenloop help")
    await home.handled("issue_comment")
    (answer,) = await home.bot_comments(number)
    assert "autofix off" in answer
    assert await home.sessions() == []


async def test_an_unknown_option_is_answered_with_what_is_known(home: House) -> None:
    number = await home.issue()
    await home.comment(number, "@greenloop --runtim codex fix it")
    await home.handled("issue_comment")
    (answer,) = await home.bot_comments(number)
    assert "`--runtime`" in answer
    assert await home.sessions() == []


async def test_an_unknown_runtime_is_refused_with_those_that_are_known(home: House) -> None:
    number = await home.issue()
    await home.comment(number, "@greenloop --runtime nosuch fix it")
    (delivery,) = await home.handled("issue_comment")
    assert (delivery.decision, await home.sessions()) == ("refused", [])
    (answer,) = await home.bot_comments(number)
    assert 'Unknown runtime "nosuch"' in answer
    assert "codex" in answer


async def test_a_broken_configuration_gets_one_comment_and_the_defaults_hold(tmp_path: Path) -> None:
    async with house(tmp_path, files={".github/greenloop.yml": "limits:\n  atempts: 1\n"}) as home:
        home.agent(RIGHT)
        number = await home.issue()
        await home.comment(number, "@greenloop fix it")
        session = await home.ended()
        comments = await home.bot_comments(number)
    assert session.outcome == "green"
    assert sum("line 2" in body and "attempts" in body for body in comments) == 1


async def test_closing_the_pull_request_ends_the_session(home: House) -> None:
    home.agent("pathlib.Path('value.txt').write_text('still wrong'); time.sleep(60 if 'failed on' in prompt else 0)")
    number = await home.issue()
    await home.comment(number, "@greenloop fix it")

    async def opened() -> int | None:
        return next((each.pull_number for each in await home.sessions()), None)

    pull = await home.until(opened)
    await home.post("alice", f"pulls/{pull}", {"state": "closed"}, method="PATCH")
    session = await home.ended()
    assert (session.status, session.pull_state) == ("cancelled", "closed")
    assert await deliver_again(home, "pull_request", action="opened") == 1
    assert (await home.sessions())[0].pull_state == "closed", "GitHub keeps no order among its deliveries"


async def test_six_sessions_of_one_tenant_wait_in_line_and_all_end(tmp_path: Path) -> None:
    async with house(tmp_path, running_sessions=2) as home:
        home.agent(RIGHT)
        numbers = [await home.issue(f"Issue {n}") for n in range(6)]
        await asyncio.gather(*(home.comment(number, "@greenloop fix it") for number in numbers))
        await home.ended(sessions=6)
        assert {session.outcome for session in await home.sessions()} == {"green"}


async def test_every_session_survives_a_redis_that_was_wiped(home: House) -> None:
    home.agent("time.sleep(1); " + RIGHT)
    number = await home.issue()
    await home.comment(number, "@greenloop fix it")
    await home.handled("issue_comment")
    await home.wipe_redis()
    assert (await home.ended()).outcome == "green"


async def test_a_protected_path_is_never_published_and_the_comment_says_which(home: House) -> None:
    home.agent("pathlib.Path('.github/workflows/ci.yml').write_text('name: x')")
    number = await home.issue()
    await home.comment(number, "@greenloop fix it")
    session = await home.ended()
    assert (session.reason, session.pull_number) == ("push_refused", None)
    assert ".github/workflows/ci.yml" in (await home.bot_comments(number))[0]


async def test_a_secret_in_a_change_is_never_published_nor_shown(home: House) -> None:
    key = "AKIA" + "IOSFODNN7REALKEY"
    home.agent(f"pathlib.Path('settings.py').write_text('AWS_ACCESS_KEY_ID = \"{key}\"')")
    number = await home.issue()
    await home.comment(number, "@greenloop fix it")
    session = await home.ended()
    comment = (await home.bot_comments(number))[0]
    assert (session.reason, session.pull_number) == ("push_refused", None)
    assert "settings.py" in comment
    assert key not in comment


async def test_somebody_elses_push_during_a_turn_is_merged_and_not_overwritten(home: House) -> None:
    home.agent("pathlib.Path('value.txt').write_text('right')")
    number = await home.issue()
    await home.comment(number, "@greenloop fix it")
    first = await home.ended()
    home.agent("wait(); pathlib.Path('more.txt').write_text('more')")
    await home.comment(first.pull_number or 0, "@greenloop add more.txt")

    async def runs() -> bool:
        return any(turn.status == "running" for turn in await home.turns())

    await home.until(runs)
    content = {"message": "Mine", "content": "bWluZQ==", "branch": first.branch}
    await home.post("alice", "contents/mine.txt", content, method="PUT")
    home.let_go()
    session = await home.ended()
    names = {each["filename"] for each in await home.get(f"pulls/{first.pull_number}/files")}
    assert (session.outcome, names) == ("green", {"value.txt", "more.txt", "mine.txt"})

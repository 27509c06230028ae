"""Every way to ask on GitHub, and texts that change after they asked."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.e2e.house import House, house

WORK = "pathlib.Path(f'made-{time.time_ns()}.txt').write_text('x'); pathlib.Path('value.txt').write_text('right')"


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path, running_sessions=1) as opened:
        yield opened


async def turns(home: House, count: int) -> list[tuple[str, str]]:
    """(kind, trigger) of all turns, once there are `count` and all sessions have ended."""

    async def there() -> bool:
        return len(await home.turns()) >= count

    await home.until(there)
    await home.ended()
    return [(turn.kind, turn.trigger) for turn in await home.turns()]


async def test_an_assignment_a_review_and_a_line_comment_go_on_with_one_pull_request(home: House) -> None:
    home.agent(WORK)
    number = await home.issue()
    bot = f"{home.local.app.slug}[bot]"
    await home.post("alice", f"issues/{number}/assignees", {"assignees": [bot]})
    assert await turns(home, 1) == [("issue", "assigned")]
    (session,) = await home.sessions()
    pull = f"pulls/{session.pull_number}"
    await home.post("bob", f"{pull}/reviews", {"event": "REQUEST_CHANGES", "body": "Not like this"})
    refused = await home.handled("pull_request_review")
    assert "bob has no write access" in (refused[0].reason or "")
    await home.post("alice", f"{pull}/reviews", {"event": "REQUEST_CHANGES", "body": "Name it better"})
    assert (await turns(home, 2))[1] == ("review", "changes_requested")
    await home.post("alice", f"{pull}/reviews", {"event": "COMMENT", "body": "@greenloop and add a test"})
    assert (await turns(home, 3))[2] == ("review", "mention")
    head = (await home.get(pull))["head"]["sha"]
    remark = {"path": "value.txt", "line": 1, "side": "RIGHT", "commit_id": head, "body": "@greenloop why this?"}
    await home.post("alice", f"{pull}/comments", remark)
    assert (await turns(home, 4))[3] == ("review", "mention")
    assert len(await home.sessions()) == len(await home.get("pulls?state=all")) == 1
    assert [turn.context["instruction"] for turn in await home.turns()][1:] == [
        "Name it better",
        "and add a test",
        "why this?",
    ]


async def test_a_remark_that_was_edited_after_its_review_is_left_out(home: House) -> None:
    home.agent(WORK)
    number = await home.issue()
    await home.comment(number, "@greenloop fix it")
    pull = f"pulls/{(await home.ended()).pull_number}"
    home.local.add_fault("slow", path="*/reviews/*/comments", seconds=3.0)
    remarks = [{"path": "value.txt", "line": 1, "side": "RIGHT", "body": body} for body in ("Say why", "Say how")]
    await home.post("alice", f"{pull}/reviews", {"event": "REQUEST_CHANGES", "body": "No", "comments": remarks})
    home.local.hub.clock.advance(12)
    first = (await home.get(f"{pull}/comments"))[0]
    await home.post("alice", f"pulls/comments/{first['id']}", {"body": "Evil"}, method="PATCH")
    assert (await turns(home, 2))[1] == ("review", "changes_requested")
    told = json.dumps((await home.turns())[1].spec)
    assert ("Say how" in told, "Say why" in told, "Evil" in told) == (True, False, False)


async def test_a_mention_in_a_pull_request_is_worked_on_in_its_own_branch(home: House) -> None:
    home.agent(WORK)
    tip = (await home.get("git/ref/heads/main"))["object"]["sha"]
    await home.post("alice", "git/refs", {"ref": "refs/heads/topic", "sha": tip})
    content = {"message": "Mine", "content": "bWluZQ==", "branch": "topic"}
    await home.post("alice", "contents/mine.txt", content, method="PUT")
    body = {"title": "Mine", "head": "topic", "base": "main", "body": "@greenloop make the check pass"}
    number = int((await home.post("alice", "pulls", body))["number"])
    session = await home.ended()
    assert (session.outcome, session.branch, session.pull_number, session.own_branch) == (
        "green",
        "topic",
        number,
        False,
    )
    assert len(await home.get("pulls?state=all")) == 1


async def test_what_is_edited_or_deleted_before_its_turn_counts_as_it_was_or_not_at_all(home: House) -> None:
    # one program for both turns: the first may still be starting when the second is asked for
    home.agent(f"""
        if 'take your time' in prompt:
            wait()
        else:
            assert 'The body then.' in prompt and 'Evil' not in prompt
        {WORK}
    """)
    await home.comment(await home.issue(), "@greenloop take your time")

    async def runs() -> bool:
        return any(turn.status == "running" for turn in await home.turns())

    await home.until(runs)
    number = await home.issue("The title then", "The body then.")
    asked = await home.comment(number, "no mention yet")
    await home.post("alice", f"issues/comments/{asked}", {"body": "@greenloop as in the issue"}, method="PATCH")
    await home.post("alice", f"issues/comments/{asked}", {"body": "@greenloop something else"}, method="PATCH")
    gone = await home.comment(await home.issue("Another"), "@greenloop never mind")
    await home.handled("issue_comment", 5)
    await home.post("alice", f"issues/{number}", {"title": "Evil title", "body": "Evil body"}, method="PATCH")
    await home.post("alice", f"issues/comments/{gone}", {}, method="DELETE")
    await home.handled("issue_comment", 6)
    home.let_go()
    session = await home.ended(sessions=3)
    assert [each.status for each in await home.sessions()] == ["completed", "completed", "cancelled"]
    first, second, third = await home.turns()
    assert (second.context["instruction"], third.status, third.handed_at) == ("as in the issue", "cancelled", None)
    assert "deleted" in (third.error or "") and first.id < second.id and session.pull_number is None

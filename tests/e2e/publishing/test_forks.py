"""Pull requests from forks: nothing by itself, and on a maintainer's command only what they allowed."""

import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from loops.secrets import env_secrets
from loops.secrets.vault import Vault
from tests.e2e.acts import press
from tests.e2e.house import REPOSITORY, House, house

RIGHT = "pathlib.Path('value.txt').write_text('right')"
FORK = "carol/widgets"
RULES = "autofix:\n  pull_requests: all\nenv_secrets: [PASSWORD]\nenv_file: .env.local\n"


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path, files={".github/greenloop.yml": RULES}) as opened:
        opened.local.add_user("carol")
        opened.local.set_permission(REPOSITORY, "carol", "read")
        yield opened


async def push(home: House, path: str, content: str, branch: str = "topic") -> str:
    """Carol commits to her fork; the commit's SHA."""
    carol = home.http("carol")
    url = f"/repos/{FORK}/contents/{path}"
    known = await carol.get(url, params={"ref": branch})
    body = {"message": f"Change {path}", "content": base64.b64encode(content.encode()).decode(), "branch": branch}
    answer = await carol.put(url, json=body | ({"sha": known.json()["sha"]} if known.is_success else {}))
    assert answer.is_success, answer.text
    return str(answer.json()["commit"]["sha"])


async def contribution(home: House, path: str = "carol.txt") -> tuple[int, str]:
    """Carol's pull request from her fork, and its head."""
    carol = home.http("carol")
    await home.post("carol", "forks", {})
    tip = (await carol.get(f"/repos/{FORK}/git/ref/heads/main")).json()["object"]["sha"]
    await carol.post(f"/repos/{FORK}/git/refs", json={"ref": "refs/heads/topic", "sha": tip})
    sha = await push(home, path, "by carol")
    body = {"title": "Carol's change", "head": "carol:topic", "base": "main", "body": None}
    return int((await home.post("carol", "pulls", body))["number"]), sha


async def test_a_forks_pull_request_never_starts_by_itself_however_red_it_is(home: House) -> None:
    _, sha = await contribution(home)
    await home.post("alice", f"statuses/{sha}", {"state": "failure", "context": "ci/other"})
    (status,) = await home.handled("status")
    assert status.decision == "ignored"
    assert "fork" in (status.reason or "")
    assert await home.sessions() == []


async def approved(home: House, number: int, words: str = "@greenloop make the check pass", turns: int = 1) -> str:
    """Alice asks on the fork's pull request, and approves the commit that the answer names; which that is."""
    await home.comment(number, words)
    await home.turn_ended(turns)
    sha = str((await home.get(f"pulls/{number}"))["head"]["sha"])
    await press(home, sha, f"approve-{sha[:12]}")
    return sha


async def test_a_command_is_answered_with_what_approving_means_and_the_button_approves_just_that_commit(
    home: House,
) -> None:
    number, sha = await contribution(home)
    home.agent(RIGHT)
    await home.comment(number, "@greenloop make the check pass", login="carol")
    (refused,) = await home.handled("issue_comment")
    assert "carol has no write access" in (refused.reason or "")
    await home.comment(number, "@greenloop make the check pass")
    asks = await home.ended()
    assert (asks.reason, asks.needs_approval, asks.branch) == ("fork_unapproved", True, None)
    assert [turn.handed_at for turn in await home.turns()] == [None]
    answer, comment = await home.bot_comments(number)
    for word in (sha[:12], "by carol", "runs its code with this repository's secrets", "1 file; none of them"):
        assert word in comment, comment
    assert f"`@greenloop approve {sha}`" in comment
    await press(home, sha, f"approve-{sha[:12]}", login="bob")
    await press(home, sha, f"approve-{sha[:12]}")
    await press(home, sha, f"approve-{sha[:12]}")
    pressed = await home.handled("check_run", 3)
    assert sorted(each.decision or "" for each in pressed) == ["continued", "joined", "refused"]
    session = await home.ended()
    pull = await home.get(f"pulls/{session.pull_number}")
    assert (session.outcome, session.own_branch, session.approved_sha) == ("green", True, sha)
    assert (pull["head"]["repo"]["full_name"], pull["base"]["ref"]) == (REPOSITORY, "main")
    assert f"#{number} by carol" in pull["body"] and pull["number"] != number
    newest, before, *_ = (await home.get(f"pulls/{session.pull_number}/commits"))[::-1]
    assert (newest["parents"][0]["sha"], before["sha"]) == (sha, sha)
    for login in ("carol", "alice"):
        assert f"Co-authored-by: {login} <" in newest["commit"]["message"]
    assert (await home.get(f"pulls/{number}"))["head"]["sha"] == sha
    answer, comment = await home.bot_comments(number)
    assert "carol" in answer and f"/pull/{session.pull_number}" in comment
    assert len([turn for turn in await home.turns() if turn.handed_at]) == 1


async def test_a_head_that_moved_is_not_approved_by_the_old_button_and_not_published(home: House) -> None:
    number, sha = await contribution(home)
    home.agent(f"wait(); {RIGHT}")
    await home.comment(number, "@greenloop make the check pass")
    await home.turn_ended(1)
    second = await push(home, "more.txt", "what nobody looked at")
    await press(home, sha, f"approve-{sha[:12]}")
    await home.turn_ended(2)
    (comment,) = await home.bot_comments(number)
    assert second[:12] in comment and "2 files" in comment and sha not in comment
    assert [turn.handed_at for turn in await home.turns()] == [None, None]

    await home.comment(number, f"@greenloop approve {second}")

    async def runs() -> bool:
        return any(turn.status == "running" for turn in await home.turns())

    await home.until(runs)
    moved = await push(home, "later.txt", "what nobody looked at")
    home.let_go()
    session = await home.ended()
    assert (session.status, session.reason, session.pull_number) == ("failed", "head_moved", None)
    (comment,) = await home.bot_comments(number)
    assert second[:12] in comment and moved[:12] in comment and "once more" in comment
    assert [each["name"] for each in await home.get("branches")] == ["main"]

    home.agent(RIGHT)
    await approved(home, number, "@greenloop now with the new commit", turns=4)
    await home.turn_ended(5)
    session = await home.ended()
    assert (session.outcome, session.approved_sha) == ("green", moved)
    files = {each["filename"] for each in await home.get(f"pulls/{session.pull_number}/files")}
    assert files == {"carol.txt", "more.txt", "later.txt", "value.txt"}


async def test_what_a_fork_pushed_after_our_pull_request_is_merged_once_approved_with_its_history(home: House) -> None:
    number, _ = await contribution(home)
    vault = Vault(home.settings.encryption_key_list())
    without = "assert not pathlib.Path('.env.local').exists()\n"
    home.agent(without + RIGHT)
    await approved(home, number)
    await home.turn_ended(2)
    first = await home.ended()
    await env_secrets.put(home.database, vault, REPOSITORY, "PASSWORD", "not-for-the-code-of-a-fork", 1.0)
    await push(home, "later.txt", "more by carol")
    home.agent(without + "pathlib.Path('more.txt').write_text('more')")
    moved = await approved(home, number, "@greenloop take in the new commit and add more.txt", turns=3)
    await home.turn_ended(4)
    session = await home.ended()
    assert (session.outcome, session.pull_number) == ("green", first.pull_number)
    tip = await home.get(f"commits/{session.head_sha}")
    assert [each["sha"] for each in tip["parents"]] == [first.head_sha, moved]
    files = {each["filename"] for each in await home.get(f"pulls/{session.pull_number}/files")}
    assert files == {"carol.txt", "later.txt", "more.txt", "value.txt"}
    await home.post("alice", f"pulls/{number}", {"state": "closed"}, method="PATCH")
    await home.handled("pull_request", 2)
    assert [each.pull_state for each in await home.sessions()] == ["open"]


async def test_a_fork_that_changes_a_workflow_is_not_brought_here_where_the_app_may_not(home: House) -> None:
    number, _ = await contribution(home, ".github/workflows/evil.yml")
    home.agent(RIGHT)
    await home.comment(number, "@greenloop make the check pass")
    session = await home.ended()
    assert (session.reason, await home.get("pulls?state=all&head=acme:x")) == ("fork_refused", [])
    (comment,) = await home.bot_comments(number)
    assert "`.github/workflows/evil.yml`" in comment and "secrets" in comment
    assert [turn.handed_at for turn in await home.turns()] == [None]

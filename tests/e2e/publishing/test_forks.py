"""Pull requests from forks: nothing by itself, and on a maintainer's command only what they allowed."""

import base64
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.process.wiring import open_loop
from loops.requests.missed_deliveries import redeliver_missed
from loops.secrets import env_secrets
from loops.secrets.vault import Vault
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


async def test_a_maintainers_command_brings_the_fix_to_a_branch_and_pull_request_of_ours(home: House) -> None:
    number, sha = await contribution(home)
    home.agent(RIGHT)
    await home.comment(number, "@greenloop make the check pass", login="carol")
    (refused,) = await home.handled("issue_comment")
    assert "carol has no write access" in (refused.reason or "")
    await home.comment(number, "@greenloop make the check pass")
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


async def test_a_head_that_moved_after_the_command_is_not_published_and_the_next_command_goes_on(home: House) -> None:
    number, sha = await contribution(home)
    home.agent(f"wait(); {RIGHT}")
    await home.comment(number, "@greenloop make the check pass")

    async def runs() -> bool:
        return any(turn.status == "running" for turn in await home.turns())

    await home.until(runs)
    moved = await push(home, "later.txt", "what nobody looked at")
    home.let_go()
    session = await home.ended()
    assert (session.status, session.reason, session.pull_number) == ("failed", "head_moved", None)
    (comment,) = await home.bot_comments(number)
    assert sha[:12] in comment and moved[:12] in comment and "once more" in comment
    assert [each["name"] for each in await home.get("branches")] == ["main"]

    home.agent(RIGHT)
    await home.comment(number, "@greenloop now with the new commit")
    await home.handled("issue_comment", 2)
    session = await home.ended()
    assert (session.outcome, session.approved_sha) == ("green", moved)
    files = {each["filename"] for each in await home.get(f"pulls/{session.pull_number}/files")}
    assert files == {"carol.txt", "later.txt", "value.txt"}


async def test_what_a_fork_pushed_after_our_pull_request_is_merged_on_command_with_its_history(home: House) -> None:
    number, _ = await contribution(home)
    vault = Vault(home.settings.encryption_key_list())
    without = "assert not pathlib.Path('.env.local').exists()\n"
    home.agent(without + RIGHT)
    await home.comment(number, "@greenloop make the check pass")
    first = await home.ended()
    await env_secrets.put(home.database, vault, REPOSITORY, "PASSWORD", "not-for-the-code-of-a-fork", 1.0)
    moved = await push(home, "later.txt", "more by carol")
    home.agent(without + "pathlib.Path('more.txt').write_text('more')")
    await home.comment(number, "@greenloop take in the new commit and add more.txt")
    await home.handled("issue_comment", 2)
    session = await home.ended()
    assert (session.outcome, session.pull_number) == ("green", first.pull_number)
    tip = await home.get(f"commits/{session.head_sha}")
    assert [each["sha"] for each in tip["parents"]] == [first.head_sha, moved]
    files = {each["filename"] for each in await home.get(f"pulls/{session.pull_number}/files")}
    assert files == {"carol.txt", "later.txt", "more.txt", "value.txt"}
    await home.post("alice", f"pulls/{number}", {"state": "closed"}, method="PATCH")
    await home.handled("pull_request", 2)
    assert [each.pull_state for each in await home.sessions()] == ["open"]


async def test_a_fork_that_changes_a_workflow_is_not_brought_here(home: House) -> None:
    number, _ = await contribution(home, ".github/workflows/evil.yml")
    home.agent(RIGHT)
    await home.comment(number, "@greenloop make the check pass")
    session = await home.ended()
    assert (session.reason, await home.get("pulls?state=all&head=acme:x")) == ("fork_refused", [])
    (comment,) = await home.bot_comments(number)
    assert "`.github/workflows/evil.yml`" in comment and "secrets" in comment
    assert [turn.handed_at for turn in await home.turns()] == [None]


async def test_a_push_between_the_command_and_its_arrival_is_not_taken_for_what_was_allowed(home: House) -> None:
    number, _ = await contribution(home)
    await home.local.idle()
    url = home.local.app.hook.url
    home.local.set_webhook("http://127.0.0.1:9/webhooks/github")
    home.agent(RIGHT)
    await home.comment(number, "@greenloop make the check pass")
    home.local.hub.clock.advance(2)
    moved = await push(home, "later.txt", "what nobody looked at")
    await home.local.idle()
    home.local.set_webhook(url)
    async with open_loop(home.settings, home.settings.redis_url, "the other worker") as loop:
        assert await redeliver_missed(replace(loop, clock=lambda: loop.clock() + 120)) >= 2
    session = await home.ended()
    assert (session.reason, session.approved_sha, session.pull_number) == ("head_moved", moved, None)
    (comment,) = await home.bot_comments(number)
    assert moved[:12] in comment and "between your comment and its arrival" in comment

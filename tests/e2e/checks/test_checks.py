"""Checks of every kind, and those that never come to an end."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from github.client.app import GitHubApp
from github.client.repository import RepositoryHandle
from github.client.scopes import Scope
from loops.store.tables import Session
from tests.e2e.acts import RIGHT, asked, comment_says, push, runs
from tests.e2e.house import REPOSITORY, House, house


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path, run=None) as opened:
        yield opened


@pytest.fixture
async def other(home: House) -> AsyncIterator[RepositoryHandle]:
    """Another App's view of the repository: some other CI."""
    app = home.local.add_app("otherci", {"checks": "write", "metadata": "read", "statuses": "write"})
    installed = home.local.install("acme", [REPOSITORY], app=app)
    client = GitHubApp(app.id, app.private_key, api_url=home.local.api_url)
    yield RepositoryHandle(client, installed.id, home.local.repository(REPOSITORY).id)
    await client.aclose()


async def report(other: RepositoryHandle, sha: str, conclusion: str, **more: Any) -> None:
    body = {"name": "otherci", "head_sha": sha, "status": "completed", "conclusion": conclusion, **more}
    await other.request("POST", "check-runs", scope=Scope.TALK, json=body)


async def waits(home: House, turns: int = 1) -> Session:
    """The session, once that many turns are done and it waits for checks."""

    async def look() -> Session | None:
        found, done = await home.sessions(), [turn for turn in await home.turns() if turn.status == "done"]
        ready = found and found[-1].status == "waiting" and found[-1].checks and len(done) == turns
        return found[-1] if ready else None

    return await home.until(look)


async def later(home: House, hours: float) -> None:
    """Let time pass for the waits of the session."""
    async with home.database.write() as tx:
        times = (Session.pushed_at, Session.hint_at, Session.checks_at)
        await tx.execute(update(Session).values({**{each: each - hours * 3600 for each in times}, Session.due_at: 1.0}))


async def test_required_checks_of_other_apps_and_statuses_are_awaited_and_repaired(
    home: House, other: RepositoryHandle
) -> None:
    home.local.protect(REPOSITORY, "main", ["otherci", "legacy"])
    home.agent(
        f"pathlib.Path('{home.folder}/prompt').write_text(prompt) if 'failed on' in prompt else None; {RIGHT}; "
        "pathlib.Path(str(time.time())).write_text('x')"
    )
    number = await asked(home, "make it right")
    first = (await waits(home)).head_sha or ""
    await comment_says(home, number, "Waiting for required `legacy`, `otherci`, which never reported yet")
    note = {"path": "value.txt", "start_line": 1, "end_line": 1, "annotation_level": "failure", "message": "too right"}
    output = {"title": "1 problem", "summary": "The summary says why", "annotations": [note]}
    await report(other, first, "failure", output=output)
    await home.post(
        "alice", f"statuses/{first}", {"state": "error", "context": "legacy", "description": "old CI broke"}
    )
    second = (await waits(home, 2)).head_sha or ""
    prompt = (home.folder / "prompt").read_text()
    for words in ("The summary says why", "too right", "old CI broke"):
        assert words in prompt
    await home.post("alice", f"statuses/{first}", {"state": "failure", "context": "legacy"})
    stale = [each for each in await home.handled("status", 2) if each.decision == "ignored"]
    assert [each.reason for each in stale] == [
        f"no open pull request of this repository has the red head {first[:12]}; those from forks never start"
    ]
    await report(other, second, "success")
    await home.post("alice", f"statuses/{second}", {"state": "success", "context": "legacy"})
    session = await home.ended()
    assert (session.outcome, len(await home.turns())) == ("green", 2)


async def test_a_check_that_a_ruleset_requires_and_that_never_reports_is_said_after_the_longest_wait(
    home: House,
) -> None:
    rule = {"type": "required_status_checks", "parameters": {"required_status_checks": [{"context": "nightly"}]}}
    home.local.add_ruleset(REPOSITORY, "main", ["~DEFAULT_BRANCH"], [rule])
    home.agent(RIGHT)
    number = await asked(home, "make it right")
    await waits(home)
    await later(home, 3)
    session = await home.ended()
    assert (session.status, session.reason) == ("failed", "checks_never_settled")
    assert "required `nightly` never reported" in (await home.bot_comments(number))[0]


async def test_a_check_that_waits_for_a_person_is_said_and_goes_on_when_they_approve(
    home: House, other: RepositoryHandle
) -> None:
    home.local.protect(REPOSITORY, "main", ["otherci"])
    home.agent(RIGHT)
    number = await asked(home, "make it right")
    head = (await waits(home)).head_sha or ""
    await report(other, head, "action_required")
    comment = await comment_says(
        home, number, "A person has to approve checks", "`otherci` waits for a person's approval"
    )
    assert "I go on by myself" in comment
    await report(other, head, "success")
    assert (await home.ended()).outcome == "green"


async def test_an_approval_that_does_not_come_is_said_after_the_longest_wait(
    home: House, other: RepositoryHandle
) -> None:
    home.local.protect(REPOSITORY, "main", ["otherci"])
    home.agent(RIGHT)
    number = await asked(home, "make it right")
    await report(other, (await waits(home)).head_sha or "", "action_required")
    await comment_says(home, number, "A person has to approve checks")
    await later(home, 3)
    assert (await home.ended()).reason == "checks_unapproved"
    assert "waits for a person's approval" in (await home.bot_comments(number))[0]


async def test_a_pull_request_that_conflicts_with_its_base_is_said_and_not_waited_for(home: House) -> None:
    home.agent(f"wait(); {RIGHT}")
    number = await asked(home, "make it right")
    await runs(home)
    await push(home, "value.txt", "another")
    home.let_go()
    session = await home.ended()
    assert (session.status, session.reason) == ("failed", "conflict")
    assert "The pull request conflicts with its base branch" in (await home.bot_comments(number))[0]


NETWORK = {"title": "npm ci failed", "summary": "npm error code ECONNRESET\nnpm error network read ECONNRESET"}


async def test_what_only_its_own_app_can_run_again_costs_an_attempt_and_no_rerun_is_claimed(
    home: House, other: RepositoryHandle
) -> None:
    home.local.protect(REPOSITORY, "main", ["otherci", "legacy"])
    home.agent("pathlib.Path(str(time.time())).write_text('x')")
    number = await asked(home, "make it right")
    first = (await waits(home)).head_sha or ""
    status = {"state": "error", "context": "legacy", "description": NETWORK["summary"]}
    await report(other, first, "failure", output=NETWORK)
    await home.post("alice", f"statuses/{first}", status)
    second = (await waits(home, 2)).head_sha or ""
    await report(other, second, "success")
    await home.post("alice", f"statuses/{second}", {"state": "success", "context": "legacy"})
    assert ((await home.ended()).outcome, len(await home.turns())) == ("green", 2)
    assert "ran again" not in (await home.bot_comments(number))[0]


async def test_a_check_that_is_required_since_the_last_look_is_waited_for(tmp_path: Path) -> None:
    async with house(tmp_path, run="sleep 6") as home:
        home.agent(RIGHT)
        await home.comment(await home.issue(), "@greenloop fix it")

        async def told(word: str) -> Session | None:
            found = await home.sessions()
            return found[-1] if found and word in str(found[-1].checks) else None

        await home.until(lambda: told("running"))
        home.local.protect(REPOSITORY, "main", ["otherci"])
        session = await home.until(lambda: told("otherci"))
        assert session.outcome is None
        await home.post("alice", f"statuses/{session.head_sha}", {"state": "success", "context": "otherci"})
        assert (await home.ended()).outcome == "green"

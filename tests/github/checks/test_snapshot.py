"""The whole state of a head commit, asked of the local GitHub, with another app's checks and commit statuses."""

from pathlib import Path
from typing import Any

import pytest

from github.checks.model import Kind, Required
from github.checks.reruns import rerun
from github.checks.state import branch_rules, required_checks, snapshot
from github.checks.verdict import Verdict, settle
from github.client.app import GitHubApp
from github.client.errors import GitHubError
from github.client.repository import RepositoryHandle
from github.client.scopes import Scope
from github.repositories import queries
from github.repositories.config import Checks
from github.repositories.queries import head
from tests.github.conftest import Spot, TestClock
from tests.github.gitside import Clone

RULES = Checks(settle_seconds=0)


@pytest.fixture
async def other(spot: Spot) -> Any:
    """Another app with checks of its own on the same repository."""
    slug = f"ci-{spot.owner}"
    row = spot.local.add_app(slug, permissions={"checks": "write", "metadata": "read"}, events=[])
    installation = spot.local.install(spot.owner, ["app"], app=row)
    client = GitHubApp(row.id, row.private_key, api_url=spot.local.api_url, clock=TestClock(spot.local))
    yield RepositoryHandle(client, installation.id, spot.row.id)
    await client.aclose()


@pytest.fixture
async def sha(repository: RepositoryHandle) -> str:
    found = await head(repository, "trunk")
    assert found is not None
    return found


async def report(other: RepositoryHandle, sha: str, name: str, conclusion: str | None = None, **output: Any) -> int:
    body: dict[str, Any] = {"name": name, "head_sha": sha, "status": "completed" if conclusion else "in_progress"}
    if conclusion:
        body["conclusion"] = conclusion
    if output:
        body["output"] = output
    return int((await other.request("POST", "check-runs", scope=Scope.TALK, json=body)).json()["id"])


async def verdict(repository: RepositoryHandle, sha: str, base: str | None = "trunk", **options: Any) -> Verdict:
    found = await snapshot(repository, sha, own_app_id=repository.app.app_id, base=base, **options)
    now = repository.app.clock.now()
    return settle(found, RULES, now=now + 5, since=now).verdict


async def test_another_apps_check_runs_and_statuses_make_the_state(
    spot: Spot, repository: RepositoryHandle, other: RepositoryHandle, sha: str
) -> None:
    assert await verdict(repository, sha) is Verdict.NONE
    running = await report(other, sha, "build")
    assert await verdict(repository, sha) is Verdict.RUNNING
    done = {"status": "completed", "conclusion": "success"}
    await other.request("PATCH", f"check-runs/{running}", scope=Scope.TALK, json=done)
    assert await verdict(repository, sha) is Verdict.GREEN
    await spot.act("alice", "POST", f"statuses/{sha}", state="pending", context="ci/x", description="wait")
    assert await verdict(repository, sha) is Verdict.RUNNING
    await spot.act("alice", "POST", f"statuses/{sha}", state="error", context="ci/x", description="boom")
    found = await snapshot(repository, sha, own_app_id=repository.app.app_id)
    (status,) = [check for check in found.checks if check.kind is Kind.STATUS]
    assert (status.name, status.conclusion, status.title) == ("ci/x", "failure", "boom")
    assert await verdict(repository, sha) is Verdict.RED


async def test_the_newest_run_of_a_name_counts(repository: RepositoryHandle, other: RepositoryHandle, sha: str) -> None:
    await report(other, sha, "build", "failure", title="2 problems", summary="a.py:1")
    found = await snapshot(repository, sha, own_app_id=repository.app.app_id)
    assert [(check.kind, check.title, check.summary) for check in found.checks] == [
        (Kind.CHECK_RUN, "2 problems", "a.py:1")
    ]
    await report(other, sha, "build", "success")
    assert await verdict(repository, sha) is Verdict.GREEN


async def test_more_checks_than_a_page_holds_are_all_seen(
    repository: RepositoryHandle, other: RepositoryHandle, sha: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("github.client.repository.PER_PAGE", 2)
    monkeypatch.setattr("github.checks.head_query.MOST", 2)
    for number in range(5):
        await report(other, sha, f"c{number}", "failure" if number == 0 else "success")
    found = await snapshot(repository, sha, own_app_id=repository.app.app_id)
    assert sorted(check.name for check in found.checks) == [f"c{number}" for number in range(5)]


async def test_required_checks_come_from_protection_and_from_rulesets(
    spot: Spot, repository: RepositoryHandle, other: RepositoryHandle, sha: str
) -> None:
    spot.local.protect(spot.name, "trunk", contexts=["build"])
    wanted = [{"context": "deploy", "integration_id": 99}]
    rule = {"type": "required_status_checks", "parameters": {"required_status_checks": wanted}}
    spot.local.add_ruleset(spot.name, "deploys", ["~DEFAULT_BRANCH"], [rule])
    assert set(await required_checks(repository, "trunk")) == {Required("build"), Required("deploy", 99)}
    assert await required_checks(repository, "topic") == ()
    await report(other, sha, "build", "success")
    found = await snapshot(repository, sha, own_app_id=repository.app.app_id, base="trunk")
    state = settle(found, RULES, now=repository.app.clock.now() + 5, since=repository.app.clock.now())
    assert state.verdict is Verdict.RUNNING
    assert "`deploy`" in state.explanation
    assert [check.required for check in found.checks] == [True]


async def test_the_rules_of_a_branch_that_is_not_there_yet_are_known(spot: Spot, repository: RepositoryHandle) -> None:
    spot.local.add_ruleset(spot.name, "no", ["refs/heads/greenloop/**"], [{"type": "creation"}])
    assert [rule["type"] for rule in await branch_rules(repository, "greenloop/12-x")] == ["creation"]
    assert await branch_rules(repository, "topic") == []


async def test_a_conflicted_pull_request_is_seen(spot: Spot, repository: RepositoryHandle, tmp_path: Path) -> None:
    clone = await Clone(spot, tmp_path / "c").start()
    sha = await clone.commit({"README.md": "theirs\n"})
    await clone.push("topic")
    await clone.git("reset", "--quiet", "--hard", "origin/trunk")
    await clone.commit({"README.md": "ours\n"})
    await clone.push("trunk")
    number = (await spot.act("alice", "POST", "pulls", title="T", head="topic", base="trunk"))["number"]
    await spot.local.idle()
    found = await queries.pull(repository, number)
    while found.mergeable is None:
        found = await queries.pull(repository, number)
    assert await verdict(repository, sha, number=number) is Verdict.CONFLICTED


async def test_a_commit_that_is_not_there_is_an_error(repository: RepositoryHandle) -> None:
    with pytest.raises(GitHubError):
        await snapshot(repository, "0" * 40, own_app_id=1)


async def test_another_apps_check_cannot_be_run_again_by_us(
    repository: RepositoryHandle, other: RepositoryHandle, sha: str
) -> None:
    await report(other, sha, "build", "failure")
    found = await snapshot(repository, sha, own_app_id=repository.app.app_id)
    assert not await rerun(repository, found.checks[0])


async def test_a_status_cannot_be_run_again(spot: Spot, repository: RepositoryHandle, sha: str) -> None:
    await spot.act("alice", "POST", f"statuses/{sha}", state="failure", context="ci/x")
    found = await snapshot(repository, sha, own_app_id=repository.app.app_id)
    assert not await rerun(repository, found.checks[0])


async def test_rules_that_may_be_a_minute_old_are_asked_once_and_the_checks_each_time(
    spot: Spot, repository: RepositoryHandle, sha: str
) -> None:
    seen: list[str] = []
    spot.local.observe(answers=lambda route, _method, _status, _body, _version: seen.append(route))
    for _ in range(3):
        assert await verdict(repository, sha, rules_age=60) is Verdict.NONE
    rules = "/repos/{owner}/{repo}/rules/branches/{branch}"
    assert (seen.count(rules), seen.count("/graphql")) == (1, 3)
    spot.local.protect(spot.name, "trunk", ["build"])
    found = await snapshot(repository, sha, own_app_id=repository.app.app_id, base="trunk", max_age=60)
    assert [each.name for each in found.required] == ["build"]
    assert (seen.count(rules), seen.count("/graphql")) == (2, 3)

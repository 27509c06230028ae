"""A commit's checks by one query: the same as by REST, which is asked wherever the query cannot tell all of it."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from github.checks import head_query
from github.checks.model import Snapshot
from github.checks.state import Reported, reported, snapshot
from github.client.app import GitHubApp
from github.client.repository import RepositoryHandle
from github.client.scopes import Scope
from github.repositories.queries import head
from tests.github.conftest import Spot, TestClock

SUITES = "/repos/{owner}/{repo}/commits/{ref}/check-suites"
OUTPUT = {"title": "2 problems", "summary": "a.py:1", "text": "long"}
NOTE = {"path": "a.py", "start_line": 1, "end_line": 1, "annotation_level": "failure", "message": "no"}


@pytest.fixture
async def pull(spot: Spot, repository: RepositoryHandle) -> tuple[str, int]:
    """A pull request whose head has check runs of another app and statuses: its head and number."""
    made = await spot.act("alice", "GET", "git/ref/heads/trunk")
    await spot.act("alice", "POST", "git/refs", ref="refs/heads/topic", sha=made["object"]["sha"])
    blob = {"message": "m", "content": "eA==", "branch": "topic"}
    await spot.act("alice", "PUT", "contents/x.txt", **blob)
    number = (await spot.act("alice", "POST", "pulls", title="T", head="topic", base="trunk"))["number"]
    sha = await head(repository, "topic")
    assert sha is not None
    slug = f"ci-{spot.owner}"
    row = spot.local.add_app(slug, permissions={"checks": "write", "metadata": "read"}, events=[])
    installation = spot.local.install(spot.owner, ["app"], app=row)
    client = GitHubApp(row.id, row.private_key, api_url=spot.local.api_url, clock=TestClock(spot.local))
    other = RepositoryHandle(client, installation.id, spot.row.id)
    for name, conclusion in (("build", "failure"), ("build", "failure"), ("lint", "success"), ("slow", None)):
        body: dict[str, Any] = {"name": name, "head_sha": sha, "status": "completed" if conclusion else "in_progress"}
        body |= {"external_id": f"x-{name}", "output": {**OUTPUT, "annotations": [NOTE]}}
        body |= {"conclusion": conclusion} if conclusion else {}
        await other.request("POST", "check-runs", scope=Scope.TALK, json=body)
    for state, context in (("pending", "ci/a"), ("success", "ci/a"), ("error", "ci/b")):
        await spot.act("alice", "POST", f"statuses/{sha}", state=state, context=context, description="d")
    await client.aclose()
    return sha, number


@pytest.fixture
def seen(spot: Spot) -> list[str]:
    """The routes that were asked."""
    found: list[str] = []
    spot.local.observe(answers=lambda route, _method, _status, _body, _version: found.append(route))
    return found


def plain(found: Snapshot) -> Any:
    return sorted(map(repr, found.checks)), found.open_suites, found.conflicted, found.undecided, found.excused


async def by_rest(repository: RepositoryHandle, ask: Callable[[], Awaitable[Any]]) -> Any:
    queries = repository.app.queries
    queries.close(repository.installation_id, repository.app.clock.now() + 60)
    try:
        return await ask()
    finally:
        queries.close(repository.installation_id, 0.0)


async def test_a_query_tells_the_same_as_the_requests_that_it_stands_for(
    repository: RepositoryHandle, pull: tuple[str, int], seen: list[str]
) -> None:
    sha, number = pull
    own = repository.app.app_id

    async def both() -> tuple[Snapshot, Reported]:
        found = await snapshot(repository, sha, own_app_id=own, base="trunk", number=number)
        return found, await reported(repository, sha, number=number)

    await both()  # whether it merges is known from the second time on
    (asked, told), (listed, told_by_rest) = await both(), await by_rest(repository, both)
    assert plain(asked) == plain(listed)
    assert {check.name for check in asked.checks} >= {"build", "lint", "slow", "ci/a", "ci/b"}
    assert all(check.annotations == 1 for check in asked.checks if check.external_id == "x-build")
    assert told.pull == told_by_rest.pull
    assert told.pull is not None
    assert told.pull.head_sha == sha
    assert seen.count(SUITES) == 2


async def test_a_look_at_a_head_whose_workflows_say_what_they_said_is_one_query(
    spot: Spot, repository: RepositoryHandle, pull: tuple[str, int]
) -> None:
    sha, number = pull
    own = repository.app.app_id
    await snapshot(repository, sha, own_app_id=own, base="trunk", number=number, rules_age=60)
    answers: list[tuple[str, int]] = []
    spot.local.observe(answers=lambda route, _method, status, _body, _version: answers.append((route, status)))
    await snapshot(repository, sha, own_app_id=own, base="trunk", number=number, rules_age=60)
    assert answers == [("/graphql", 200)]


async def test_a_commit_with_more_than_a_query_tells_is_asked_about_by_rest(
    repository: RepositoryHandle, pull: tuple[str, int], seen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sha, _ = pull
    whole = await snapshot(repository, sha, own_app_id=1)
    monkeypatch.setattr(head_query, "HEAD", head_query.HEAD.replace("first: 100", "first: 2"))
    found = await snapshot(repository, sha, own_app_id=1)
    assert plain(found) == plain(whole)
    assert seen.count(SUITES) == 1


async def test_what_graphql_refuses_is_asked_of_rest_and_not_of_graphql_again_for_an_hour(
    spot: Spot, repository: RepositoryHandle, pull: tuple[str, int], seen: list[str]
) -> None:
    sha, _ = pull
    whole = await snapshot(repository, sha, own_app_id=1)
    text = head_query.HEAD.replace("databaseId object", "databaseId noSuchField object")
    with pytest.MonkeyPatch.context() as patch:  # a server of before the field was made
        patch.setattr(head_query, "HEAD", text)
        assert plain(await snapshot(repository, sha, own_app_id=1)) == plain(whole)
    seen.clear()
    assert plain(await snapshot(repository, sha, own_app_id=1)) == plain(whole)
    assert "/graphql" not in seen
    clock = repository.app.clock
    assert isinstance(clock, TestClock)
    clock.advance(3700)
    await snapshot(repository, sha, own_app_id=1)
    assert "/graphql" in seen


async def test_an_outage_of_graphql_is_none_of_rest(
    spot: Spot, repository: RepositoryHandle, pull: tuple[str, int], seen: list[str]
) -> None:
    sha, _ = pull
    whole = await snapshot(repository, sha, own_app_id=1)
    rule = spot.local.hub.faults.add("error", path="/graphql", status=502)
    assert plain(await snapshot(repository, sha, own_app_id=1)) == plain(whole)
    spot.local.hub.faults.rules.remove(rule)
    seen.clear()
    await snapshot(repository, sha, own_app_id=1)
    assert SUITES not in seen


async def test_a_budget_that_is_nearly_used_up_is_left_to_what_only_graphql_can_do(
    repository: RepositoryHandle, pull: tuple[str, int], seen: list[str]
) -> None:
    sha, _ = pull
    now = repository.app.clock.now()
    left = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "499", "x-ratelimit-reset": str(now + 600)}
    repository.app.queries.told(repository.installation_id, left)
    await snapshot(repository, sha, own_app_id=1)
    assert "/graphql" not in seen


async def test_another_repository_that_took_the_name_is_not_believed(
    spot: Spot, repository: RepositoryHandle, pull: tuple[str, int], tmp_path: Any
) -> None:
    sha, _ = pull
    whole = await snapshot(repository, sha, own_app_id=1)
    await spot.act("alice", "GET", "")
    spot.local.set_permission(spot.name, "alice", "admin")
    await spot.act("alice", "PATCH", "", name="moved")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "README.md").write_text("another\n")
    spot.local.add_repository(spot.name, tmp_path / "other")
    assert repository.app.names.get(repository.id) == spot.name
    clock = repository.app.clock
    assert isinstance(clock, TestClock)
    clock.advance(60)  # a name that GitHub confirmed a moment ago is not doubted
    found = await snapshot(repository, sha, own_app_id=1)
    assert {check.id for check in found.checks} == {check.id for check in whole.checks}
    assert repository.app.names.get(repository.id) == f"{spot.owner}/moved"

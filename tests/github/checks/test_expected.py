"""Which workflows a commit promises to run."""

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from github.checks.expected import late_workflows, runs_for, runs_when_ready, workflows_at
from github.client.errors import ServerFault
from github.client.http import retries
from github.client.repository import RepositoryHandle
from tests.github.conftest import Spot

BRANCH, BASE = "greenloop/7-fix", "main"


@pytest.mark.parametrize(
    ("on", "runs"),
    [
        ("push", True),
        (["push", "pull_request"], True),
        ({"push": None}, True),
        ({"pull_request": None}, True),
        ({"push": {"branches": ["main"]}}, False),
        ({"push": {"branches": ["**"]}}, True),
        ({"push": {"branches": ["*"]}}, False),
        ({"push": {"branches": ["greenloop/**", "!greenloop/7-*"]}}, False),
        ({"push": {"branches-ignore": ["greenloop/**"]}}, False),
        ({"push": {"tags": ["v*"]}}, False),
        ({"pull_request": {"branches": ["main"]}}, True),
        ({"pull_request": {"branches": ["release/*"]}}, False),
        ({"pull_request": {"types": ["ready_for_review"]}}, False),
        ({"pull_request": {"types": ["opened", "labeled"]}}, True),
        ({"pull_request": {"paths": ["docs/**"]}}, False),
        ({"schedule": [{"cron": "0 0 * * *"}], "workflow_dispatch": None}, False),
        (None, False),
        (5, False),
    ],
)
def test_a_workflow_is_waited_for_only_where_its_file_leaves_no_doubt(on: Any, runs: bool) -> None:
    assert runs_for(on, BRANCH, BASE) is runs


def test_without_a_pull_request_nothing_is_expected_of_workflows_for_pull_requests() -> None:
    assert not runs_for("pull_request", BRANCH, None)
    assert not runs_for("push", None, BASE)
    assert runs_for(["push", "pull_request"], None, BASE)


@pytest.mark.parametrize(
    ("on", "runs"),
    [
        ({"pull_request": {"types": ["opened", "ready_for_review"]}}, True),
        ({"pull_request": {"types": "ready_for_review"}}, True),
        ({"pull_request": {"types": ["ready_for_review"], "branches": ["release/*"]}}, False),
        ({"pull_request": {"types": ["ready_for_review"], "paths": ["docs/**"]}}, False),
        ({"pull_request": {"types": ["opened"]}}, False),
        ({"pull_request": None, "push": None}, False),
        (["pull_request"], False),
    ],
)
def test_only_a_workflow_that_wants_to_know_runs_when_a_pull_request_stops_being_a_draft(on: Any, runs: bool) -> None:
    assert runs_when_ready(on, BASE) is runs


@pytest.fixture
def broken(spot: Spot, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A GitHub that answers no question about a workflow file."""
    monkeypatch.setattr(retries, "WAITS", ())
    spot.local.hub.faults.add("error", method="GET", path="*/contents/.github/workflows/*", status=502)
    yield
    spot.local.hub.faults.clear()


async def test_what_cannot_be_read_at_the_moment_promises_neither_something_nor_nothing(
    spot: Spot, repository: RepositoryHandle, broken: None
) -> None:
    content = base64.b64encode(b"on: push\njobs: {}\n").decode()
    made = await spot.act("alice", "PUT", "contents/.github/workflows/own.yml", message="m", content=content)
    sha = made["commit"]["sha"]
    paths = await workflows_at(repository, sha)
    assert ".github/workflows/own.yml" in paths
    with pytest.raises(ServerFault):
        await late_workflows(repository, sha, [], paths, branch="trunk", base=None)

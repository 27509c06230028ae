"""Which workflows a commit promises to run."""

from typing import Any

import pytest

from github.checks.expected import runs_for, runs_when_ready

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

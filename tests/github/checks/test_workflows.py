"""Checks and evidence of workflows that the local GitHub really runs."""

from pathlib import Path

import pytest

from github.checks.logs import evidence, jobs, open_log
from github.checks.model import Check, Kind
from github.checks.red_query import left_by_red_runs
from github.checks.reruns import rerun
from github.checks.state import snapshot
from github.checks.verdict import HeadState, Verdict, settle
from github.client.errors import Gone, NotFound
from github.client.repository import RepositoryHandle
from github.repositories.config import Checks
from tests.github.conftest import Spot
from tests.github.gitside import Clone

RULES = Checks(settle_seconds=0)
WORKFLOW = """\
name: CI
on: push
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - name: Prepare
        run: echo "all well so far"
      - name: Run the tests
        run: |
          echo "AssertionError: 1 != 2"
          test -e fixed
      - name: Never reached
        run: echo no
  lint:
    runs-on: ubuntu-latest
    steps:
      - run: echo fine
"""


@pytest.fixture
async def clone(spot: Spot, tmp_path: Path) -> Clone:
    return await Clone(spot, tmp_path / "c").start()


async def pushed(spot: Spot, clone: Clone, workflow: str, **files: str) -> str:
    sha = await clone.commit({".github/workflows/ci.yml": workflow, **files})
    await clone.push("topic")
    await spot.local.idle()
    return sha


async def state(repository: RepositoryHandle, sha: str) -> HeadState:
    found = await snapshot(repository, sha, own_app_id=repository.app.app_id)
    now = repository.app.clock.now()
    return settle(found, RULES, now=now + 5, since=now)


async def log_of(repository: RepositoryHandle, check: Check) -> str:
    found = await evidence(repository, check)
    assert found.log is not None, found.log_missing
    async with found.log() as chunks:
        return b"".join([chunk async for chunk in chunks]).decode()


async def test_a_red_workflow_names_its_failed_step_and_gives_its_log(
    spot: Spot, repository: RepositoryHandle, clone: Clone
) -> None:
    sha = await pushed(spot, clone, WORKFLOW)
    found = await state(repository, sha)
    assert found.verdict is Verdict.RED
    (red,) = found.red
    assert (red.kind, red.name, red.workflow, red.run_attempt) == (Kind.JOB, "test", "CI", 1)
    left = await evidence(repository, red)
    assert left.failed_steps == ("Run the tests",)
    assert left.job is not None
    assert left.job.check_run_id == red.id
    text = await log_of(repository, red)
    assert "AssertionError: 1 != 2" in text
    assert "all well so far" in text
    assert [job.name async for job in jobs(repository, red.run_id, 1)] == ["test", "lint"]


async def test_running_again_makes_another_attempt_of_the_failed_jobs(
    spot: Spot, repository: RepositoryHandle, clone: Clone
) -> None:
    sha = await pushed(spot, clone, WORKFLOW)
    (red,) = (await state(repository, sha)).red
    assert await rerun(repository, red)
    await spot.local.idle()
    (again,) = (await state(repository, sha)).red
    assert (again.run_id, again.run_attempt) == (red.run_id, 2)
    assert await rerun(repository, red), "it was run again already since"
    await spot.local.idle()
    assert (await state(repository, sha)).red[0].run_attempt == 2


async def test_runs_are_asked_for_again_only_where_a_suite_says_something_new(
    spot: Spot, repository: RepositoryHandle, clone: Clone
) -> None:
    sha = await pushed(spot, clone, WORKFLOW)
    (red,) = (await state(repository, sha)).red
    asked: list[str] = []
    spot.local.observe(answers=lambda route, _method, _status, _body, _version: asked.append(route))
    assert (await state(repository, sha)).red == (red,)
    assert asked == ["/graphql"]
    assert await rerun(repository, red)
    await spot.local.idle()
    asked.clear()
    assert (await state(repository, sha)).red[0].run_attempt == 2
    assert "/repos/{owner}/{repo}/actions/runs" in asked


async def test_the_red_runs_of_a_commit_tell_their_steps_and_remarks_in_one_query(
    spot: Spot, repository: RepositoryHandle, clone: Clone
) -> None:
    sha = await pushed(spot, clone, WORKFLOW)
    (red,) = (await state(repository, sha)).red
    by_rest = await evidence(repository, red)
    asked: list[str] = []
    spot.local.observe(answers=lambda route, _method, _status, _body, _version: asked.append(route))
    left = await left_by_red_runs(repository, sha)
    found = await evidence(repository, red, left[red.id])
    assert asked == ["/graphql"]
    assert (found.job, found.annotations) == (by_rest.job, by_rest.annotations)
    assert found.failed_steps == ("Run the tests",)
    assert await left_by_red_runs(repository, "0" * 40) == {}


async def test_the_next_commit_is_judged_by_its_own_checks(
    spot: Spot, repository: RepositoryHandle, clone: Clone
) -> None:
    red = await pushed(spot, clone, WORKFLOW)
    green = await pushed(spot, clone, WORKFLOW, fixed="yes\n")
    assert (await state(repository, green)).verdict is Verdict.GREEN
    assert (await state(repository, red)).verdict is Verdict.RED


async def test_a_workflow_file_that_does_not_start_is_red_without_a_log(
    spot: Spot, repository: RepositoryHandle, clone: Clone
) -> None:
    sha = await pushed(spot, clone, "name: CI\non: push\njobs:\n  test:\n    steps: 5\n")
    found = await state(repository, sha)
    assert found.verdict is Verdict.RED
    (red,) = found.red
    assert (red.kind, red.conclusion) == (Kind.WORKFLOW, "startup_failure")
    left = await evidence(repository, red)
    assert left.log is None
    assert ".github/workflows/ci.yml" in left.details


async def test_a_log_whose_blob_lags_behind_is_waited_for(
    spot: Spot, repository: RepositoryHandle, clone: Clone
) -> None:
    sha = await pushed(spot, clone, WORKFLOW)
    (red,) = (await state(repository, sha)).red
    spot.local.add_fault("log_missing", times=2)
    assert "AssertionError" in await log_of(repository, red)


async def test_a_job_that_is_not_there_has_no_log(repository: RepositoryHandle) -> None:
    with pytest.raises((NotFound, Gone)):
        async with open_log(repository, 4711):
            pass


async def test_annotations_of_a_job_are_evidence(spot: Spot, repository: RepositoryHandle, clone: Clone) -> None:
    command = "::error file=src/main.py,line=1,title=Bad::this is wrong"
    workflow = WORKFLOW.replace('echo "AssertionError: 1 != 2"', f'echo "{command}"')
    sha = await pushed(spot, clone, workflow)
    (red,) = (await state(repository, sha)).red
    left = await evidence(repository, red)
    assert ("src/main.py", 1, "failure", "this is wrong") in [
        (each.path, each.start_line, each.level, each.message) for each in left.annotations
    ]

"""A job is itself by its id: names repeat, GitHub lists each job and shows the newest check of a name."""

from typing import Any

import pytest

from tests.github.emulator.house import REPO, House

COLLIDING = """
on: push
jobs:
  test:
    name: test
    runs-on: ubuntu-latest
    strategy: {fail-fast: false, matrix: {v: [1, 2]}}
    steps: [{run: 'test ${{ matrix.v }} = 2'}]
"""


@pytest.fixture
async def token(house: House) -> str:
    house.installation.permissions["workflows"] = "write"
    return await house.token()


async def pushed(house: House, token: str, workflow: str, **files: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The run that a push of this workflow makes, when it has ended, and its jobs."""
    number = len(house.local.store.runs)
    sha = await house.commit(token, f"b{number}", {".github/workflows/ci.yml": workflow, **files}, base="main")
    await house.local.idle()
    run = (await house.ask("GET", f"{REPO}/actions/runs?head_sha={sha}", token)).json()["workflow_runs"][0]
    return run, (await house.ask("GET", f"{REPO}/actions/runs/{run['id']}/jobs", token)).json()["jobs"]


async def test_jobs_of_one_name_are_all_listed_and_its_newest_check_run_is_shown(house: House, token: str) -> None:
    workflow = COLLIDING.replace("name: test\n", "name: ${{ 'test' }}\n")
    run, jobs = await pushed(house, token, workflow)
    assert run["conclusion"] == "failure"
    assert [(job["name"], job["conclusion"]) for job in jobs] == [("test", "failure"), ("test", "success")]
    checks = f"{REPO}/commits/{run['head_sha']}/check-runs"
    latest = (await house.ask("GET", checks, token)).json()["check_runs"]
    every = (await house.ask("GET", f"{checks}?filter=all", token)).json()["check_runs"]
    assert [check["id"] for check in latest if check["name"] == "test"] == [max(job["id"] for job in jobs)]
    assert {job["id"] for job in jobs} <= {check["id"] for check in every}


async def test_a_rerun_replaces_the_attempt_of_its_jobs_alone(house: House, token: str) -> None:
    workflow = COLLIDING.replace("name: test\n", "name: ${{ 'test' }}\n")
    run, before = await pushed(house, token, workflow)
    assert (await house.ask("POST", f"{REPO}/actions/runs/{run['id']}/rerun-failed-jobs", token)).status_code == 201
    await house.local.idle()
    path = f"{REPO}/actions/runs/{run['id']}"
    after = (await house.ask("GET", f"{path}/jobs", token)).json()["jobs"]
    first = (await house.ask("GET", f"{path}/attempts/1/jobs", token)).json()["jobs"]
    assert [job["id"] for job in first] == [job["id"] for job in before]
    assert len(after) == 2 and {job["conclusion"] for job in after} == {"failure", "success"}
    everything = (await house.ask("GET", f"{path}/jobs?filter=all", token)).json()["jobs"]
    assert {job["id"] for job in before + after} == {job["id"] for job in everything}


async def test_a_name_shows_all_values_of_a_matrix_those_inside_objects_too(house: House, token: str) -> None:
    workflow = """
on: push
jobs:
  build:
    runs-on: ubuntu-latest
    strategy: {matrix: {on: [{os: linux, py: [3, 4]}, {os: mac, py: []}], v: [1]}}
    steps: [{run: 'true'}]
"""
    _, jobs = await pushed(house, token, workflow)
    assert [job["name"] for job in jobs] == ["build (linux, 3, 4, 1)", "build (mac, 1)"]


async def test_a_job_that_may_fail_is_red_and_its_run_is_green(house: House, token: str) -> None:
    workflow = """
on: push
jobs:
  flaky: {runs-on: ubuntu-latest, continue-on-error: true, steps: [{run: 'false'}]}
  after: {runs-on: ubuntu-latest, needs: flaky, steps: [{run: 'true'}]}
"""
    run, jobs = await pushed(house, token, workflow)
    assert run["conclusion"] == "success"
    assert {job["name"]: job["conclusion"] for job in jobs} == {"flaky": "failure", "after": "success"}

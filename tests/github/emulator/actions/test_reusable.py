"""A job that calls a workflow runs it: its jobs, under both names, with inputs, outputs and failures."""

from typing import Any

import pytest

from tests.github.emulator.actions.test_identity import pushed
from tests.github.emulator.house import REPO, House

CALLER = """
on: push
jobs:
  ci:
    uses: ./.github/workflows/callee.yml
    with: {word: green}
    strategy: {matrix: {n: [1, 2]}}
  after:
    needs: ci
    if: always()
    runs-on: ubuntu-latest
    steps: [{run: 'test "${{ needs.ci.outputs.said }}" = "green"'}]
"""
CALLEE = """
on:
  workflow_call:
    inputs: {word: {type: string, required: true}, other: {type: number}}
    outputs: {said: {value: "${{ jobs.test.outputs.said }}"}}
jobs:
  test:
    name: check
    runs-on: ubuntu-latest
    outputs: {said: "${{ steps.s.outputs.said }}"}
    steps:
      - uses: actions/checkout@v4
      - {id: s, run: 'echo "said=${{ inputs.word }}" >> "$GITHUB_OUTPUT"; test ${{ inputs.other }} = 0'}
      - run: test ! -f broken.txt
"""


@pytest.fixture
async def token(house: House) -> str:
    house.installation.permissions["workflows"] = "write"
    return await house.token()


async def run_of(house: House, token: str, files: dict[str, str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    named = {f".github/workflows/{name}": text for name, text in files.items() if name.endswith(".yml")}
    others = {name: text for name, text in files.items() if not name.endswith(".yml")}
    return await pushed(house, token, CALLER, **named, **others)


async def test_the_called_workflow_really_runs_and_its_checks_bear_both_names(house: House, token: str) -> None:
    run, jobs = await run_of(house, token, {"callee.yml": CALLEE})
    assert {job["name"]: job["conclusion"] for job in jobs} == {
        "ci (1) / check": "success",
        "ci (2) / check": "success",
        "after": "success",
    }
    assert run["conclusion"] == "success"
    checks = (await house.ask("GET", f"{REPO}/commits/{run['head_sha']}/check-runs", token)).json()["check_runs"]
    assert "ci (1) / check" in [check["name"] for check in checks]


async def test_a_failure_inside_is_a_failure_and_is_run_again_with_its_caller(house: House, token: str) -> None:
    run, jobs = await run_of(house, token, {"callee.yml": CALLEE, "broken.txt": "x"})
    assert run["conclusion"] == "failure"
    assert [job["conclusion"] for job in jobs if " / " in job["name"]] == ["failure", "failure"]
    assert (await house.ask("POST", f"{REPO}/actions/runs/{run['id']}/rerun-failed-jobs", token)).status_code == 201
    await house.local.idle()
    again = (await house.ask("GET", f"{REPO}/actions/runs/{run['id']}/jobs", token)).json()["jobs"]
    assert len(again) == len(jobs) and not {job["id"] for job in jobs} & {job["id"] for job in again}


@pytest.mark.parametrize(
    "callee",
    [{}, {"callee.yml": "on: push\njobs: {a: {runs-on: ubuntu-latest, steps: [{run: 'true'}]}}"}],
    ids=["not there", "not to be called"],
)
async def test_what_cannot_be_called_keeps_the_run_from_starting(
    house: House, token: str, callee: dict[str, str]
) -> None:
    run, jobs = await run_of(house, token, callee)
    assert (run["conclusion"], jobs) == ("startup_failure", [])

"""Workflows really run, and only when they should."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from github.emulator import LocalGitHub
from tests.github.emulator.house import REPO, House

FULL = """
name: Full
on: push
env: {LEVEL: workflow, A: workflow}
defaults: {run: {working-directory: sub}}
jobs:
  build:
    runs-on: ubuntu-latest
    env: {LEVEL: job}
    outputs: {answer: "${{ steps.think.outputs.answer }}"}
    strategy:
      matrix:
        v: [1, 2]
        exclude: [{v: 2}]
        include: [{v: 3, extra: yes-please}]
    steps:
      - uses: actions/checkout@v4
      - run: |
          test "$(basename "$PWD")" = sub
          test "$LEVEL" = step -a "$A" = workflow
          echo "TOLD=later" >> "$GITHUB_ENV"
          mkdir -p "$RUNNER_TEMP/bin" && printf '#!/bin/sh\\necho mine' > "$RUNNER_TEMP/bin/mytool"
          chmod +x "$RUNNER_TEMP/bin/mytool" && echo "$RUNNER_TEMP/bin" >> "$GITHUB_PATH"
        env: {LEVEL: step}
      - id: think
        run: echo "answer=$(mytool)-$TOLD-${{ matrix.v }}" >> "$GITHUB_OUTPUT"
      - run: exit 3
        continue-on-error: true
      - if: failure()
        run: echo never
  after:
    needs: build
    runs-on: ubuntu-latest
    steps:
      - run: test "${{ needs.build.outputs.answer }}" = mine-later-3
        working-directory: .
      - run: exit 7
        working-directory: .
      - if: always()
        run: echo "always ran ${{ github.event_name }}"
        working-directory: .
  last:
    needs: [after]
    runs-on: ubuntu-latest
    steps: [{run: echo no}]
"""


async def runs_of(house: House, token: str, sha: str) -> list[dict[str, Any]]:
    answer = await house.ask("GET", f"{REPO}/actions/runs?head_sha={sha}", token)
    rows: list[dict[str, Any]] = answer.json()["workflow_runs"]
    return rows


async def jobs_of(house: House, token: str, run: int, query: str = "") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (await house.ask("GET", f"{REPO}/actions/runs/{run}/jobs{query}", token)).json()[
        "jobs"
    ]
    return rows


async def log_of(house: House, token: str, job: int) -> str:
    away = await house.ask("GET", f"{REPO}/actions/jobs/{job}/logs", token)
    assert away.status_code == 302
    async with httpx.AsyncClient() as other:
        blob = await other.get(away.headers["location"])
    assert blob.status_code == 200
    return blob.content.decode("utf-8")


@pytest.fixture
async def token(house: House) -> str:
    house.installation.permissions["workflows"] = "write"
    return await house.token()


async def push(house: House, token: str, workflow: str, **files: str) -> str:
    """A branch with one workflow; its head."""
    number = len(house.local.store.runs)
    sha = await house.commit(
        token, f"b{number}", {".github/workflows/ci.yml": workflow, "sub/x": "1", **files}, base="main"
    )
    await house.local.idle()
    return sha


async def test_the_whole_language_of_a_workflow_is_run(house: House, token: str) -> None:
    run = (await runs_of(house, token, await push(house, token, FULL)))[0]
    jobs = {job["name"]: job for job in await jobs_of(house, token, run["id"])}
    assert run["conclusion"] == "failure"
    assert {name: job["conclusion"] for name, job in jobs.items()} == {
        "build (1)": "success",
        "build (3, yes-please)": "success",
        "after": "failure",
        "last": "skipped",
    }
    steps = {step["name"]: step["conclusion"] for step in jobs["after"]["steps"]}
    assert steps['Run echo "always ran ${{ github.event_name }}"'] == "success"
    log = await log_of(house, token, jobs["after"]["id"])
    assert log.startswith("\ufeff")
    for line in ("##[group]Run exit 7", "\x1b[36;1mexit 7\x1b[0m", "##[error]Process completed with exit code 7."):
        assert f"Z {line}\n" in log
    assert "Z always ran push\n" in log


async def test_a_log_url_refuses_credentials_and_lives_a_minute(house: House, token: str) -> None:
    run = (await runs_of(house, token, await push(house, token, FULL)))[0]
    job = (await jobs_of(house, token, run["id"]))[0]["id"]
    away = (await house.ask("GET", f"{REPO}/actions/jobs/{job}/logs", token)).headers["location"]
    assert not away.startswith(house.local.web_url)
    async with httpx.AsyncClient() as other:
        refused = await other.get(away, headers={"Authorization": f"token {token}"})
        house.local.hub.clock.advance(61)
        late = await other.get(away)
    assert (refused.status_code, late.status_code) == (400, 403)
    assert "InvalidAuthenticationInfo" in refused.text


async def test_a_broken_workflow_file_is_a_startup_failure_without_jobs(house: House, token: str) -> None:
    run = (await runs_of(house, token, await push(house, token, "on: push\njobs: {a: {steps: [}}")))[0]
    assert run["conclusion"] == "startup_failure"
    assert await jobs_of(house, token, run["id"]) == []


async def test_skip_ci_starts_nothing(house: House, token: str) -> None:
    body = {"message": "wip [skip ci]", "content": "eA==", "branch": "main"}
    made = await house.ask("PUT", f"{REPO}/contents/x.txt", token, json=body)
    await house.local.idle()
    assert await runs_of(house, token, made.json()["commit"]["sha"]) == []


async def test_a_conflict_starts_no_pull_request_run(house: House, token: str) -> None:
    sha = await house.commit(token, "mine", {"a.txt": "mine\n"}, base="main")
    await house.commit(token, "main", {"a.txt": "theirs\n"})
    body = {"title": "t", "head": "mine", "base": "main"}
    assert (await house.ask("POST", f"{REPO}/pulls", token, json=body)).status_code == 201
    await house.local.idle()
    assert [run["event"] for run in await runs_of(house, token, sha)] == ["push"]
    assert (await house.ask("GET", f"{REPO}/pulls/1", token)).json()["mergeable_state"] == "dirty"


async def test_only_failed_jobs_run_again_and_the_others_stay(house: House, token: str) -> None:
    text = """
on: push
jobs:
  good: {runs-on: ubuntu-latest, steps: [{run: 'true'}]}
  bad: {runs-on: ubuntu-latest, steps: [{run: 'test -f "$FLAG"', env: {FLAG: FLAGFILE}}]}
""".replace("FLAGFILE", str(house.folder / "flag"))
    run = (await runs_of(house, token, await push(house, token, text)))[0]["id"]
    before = {job["name"]: job["id"] for job in await jobs_of(house, token, run)}
    (house.folder / "flag").touch()
    assert (await house.ask("POST", f"{REPO}/actions/runs/{run}/rerun-failed-jobs", token)).status_code == 201
    await house.local.idle()
    again = (await house.ask("GET", f"{REPO}/actions/runs/{run}", token)).json()
    assert (again["run_attempt"], again["conclusion"]) == (2, "success")
    after = {job["name"]: job["id"] for job in await jobs_of(house, token, run)}
    assert after["good"] == before["good"] and after["bad"] != before["bad"]
    first = await house.ask("GET", f"{REPO}/actions/runs/{run}/attempts/1/jobs", token)
    assert {job["name"]: job["conclusion"] for job in first.json()["jobs"]} == {"good": "success", "bad": "failure"}
    checks = await house.ask("GET", f"{REPO}/commits/{again['head_sha']}/check-runs", token)
    assert {row["name"]: row["conclusion"] for row in checks.json()["check_runs"]} == {
        "good": "success",
        "bad": "success",
    }


async def test_cancelling_ends_the_whole_tree_of_a_job(house: House, token: str) -> None:
    mark = house.folder / "pid"
    text = f"""
on: push
jobs: {{a: {{runs-on: ubuntu-latest, steps: [{{run: 'setsid sleep 300 & echo $! > {mark}; sleep 300'}}]}}}}
"""
    sha = await house.commit(token, "long", {".github/workflows/ci.yml": text}, base="main")
    async with asyncio.timeout(60):
        while not (mark.exists() and mark.read_text().strip()):
            await asyncio.sleep(0.05)
    run = (await runs_of(house, token, sha))[0]
    assert run["status"] == "in_progress"
    assert (await house.ask("POST", f"{REPO}/actions/runs/{run['id']}/cancel", token)).status_code == 202
    await house.local.idle()
    assert (await runs_of(house, token, sha))[0]["conclusion"] == "cancelled"
    stat = Path(f"/proc/{mark.read_text().strip()}/stat")
    assert not stat.exists() or stat.read_text().split()[2] == "Z"


async def test_the_newest_run_of_a_concurrency_group_ends_the_older(house: House, token: str) -> None:
    text = """
on: push
concurrency: {group: "${{ github.workflow }}-x", cancel-in-progress: true}
jobs:
  a:
    runs-on: ubuntu-latest
    steps: [{uses: actions/checkout@v4}, {run: "test -f quick || sleep 300"}]
"""
    first = await house.commit(token, "one", {".github/workflows/ci.yml": text}, base="main")
    second = await house.commit(token, "two", {"quick": "1"}, base="one")
    await house.local.idle()
    assert (await runs_of(house, token, first))[0]["conclusion"] == "cancelled"
    assert (await runs_of(house, token, second))[0]["conclusion"] == "success"


async def test_a_strangers_fork_waits_for_approval_and_lists_no_pull_request(tmp_path: Path) -> None:
    async with LocalGitHub() as local:
        house = House(local, tmp_path)
        house.repository.private = False
        token = await house.token()
        dave = local.add_user("dave")
        fork = (await house.ask("POST", f"{REPO}/forks", dave)).json()["full_name"]
        body = {"message": "m", "content": "eA==", "branch": "main"}
        sha = (await house.ask("PUT", f"/repos/{fork}/contents/x", dave, json=body)).json()["commit"]["sha"]
        made = await house.ask("POST", f"{REPO}/pulls", dave, json={"title": "t", "head": "dave:main", "base": "main"})
        assert made.status_code == 201 and made.json()["head"]["repo"]["fork"]
        run = (await runs_of(house, token, sha))[0]
        assert (run["conclusion"], run["pull_requests"]) == ("action_required", [])
        path = f"{REPO}/actions/runs/{run['id']}/approve"
        assert (await house.ask("POST", path, token)).status_code == 201
        await local.idle()
        assert (await runs_of(house, token, sha))[0]["conclusion"] == "success"
        assert (await house.ask("POST", path, token)).status_code == 403
        await house.close()
    house.watch.settle()

"""What starts runs, in which line they wait, and who has to let them go."""

import asyncio
from typing import Any

import pytest

from tests.github.emulator.house import REPO, House

STEPS = "jobs: {a: {runs-on: ubuntu-latest, steps: [{run: 'true'}]}}"


@pytest.fixture
async def token(house: House) -> str:
    house.installation.permissions |= {"workflows": "write", "deployments": "write"}
    return await house.token()


async def runs(house: House, token: str, query: str = "") -> list[dict[str, Any]]:
    await house.local.idle()
    found = (await house.ask("GET", f"{REPO}/actions/runs{query}", token)).json()["workflow_runs"]
    return [run for run in found if run["path"] != ".github/workflows/ci.yml"]


async def add(house: House, token: str, trigger: str, name: str = "more") -> None:
    text = f"name: {name}\non: {trigger}\n{STEPS}"
    await house.commit(token, "main", {f".github/workflows/{name}.yml": text})
    await house.local.idle()


@pytest.mark.parametrize(
    ("trigger", "events"),
    [
        ("{issue_comment: {types: [created]}}", ["issue_comment"]),
        ("issues", ["issues"]),
        ("{issues: {types: [closed]}}", []),
        ("repository_dispatch", ["repository_dispatch"]),
        ("{repository_dispatch: {types: [other]}}", []),
        ("schedule", ["schedule"]),
        ("workflow_dispatch", ["workflow_dispatch"]),
    ],
)
async def test_events_of_the_default_branch_start_runs_on_it(
    house: House, token: str, trigger: str, events: list[str]
) -> None:
    await add(house, token, trigger)
    issue = (await house.ask("POST", f"{REPO}/issues", house.bob, json={"title": "t"})).json()["number"]
    await house.ask("POST", f"{REPO}/issues/{issue}/comments", house.bob, json={"body": "b"})
    sent = await house.ask("POST", f"{REPO}/dispatches", token, json={"event_type": "go"})
    assert sent.status_code == 204
    house.local.schedule("acme/widgets")
    path = f"{REPO}/actions/workflows/more.yml/dispatches"
    asked = await house.ask("POST", path, token, json={"ref": "main"})
    assert asked.status_code == (204 if trigger == "workflow_dispatch" else 422)
    found = await runs(house, token)
    head = (await house.ask("GET", f"{REPO}/git/ref/heads/main", token)).json()["object"]["sha"]
    assert [run["event"] for run in found] == events
    assert {run["head_sha"] for run in found} <= {head} and all(run["conclusion"] == "success" for run in found)


async def test_a_run_starts_those_that_wait_for_its_workflow(house: House, token: str) -> None:
    await add(house, token, "{workflow_run: {workflows: [CI], types: [completed]}}")
    before = len(await runs(house, token))
    await house.commit(token, "topic", {"b.txt": "x"}, base="main")
    found = await runs(house, token)
    assert [run["event"] for run in found[: len(found) - before]] == ["workflow_run"]


async def test_every_listed_type_of_a_pull_request_starts_a_run(house: House, token: str) -> None:
    await add(house, token, "{pull_request: {types: [labeled, closed]}}")
    await house.commit(token, "topic", {"b.txt": "x"}, base="main")
    body = {"title": "t", "head": "topic", "base": "main"}
    number = (await house.ask("POST", f"{REPO}/pulls", token, json=body)).json()["number"]
    assert await runs(house, token) == []
    await house.ask("POST", f"{REPO}/issues/{number}/labels", token, json={"labels": ["x"]})
    await house.ask("PATCH", f"{REPO}/pulls/{number}", token, json={"state": "closed"})
    assert [run["event"] for run in await runs(house, token)] == ["pull_request", "pull_request"]


async def test_inputs_of_a_run_by_hand_are_checked_and_seen(house: House, token: str) -> None:
    text = """
on: {workflow_dispatch: {inputs: {word: {required: true}, other: {default: o}}}}
jobs: {a: {runs-on: ubuntu-latest, steps: [{run: 'test "${{ inputs.word }}${{ github.event.inputs.other }}" = wo'}]}}
"""
    await house.commit(token, "main", {".github/workflows/more.yml": text})
    path = f"{REPO}/actions/workflows/more.yml/dispatches"
    for inputs, status in (({}, 422), ({"word": "w", "no": "x"}, 422), ({"word": "w"}, 204)):
        answer = await house.ask("POST", path, token, json={"ref": "main", "inputs": inputs})
        assert answer.status_code == status, answer.text
    assert [run["conclusion"] for run in await runs(house, token)] == ["success"]


async def test_a_workflow_is_known_by_its_file_on_the_default_branch_or_by_having_run(house: House, token: str) -> None:
    text = f"on: {{workflow_dispatch: {{}}, push: {{branches: [ran]}}}}\n{STEPS}\n"
    for branch in ("idle", "ran"):
        await house.commit(token, branch, {f".github/workflows/{branch}.yml": text}, base="main")
    await house.local.idle()
    workflows = f"{REPO}/actions/workflows"
    for name, status in (("ci.yml", 422), ("ran.yml", 204), ("idle.yml", 404), ("none.yml", 404)):
        ref = "main" if name == "ci.yml" else name.removesuffix(".yml")
        started = await house.ask("POST", f"{workflows}/{name}/dispatches", token, json={"ref": ref})
        assert (name, started.status_code) == (name, status)
    listed = (await house.ask("GET", workflows, token)).json()["workflows"]
    assert {row["path"].rsplit("/", 1)[1] for row in listed} == {"ci.yml", "ran.yml"}


async def test_a_group_has_one_at_work_and_one_in_line(house: House, token: str) -> None:
    flag = house.folder / "flag"
    text = f"""
on: push
concurrency: {{group: one, cancel-in-progress: "${{{{ github.ref == 'refs/heads/now' }}}}"}}
jobs: {{a: {{runs-on: ubuntu-latest, steps: [{{run: 'while ! test -e {flag}; do sleep 0.05; done'}}]}}}}
"""
    await house.commit(token, "b1", {".github/workflows/g.yml": text}, base="main")
    for number in (2, 3):
        await house.commit(token, f"b{number}", {"b.txt": str(number)}, base="b1")
    store = house.local.store

    async def until(states: list[str]) -> None:
        async with asyncio.timeout(60):
            while [r.conclusion or r.status for r in store.runs if r.workflow.path.endswith("g.yml")] != states:
                await asyncio.sleep(0.05)

    await until(["in_progress", "cancelled", "pending"])
    flag.touch()
    await until(["success", "cancelled", "success"])
    flag.unlink()
    await house.commit(token, "b4", {"b.txt": "4"}, base="b1")
    await until(["success", "cancelled", "success", "in_progress"])
    await house.commit(token, "now", {"b.txt": "5"}, base="b1")
    await until(["success", "cancelled", "success", "cancelled", "in_progress"])
    flag.touch()
    await house.local.idle()


async def test_head_ref_is_empty_on_a_push_so_that_groups_by_it_do_not_meet(house: House, token: str) -> None:
    text = """
on: [push, pull_request]
concurrency: {group: "${{ github.head_ref || github.run_id }}", cancel-in-progress: true}
jobs: {a: {runs-on: ubuntu-latest, steps: [{run: sleep 0.5}]}}
"""
    sha = await house.commit(token, "topic", {".github/workflows/g.yml": text}, base="main")
    await house.ask("POST", f"{REPO}/pulls", token, json={"title": "t", "head": "topic", "base": "main"})
    found = await runs(house, token, f"?head_sha={sha}")
    assert {run["event"]: run["conclusion"] for run in found} == {"push": "success", "pull_request": "success"}


@pytest.mark.parametrize(("state", "conclusion"), [("approved", "success"), ("rejected", "failure")])
async def test_a_job_waits_for_the_approval_of_its_environment(
    house: House, token: str, state: str, conclusion: str
) -> None:
    house.local.guard_environment("acme/widgets", "production")
    text = "on: push\njobs: {a: {environment: production, runs-on: ubuntu-latest, steps: [{run: 'true'}]}}"
    await house.commit(token, "topic", {".github/workflows/g.yml": text}, base="main")
    [run] = [row for row in house.local.store.runs if row.workflow.path.endswith("g.yml")]
    async with asyncio.timeout(60):
        while run.status != "waiting":
            await asyncio.sleep(0.05)
    [job] = (await house.ask("GET", f"{REPO}/actions/runs/{run.id}/jobs", token)).json()["jobs"]
    assert (job["status"], job["conclusion"]) == ("waiting", None)
    body = {"environment_ids": [0], "state": state, "comment": "c"}
    path = f"{REPO}/actions/runs/{run.id}/pending_deployments"
    assert (await house.ask("POST", path, token, json=body)).status_code == 200
    await house.local.idle()
    assert run.conclusion == conclusion
    assert (await house.ask("POST", path, token, json=body)).status_code == 422

"""Check runs of Apps, commit statuses, annotations, what is required, and running again."""

from typing import Any

import pytest

from tests.github.emulator.house import REPO, House


@pytest.fixture
async def sha(house: House) -> str:
    """The head of a new branch."""
    return await house.commit(await house.token(), "topic", {"b.txt": "x\n"}, base="main")


@pytest.mark.parametrize(
    ("states", "combined"),
    [([], "pending"), (["success"], "success"), (["pending", "success"], "pending"), (["error", "pending"], "failure")],
)
async def test_statuses_combine_by_the_latest_of_each_context(
    house: House, sha: str, states: list[str], combined: str
) -> None:
    for number, state in enumerate(states):
        for value in ("failure", state):  # the first is overtaken
            body = {"state": value, "context": f"ci/{number}", "description": "d"}
            answer = await house.ask("POST", f"{REPO}/statuses/{sha}", house.carol, json=body)
            assert answer.status_code == 201, answer.text
    found = (await house.ask("GET", f"{REPO}/commits/{sha}/status", await house.token())).json()
    assert (found["state"], len(found["statuses"])) == (combined, len(states))
    assert (await house.ask("POST", f"{REPO}/statuses/{sha}", house.bob, json={"state": "error"})).status_code == 403


async def test_annotations_are_added_in_parts_and_read_by_pages(house: House, sha: str) -> None:
    token = await house.token()
    notes = [
        {"path": "b.txt", "start_line": 1, "end_line": 1, "annotation_level": "failure", "message": f"m{n}"}
        for n in range(51)
    ]
    body: dict[str, Any] = {"name": "lint", "head_sha": sha, "output": {"title": "t", "summary": "s"}}
    too_many = await house.ask(
        "POST", f"{REPO}/check-runs", token, json=body | {"output": {**body["output"], "annotations": notes}}
    )
    assert too_many.status_code == 422
    made = (await house.ask("POST", f"{REPO}/check-runs", token, json=body)).json()
    run = f"{REPO}/check-runs/{made['id']}"
    for part in (notes[:50], notes[50:]):
        patch = {"output": {**body["output"], "annotations": part}}
        assert (await house.ask("PATCH", run, token, json=patch)).status_code == 200
    listed = [(await house.ask("GET", f"{run}/annotations", token, params={"page": page})).json() for page in (1, 2)]
    assert [len(page) for page in listed] == [30, 21]
    assert (await house.ask("GET", run, token)).json()["output"]["annotations_count"] == 51


async def test_a_check_run_belongs_to_its_app_and_the_newest_of_a_name_counts(house: House, sha: str) -> None:
    token = await house.token()
    body = {"name": "lint", "head_sha": sha, "status": "completed", "conclusion": "failure"}
    first = (await house.ask("POST", f"{REPO}/check-runs", token, json=body)).json()
    second = (await house.ask("POST", f"{REPO}/check-runs", token, json=body | {"conclusion": "success"})).json()
    path = f"{REPO}/commits/{sha}/check-runs"
    for params, ids in (({"app_id": house.local.app.id}, [second["id"]]), ({"filter": "all"}, None)):
        found = (await house.ask("GET", path, token, params=params)).json()["check_runs"]
        ours = [each["id"] for each in found if each["name"] == "lint"]
        assert sorted(ours) == (ids or [first["id"], second["id"]])
    other = house.local.add_app("other-ci")
    house.local.install("acme", ["widgets"], app=other)
    stale = await house.ask("POST", f"{REPO}/check-runs", token, json=body | {"conclusion": "stale"})
    assert stale.status_code == 422
    bad = {"actions": [{"label": "x" * 21, "description": "d", "identifier": "i"}]}
    assert (await house.ask("PATCH", f"{REPO}/check-runs/{first['id']}", token, json=bad)).status_code == 422


async def test_what_a_branch_requires_is_told_by_protection_and_by_rulesets_each_its_own(house: House) -> None:
    house.local.protect("acme/widgets", "main", contexts=["test"], app_ids={"test": 15368})
    rule = {"type": "required_status_checks", "parameters": {"required_status_checks": [{"context": "lint"}]}}
    rule["parameters"]["strict_required_status_checks_policy"] = False  # type: ignore[index]
    house.local.add_ruleset("acme/widgets", "all", ["~ALL"], [rule, {"type": "creation"}])
    token = await house.token()
    branch = (await house.ask("GET", f"{REPO}/branches/main", token)).json()
    assert branch["protection"]["required_status_checks"]["contexts"] == ["test"]
    assert (await house.ask("GET", f"{REPO}/branches/main/protection", token)).status_code == 403
    for name in ("main", "not/there/yet"):
        rules = (await house.ask("GET", f"{REPO}/rules/branches/{name}", token)).json()
        assert [each["type"] for each in rules] == ["required_status_checks", "creation"]
    refused = await house.ask(
        "POST", f"{REPO}/git/refs", token, json={"ref": "refs/heads/new", "sha": branch["commit"]["sha"]}
    )
    assert refused.status_code == 422 and "rule violations" in refused.text


async def test_a_suite_asked_for_again_is_told_to_its_app_alone(house: House, sha: str) -> None:
    token = await house.token()
    body = {"name": "lint", "head_sha": sha, "conclusion": "failure"}
    made = (await house.ask("POST", f"{REPO}/check-runs", token, json=body)).json()
    found: list[str] = []
    house.local.app.hook.url = "http://127.0.0.1:9/"
    house.local.observe(hooks=lambda event, action, _: found.append(f"{event}.{action}"))
    for path in (f"check-runs/{made['id']}", f"check-suites/{made['check_suite']['id']}"):
        answer = await house.ask("POST", f"{REPO}/{path}/rerequest", token)
        assert answer.status_code == 201, answer.text
    await house.local.idle()
    assert {"check_run.rerequested", "check_suite.rerequested"} <= set(found)

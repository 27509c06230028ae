"""The answers and events of a whole working day fit GitHub's own OpenAPI."""

import pytest

from github.emulator.rest.table import table
from tests.github.emulator.house import REPO, House, app_jwt
from tests.github.emulator.openapi.slice import shape
from tests.github.emulator.validation import Validation, _slice


async def test_a_whole_pull_request_fits_githubs_openapi(house: House) -> None:
    token, alice, bob = await house.token(), house.alice, house.bob
    await house.ask("POST", f"{REPO}/issues", bob, json={"title": "It breaks", "body": "look"})
    await house.ask("POST", f"{REPO}/issues/1/comments", alice, json={"body": "@greenloop fix"})
    await house.ask("POST", f"{REPO}/issues/1/labels", alice, json={"labels": ["bug"]})
    await house.ask("POST", f"{REPO}/issues/1/assignees", alice, json={"assignees": ["carol"]})
    await house.ask("PATCH", f"{REPO}/issues/1", alice, json={"title": "It breaks often", "state": "closed"})
    await house.ask("POST", f"{REPO}/issues/1/reactions", token, json={"content": "eyes"})
    sha = await house.commit(token, "greenloop/x", {"broken.txt": "1\n", "a.txt": "one\n2\nthree\n"}, base="main")
    body = {"title": "Fix", "head": "greenloop/x", "base": "main", "body": "text", "draft": True}
    made = await house.ask("POST", f"{REPO}/pulls", token, json=body)
    assert made.status_code == 201 and made.json()["draft"]
    await house.local.idle()
    place = {"path": "a.txt", "line": 2, "side": "RIGHT", "body": "why?"}
    review = {"event": "REQUEST_CHANGES", "body": "please", "comments": [place]}
    assert (await house.ask("POST", f"{REPO}/pulls/2/reviews", alice, json=review)).status_code == 200
    comments = (await house.ask("GET", f"{REPO}/pulls/2/comments", token)).json()
    reply = f"{REPO}/pulls/2/comments/{comments[0]['id']}/replies"
    assert (await house.ask("POST", reply, token, json={"body": "done"})).status_code == 201
    check = {"name": "Greenloop", "head_sha": sha, "status": "in_progress", "output": {"title": "t", "summary": "s"}}
    run = (await house.ask("POST", f"{REPO}/check-runs", token, json=check)).json()
    await house.ask("PATCH", f"{REPO}/check-runs/{run['id']}", token, json={"conclusion": "success"})
    status = {"state": "failure", "context": "jenkins"}
    assert (await house.ask("POST", f"{REPO}/statuses/{sha}", alice, json=status)).status_code == 201
    runs = (await house.ask("GET", f"{REPO}/actions/runs?head_sha={sha}", token)).json()["workflow_runs"]
    assert {row["event"]: row["conclusion"] for row in runs} == {"push": "failure", "pull_request": "failure"}
    first = runs[0]["id"]
    assert (await house.ask("POST", f"{REPO}/actions/runs/{first}/rerun-failed-jobs", token)).status_code == 201
    await house.local.idle()
    paths = [
        "",
        "/collaborators/carol/permission",
        "/issues/1",
        "/issues/1/comments",
        "/labels",
        "/pulls",
        "/pulls/2",
        "/pulls/2/files",
        "/pulls/2/commits",
        "/pulls/2/reviews",
        "/git/ref/heads/greenloop/x",
        "/git/matching-refs/heads/greenloop",
        "/git/trees/main?recursive=1",
        f"/git/commits/{sha}",
        "/branches",
        "/branches/greenloop/x",
        "/rules/branches/main",
        "/compare/main...greenloop/x",
        "/commits",
        f"/commits/{sha}",
        f"/commits/{sha}/pulls",
        f"/commits/{sha}/check-runs",
        f"/commits/{sha}/check-suites",
        f"/commits/{sha}/status",
        f"/commits/{sha}/statuses",
        f"/check-runs/{run['id']}",
        f"/check-runs/{run['id']}/annotations",
        "/contents/a.txt",
        "/contents/",
        "/activity",
        "/actions/runs",
        f"/actions/runs/{first}",
        f"/actions/runs/{first}/jobs?filter=all",
        f"/actions/runs/{first}/attempts/1/jobs",
        "/issues/99",
    ]
    for version in ("2022-11-28", "2026-03-10"):
        for path in paths:
            answer = await house.ask("GET", REPO + path, token, headers={"X-GitHub-Api-Version": version})
            assert answer.status_code == (404 if "99" in path.split("?")[0].split("/") else 200), (path, answer.text)
    for path in ("/app", "/app/installations", "/app/hook/config", "/app/hook/deliveries", f"{REPO}/installation"):
        assert (await house.ask("GET", path, app_jwt(house.local))).status_code == 200
    for path in ("/rate_limit", "/installation/repositories", "/users/greenloop%5Bbot%5D", "/meta"):
        assert (await house.ask("GET", path, token)).status_code == 200, path
    assert {"workflow-run-completed", "workflow-job-completed", "check-suite-completed", "push", "create"} <= (
        house.watch.events
    )
    assert {"pull-request-review-submitted", "pull-request-review-comment-created", "status"} <= house.watch.events


async def test_what_does_not_fit_is_noticed() -> None:
    watch = Validation()
    watch.answer("/repos/{owner}/{repo}/git/ref/{ref}", "GET", 200, {"ref": "x"}, "2022-11-28")
    watch.answer("/repos/{owner}/{repo}/git/ref/{ref}", "GET", 299, {}, "2022-11-28")
    watch.hook("issues", "opened", {"action": "opened"})
    watch.hook("issues", "exploded", {})
    with pytest.raises(AssertionError) as caught:
        watch.settle()
    for word in ('"node_id" is a required property', "299", "issues-opened", "issues-exploded"):
        assert word in str(caught.value)


def test_nearly_every_route_is_one_that_github_describes() -> None:
    ours = {f"{route.method} {shape(route.template)}" for route in table().routes}
    assert ours - set(_slice("api")["operations"]) == {"POST /graphql", "GET /repos/{}/{}/contents"}

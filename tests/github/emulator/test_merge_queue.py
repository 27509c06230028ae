"""A branch with a merge queue: each pull request is tried on those before it, and merged when its checks are green."""

from typing import Any

import pytest

from tests.github.emulator.house import REPO, House

QUEUE: list[dict[str, Any]] = [
    {"type": "merge_queue"},
    {"type": "required_status_checks", "parameters": {"required_status_checks": [{"context": "test"}]}},
]
WORKFLOW = """
on: [pull_request, merge_group]
jobs:
  test:
    runs-on: ubuntu-latest
    steps: [{uses: actions/checkout@v4}, {run: "test $(ls [a-z]*.new | wc -l) -le 2"}]
"""
ADD = "mutation($i: ID!) { enqueuePullRequest(input: {pullRequestId: $i}) { mergeQueueEntry { position } } }"
DROP = "mutation($i: ID!) { dequeuePullRequest(input: {id: $i}) { mergeQueueEntry { position } } }"


@pytest.fixture
async def token(house: House) -> str:
    """The App's, on a repository whose main branch has a queue."""
    house.installation.permissions["merge_queues"] = "read"
    house.installation.events.append("merge_group")
    house.local.set_webhook("http://127.0.0.1:9/nobody")
    token = await house.token()
    await house.commit(house.carol.token, "main", {".github/workflows/ci.yml": WORKFLOW})
    await house.local.idle()
    house.local.add_ruleset("acme/widgets", "queue", ["refs/heads/main"], QUEUE)
    return token


async def pull(house: House, token: str, name: str) -> Any:
    """A green pull request that adds `NAME.new`."""
    await house.commit(token, name, {f"{name}.new": "x"}, base="main")
    body = {"title": name, "head": name, "base": "main"}
    made = (await house.ask("POST", f"{REPO}/pulls", token, json=body)).json()
    await house.local.idle()
    return made


async def ask(house: House, query: str, made: Any) -> Any:
    body = {"query": query, "variables": {"i": made["node_id"]}}
    return (await house.ask("POST", "/graphql", house.carol, json=body)).json()


def told(house: House, event: str, *actions: str) -> list[Any]:
    rows = [row for row in house.local.store.deliveries if row.event == event and row.action in actions]
    return [(row.action, row.payload.get("reason")) for row in rows]


async def states(house: House, *pulls: Any) -> list[Any]:
    rows = [(await house.ask("GET", f"{REPO}/pulls/{made['number']}", house.carol)).json() for made in pulls]
    return [row["merged"] for row in rows]


async def test_a_green_group_is_merged_by_the_queue_alone(house: House, token: str) -> None:
    made = await pull(house, token, "a")
    merge = await house.ask("PUT", f"{REPO}/pulls/{made['number']}/merge", house.carol)
    assert (merge.status_code, "merge queue" in merge.json()["message"]) == (405, True)
    entry = (await ask(house, ADD, made))["data"]["enqueuePullRequest"]["mergeQueueEntry"]
    assert entry == {"position": 1}
    assert (await ask(house, ADD, made))["errors"][0]["message"] == "Pull request is already in the queue"
    await house.local.idle()
    runs = (await house.ask("GET", f"{REPO}/actions/runs?event=merge_group", token)).json()["workflow_runs"]
    [run] = runs
    main = (await house.ask("GET", f"{REPO}/git/ref/heads/main", token)).json()["object"]["sha"]
    assert (run["conclusion"], run["head_sha"]) == ("success", main)
    assert run["head_branch"].startswith(f"gh-readonly-queue/main/pr-{made['number']}-")
    assert await states(house, made) == [True]
    assert told(house, "merge_group", "checks_requested", "destroyed") == [
        ("checks_requested", None),
        ("destroyed", "merged"),
    ]
    assert told(house, "pull_request", "enqueued", "dequeued") == [("enqueued", None), ("dequeued", "MERGE")]
    left = (await house.ask("GET", f"{REPO}/git/matching-refs/heads/gh-readonly-queue", token)).json()
    assert left == []


async def test_a_red_group_falls_out_and_those_behind_it_are_tried_without_it(house: House, token: str) -> None:
    made = [await pull(house, token, name) for name in ("a", "b", "c")]
    places = [(await ask(house, ADD, each))["data"]["enqueuePullRequest"]["mergeQueueEntry"] for each in made]
    assert [place["position"] for place in places] == [1, 2, 3]
    await house.local.idle()
    assert await states(house, *made) == [True, True, False]  # three new files are one too many
    assert told(house, "pull_request", "dequeued")[-1] == ("dequeued", "CI_FAILURE")


async def test_a_changed_or_withdrawn_pull_request_leaves_the_queue(house: House, token: str) -> None:
    house.local.hub.faults.lost("run", times=None, event="merge_group")
    first, second = await pull(house, token, "a"), await pull(house, token, "b")
    for made in (first, second):
        await ask(house, ADD, made)
    assert (await ask(house, DROP, first))["data"]["dequeuePullRequest"]["mergeQueueEntry"] == {"position": 1}
    line = house.local.hub.merge_queue.in_line(house.repository, "main")
    main = (await house.ask("GET", f"{REPO}/git/ref/heads/main", token)).json()["object"]["sha"]
    assert [(entry.pull.number, entry.base) for entry in line] == [(second["number"], main)]
    await house.commit(token, "b", {"b.new": "y"})
    assert house.local.hub.merge_queue.in_line(house.repository, "main") == []
    await house.local.idle()
    reasons = [reason for action, reason in told(house, "merge_group", "destroyed")]
    assert reasons == ["dequeued", "invalidated", "dequeued"]
    assert (await ask(house, DROP, first))["errors"][0]["message"] == "Pull request is not in the queue"

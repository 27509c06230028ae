"""Content is created no faster than GitHub allows."""

from typing import Any

import httpx
import pytest

from github.client.errors import Paced, RateLimited
from github.client.http.content_limit import BESIDES, WINDOWS, Creations, share_of
from github.client.repository import RepositoryHandle
from github.client.scopes import Scope
from tests.github.conftest import Connect, Spot, TestClock


async def test_a_flood_of_comments_meets_no_limit_of_githubs(
    spot: Spot, repository: RepositoryHandle, clock: TestClock
) -> None:
    number = await spot.issue()
    answers: list[int] = []

    def seen(template: str, method: str, status: int, _body: Any, _version: str) -> None:
        if method == "POST" and template.endswith("/comments"):
            answers.append(status)

    spot.local.observe(answers=seen)
    for each in range(100):
        body = {"body": f"comment {each}"}
        while True:
            try:
                await repository.request("POST", f"issues/{number}/comments", scope=Scope.TALK, json=body)
                break
            except Paced as limit:
                wait = limit.retry_at - repository.app.clock.now()
                assert 0 < wait <= 60
                await repository.app.clock.sleep(wait)
    assert answers == [201] * 100


async def test_what_is_paced_holds_nothing_else_up(spot: Spot, repository: RepositoryHandle) -> None:
    number = await spot.issue()
    with pytest.raises(Paced):
        for each in range(100):
            body = {"body": f"comment {each}"}
            await repository.request("POST", f"issues/{number}/comments", scope=Scope.TALK, json=body)
    await repository.get(f"issues/{number}")
    label = {"labels": ["x"]}
    await repository.request("POST", f"issues/{number}/labels", scope=Scope.TALK, json=label)


def test_an_hour_has_its_own_limit_and_what_nobody_waits_for_leaves_room_for_people() -> None:
    creations, now, made = Creations(), 1000.0, 0
    while now < 1000.0 + 3600:
        wait = creations.wait(now, BESIDES)
        made += not wait
        now += wait or 0.5
    assert made == int(450 * BESIDES)
    assert creations.wait(now, BESIDES) == 0.0  # the first of them is an hour old
    assert creations.wait(now, BESIDES) > 0
    assert creations.wait(now, 1.0) == 0.0


COMMENT = "mutation($id: ID!, $b: String!) {addComment(input: {subjectId: $id, body: $b}) {clientMutationId}}"


async def test_comments_by_graphql_and_by_rest_are_of_one_limit(spot: Spot, repository: RepositoryHandle) -> None:
    number = await spot.issue()
    node = (await repository.get(f"issues/{number}"))["node_id"]
    made = 0
    with pytest.raises(Paced):
        for each in range(100):
            if each % 2:
                await repository.graphql(COMMENT, {"id": node, "b": f"comment {each}"})
            else:
                body = {"body": f"comment {each}"}
                await repository.request("POST", f"issues/{number}/comments", scope=Scope.TALK, json=body)
            made += 1
    assert made == WINDOWS[0][1]
    await repository.graphql("query { viewer { login } }", {}, scope=Scope.READ)


async def test_a_limit_that_graphql_tells_with_200_silences_rest_as_well(
    spot: Spot, repository: RepositoryHandle, connect: Connect
) -> None:
    number = await spot.issue()
    node = (await repository.get(f"issues/{number}"))["node_id"]
    other = RepositoryHandle(connect(), spot.installation.id, spot.row.id)  # a process that knows nothing of this one
    for each in range(72):
        await other.graphql(COMMENT, {"id": node, "b": f"{each}"})
    for each in range(8):
        await repository.graphql(COMMENT, {"id": node, "b": f"{each}"})
    with pytest.raises(RateLimited, match="submitted too quickly") as met:
        await repository.graphql(COMMENT, {"id": node, "b": "one more"})
    assert met.value.secondary
    with pytest.raises(RateLimited, match="a limit holds"):
        await repository.get(f"issues/{number}")


def request(method: str, path: str, query: str = "") -> httpx.Request:
    body = {"query": query} if query else None
    return httpx.Request(method, f"https://api.example.com{path}", json=body)


@pytest.mark.parametrize(
    ("method", "path", "share"),
    [
        ("POST", "/repos/o/r/issues/7/comments", 1.0),
        ("POST", "/repos/o/r/pulls/7/comments/9/replies", 1.0),
        ("POST", "/repos/o/r/pulls", 1.0),
        ("POST", "/repos/o/r/check-runs", BESIDES),
        ("PATCH", "/repos/o/r/issues/comments/9", 0.0),
        ("POST", "/repos/o/r/git/trees", 0.0),
        ("GET", "/repos/o/r/pulls", 0.0),
    ],
)
def test_only_what_makes_something_new_for_people_counts(method: str, path: str, share: float) -> None:
    assert share_of(request(method, path)) == share


@pytest.mark.parametrize(
    ("query", "share"),
    [
        (COMMENT, 1.0),
        ("\n  mutation Reply { addPullRequestReviewThreadReply(input: {}) { clientMutationId } }", 1.0),
        ("mutation { createPullRequest (input: {}) { clientMutationId } }", 1.0),
        ("mutation { submitPullRequestReview(input: {}) { clientMutationId } }", 1.0),
        ("mutation { markPullRequestReadyForReview(input: {}) { clientMutationId } }", 0.0),
        ("mutation { resolveReviewThread(input: {}) { clientMutationId } }", 0.0),
        ("query { addComment(input: {}) { id } }", 0.0),
    ],
)
def test_mutations_count_as_what_rest_does_in_their_place(query: str, share: float) -> None:
    assert share_of(request("POST", "/graphql", query)) == share
    assert share_of(request("POST", "/api/graphql", query)) == share

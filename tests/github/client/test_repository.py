"""GraphQL and lists, from a stand-in for GitHub."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from github.client.app import GitHubApp
from github.client.errors import Invalid, NotFound, PermissionMissing, RateLimited
from github.client.repository import RepositoryHandle, quoted
from github.emulator.local import LocalGitHub
from github.publishing.pulls import mark_ready
from github.threads.reviews import resolve
from tests.github.conftest import TestClock

Answering = Callable[[httpx.Request], httpx.Response]


class Remote:
    """Answers tokens by itself and the rest by what a test sets."""

    def __init__(self) -> None:
        self.answer: Answering = lambda _request: httpx.Response(404, json={"message": "Not Found"})
        self.queries: list[dict[str, Any]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if path.endswith("/access_tokens"):
            token = {"token": "ghs_x", "expires_at": "2999-01-01T00:00:00Z", "permissions": {"contents": "write"}}
            return httpx.Response(201, json=token)
        if path.startswith("/app/installations/"):
            return httpx.Response(200, json={"id": 5, "permissions": {"contents": "write"}})
        if path == "/repositories/7":
            return httpx.Response(200, json={"full_name": "octo/app"})
        if path == "/graphql":
            self.queries.append(json.loads(request.content))
        return self.answer(request)


@pytest.fixture
def remote() -> Remote:
    return Remote()


@pytest.fixture
async def distant(remote: Remote, shared_github: LocalGitHub) -> AsyncIterator[RepositoryHandle]:
    async with httpx.AsyncClient(transport=httpx.MockTransport(remote)) as http:
        app = GitHubApp(1, shared_github.app.private_key, http=http, clock=TestClock())
        yield RepositoryHandle(app, 5, 7)


def test_slashes_stay_and_all_else_is_quoted() -> None:
    assert quoted("feature/a b#c?d%e") == "feature/a%20b%23c%3Fd%25e"


@pytest.mark.parametrize(
    ("kind", "message", "error"),
    [
        ("NOT_FOUND", "Could not resolve to a node", NotFound),
        ("FORBIDDEN", "no", PermissionMissing),
        (None, "Resource not accessible by integration", PermissionMissing),
        ("RATE_LIMITED", "API rate limit exceeded", RateLimited),
        ("RATE_LIMIT", "API rate limit already exceeded", RateLimited),
        ("UNPROCESSABLE", "Draft pull requests are not supported", Invalid),
    ],
)
async def test_an_error_inside_a_graphql_answer_has_its_name(
    remote: Remote, distant: RepositoryHandle, kind: str | None, message: str, error: type[Exception]
) -> None:
    remote.answer = lambda _: httpx.Response(200, json={"data": None, "errors": [{"type": kind, "message": message}]})
    with pytest.raises(error, match=message):
        await distant.graphql("query { viewer { login } }", {})


async def test_a_graphql_limit_ends_when_its_headers_say(remote: Remote, distant: RepositoryHandle) -> None:
    until = distant.app.clock.now() + 900
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(until)}
    limit = {"errors": [{"type": "RATE_LIMITED", "message": "slow"}]}
    remote.answer = lambda _: httpx.Response(200, json=limit, headers=headers)
    with pytest.raises(RateLimited) as raised:
        await distant.graphql("query { viewer { login } }", {})
    assert (raised.value.retry_at, raised.value.secondary) == (until, False)


async def test_a_graphql_limit_holds_for_what_follows(remote: Remote, distant: RepositoryHandle) -> None:
    remote.answer = lambda _: httpx.Response(200, json={"errors": [{"type": "RATE_LIMITED", "message": "slow"}]})
    with pytest.raises(RateLimited):
        await distant.graphql("query { viewer { login } }", {})
    sent = len(remote.queries)
    with pytest.raises(RateLimited, match="not sent"):
        await distant.graphql("query { viewer { login } }", {})
    assert len(remote.queries) == sent


async def test_a_list_stops_at_its_limit(remote: Remote, distant: RepositoryHandle) -> None:
    def page(request: httpx.Request) -> httpx.Response:
        link = f'<https://api.github.com{request.url.path}?page=2>; rel="next"'
        return httpx.Response(200, json=[1, 2, 3], headers={"link": link})

    asked: list[str] = []

    def counted(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return page(request)

    remote.answer = counted
    assert [item async for item in distant.pages("things", limit=7)] == [1, 2, 3, 1, 2, 3, 1]
    assert len(asked) == 3
    assert [item async for item in distant.pages("things", limit=6)] == [1, 2, 3, 1, 2, 3]
    assert len(asked) == 5  # the page behind the last item that is wanted is not asked for


async def test_threads_are_searched_page_by_page(remote: Remote, distant: RepositoryHandle) -> None:
    def thread(id: str, comment: int, resolved: bool = False) -> dict[str, Any]:
        return {"id": id, "isResolved": resolved, "comments": {"nodes": [{"databaseId": comment}]}}

    def answer(request: httpx.Request) -> httpx.Response:
        asked = json.loads(request.content)
        if "resolveReviewThread" in asked["query"]:
            return httpx.Response(200, json={"data": {"resolveReviewThread": {"thread": {"isResolved": True}}}})
        last = asked["variables"]["after"] == "c1"
        nodes = [thread("T2", 2), thread("T3", 3, resolved=True)] if last else [thread("T1", 1), {"id": "T0"}]
        info = {"hasNextPage": not last, "endCursor": "c2" if last else "c1"}
        found = {"pageInfo": info, "nodes": nodes}
        return httpx.Response(200, json={"data": {"repository": {"pullRequest": {"reviewThreads": found}}}})

    remote.answer = answer
    assert await resolve(distant, 13, 2)
    assert remote.queries[-1]["variables"] == {"id": "T2"}
    assert not await resolve(distant, 13, 3)
    assert not await resolve(distant, 13, 4)


async def test_marking_ready_looks_again_when_the_answer_was_lost(remote: Remote, distant: RepositoryHandle) -> None:
    drafts = [True, False]

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/graphql":
            return httpx.Response(502)
        return httpx.Response(200, json={"number": 13, "node_id": "PR", "draft": drafts.pop(0)})

    remote.answer = answer
    assert await mark_ready(distant, 13)
    assert len(remote.queries) == 1

"""What the local GitHub cannot show: broken connections, hostile redirects and links."""

from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from githubkit.auth import TokenAuthStrategy

from github.client.addresses import Addresses
from github.client.errors import GitHubError, NotFound, RateLimited, ServerFault, Unreachable, UnreadableAnswer
from github.client.http.transport import Answer, Transport
from tests.github.conftest import TestClock

API = "https://api.example.com"
Reply = httpx.Response | Exception


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> TestClock:
    """githubkit's waits between tries are this clock's too."""
    clock = TestClock()
    monkeypatch.setattr("githubkit.core.anyio", SimpleNamespace(sleep=clock.sleep))
    return clock


class Server:
    """Answers from a list, the last one for ever, and keeps the requests."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.seen: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        return reply


def transport(server: Callable[[httpx.Request], httpx.Response], clock: TestClock) -> Transport:
    http = httpx.AsyncClient(transport=httpx.MockTransport(server))
    return Transport(Addresses.of(API), api_version="2022-11-28", clock=clock, http=http)


def ok(**fields: Any) -> httpx.Response:
    return httpx.Response(200, json=fields)


async def send(server: Server, clock: TestClock, method: str = "GET", path: str = "x", **options: Any) -> Answer:
    auth = TokenAuthStrategy("secret")
    return await transport(server, clock).send(method, f"{API}/{path}", auth=auth, **options)


@pytest.mark.parametrize(
    ("method", "path", "failure", "tries"),
    [
        ("GET", "x", httpx.Response(502), 3),
        ("GET", "x", httpx.ReadTimeout("slow"), 3),
        ("POST", "repos/o/r/issues/1/comments", httpx.Response(502), 1),
        ("POST", "repos/o/r/pulls", httpx.ReadTimeout("slow"), 1),
        ("POST", "repos/o/r/check-runs", httpx.RemoteProtocolError("cut"), 1),
        ("POST", "repos/o/r/pulls", httpx.ConnectError("refused"), 3),
        ("POST", "repos/o/r/pulls", httpx.ConnectTimeout("slow"), 3),
        ("POST", "repos/o/r/git/trees", httpx.Response(502), 3),
        ("POST", "repos/o/r/git/refs", httpx.ReadTimeout("slow"), 3),
        ("POST", "app/installations/5/access_tokens", httpx.Response(502), 3),
        ("PATCH", "repos/o/r/issues/comments/1", httpx.Response(500), 3),
        ("DELETE", "repos/o/r/git/refs/heads/x", httpx.Response(500), 3),
        ("GET", "x", httpx.Response(404), 1),
        ("POST", "repos/o/r/git/trees", httpx.Response(422), 1),
    ],
)
async def test_only_what_may_safely_happen_twice_is_tried_again(
    clock: TestClock, method: str, path: str, failure: Reply, tries: int
) -> None:
    server = Server(failure)
    with pytest.raises(GitHubError):
        await send(server, clock, method, path)
    assert len(server.seen) == tries
    assert clock.slept == [0.5, 1.5][: tries - 1]


@pytest.mark.parametrize(("query", "tries"), [("query($id: ID!) { node }", 3), ("mutation($id: ID!) { close }", 1)])
async def test_a_query_is_asked_again_and_a_mutation_is_not(clock: TestClock, query: str, tries: int) -> None:
    server = Server(httpx.Response(502))
    with pytest.raises(ServerFault):
        await send(server, clock, "POST", "graphql", body={"query": query, "variables": {"id": "mutation"}})
    assert len(server.seen) == tries


async def test_a_hiccup_is_not_noticed(clock: TestClock) -> None:
    answer = await send(Server(httpx.ReadError("reset"), httpx.Response(503), ok(a=1)), clock)
    assert answer.json() == {"a": 1}


async def test_no_answer_names_the_request_and_the_way_out(clock: TestClock) -> None:
    with pytest.raises(Unreachable, match=r"GET /x: no answer from GitHub: refused; check the API URL"):
        await send(Server(httpx.ConnectError("refused")), clock)
    with pytest.raises(ServerFault, match="GET /x: GitHub answered 502"):
        await send(Server(httpx.Response(502)), clock)


@pytest.mark.parametrize(("output", "tries"), [({"title": "x"}, 3), ({"title": "x", "annotations": []}, 1)])
async def test_what_adds_annotations_is_not_sent_twice(clock: TestClock, output: dict[str, Any], tries: int) -> None:
    server = Server(httpx.Response(502))
    with pytest.raises(ServerFault):
        await send(server, clock, "PATCH", "repos/o/r/check-runs/1", body={"output": output})
    assert len(server.seen) == tries


async def test_how_far_githubs_clock_is_ahead_is_told_by_its_last_answer(clock: TestClock) -> None:
    def dated(seconds: float) -> httpx.Response:
        at = datetime.fromtimestamp(clock.now() + seconds, UTC)
        return httpx.Response(200, json={}, headers={"date": format_datetime(at, usegmt=True)})

    odd = httpx.Response(200, json={}, headers={"date": "yesterday"})
    ours = transport(Server(ok(), dated(90), odd, dated(0)), clock)
    seen = []
    for _ in range(4):
        await ours.send("GET", f"{API}/x")
        seen.append(ours.offset)
    assert seen == [0.0, 90.0, 90.0, 0.0]


async def test_a_limit_whose_length_cannot_be_read_is_a_limit_all_the_same(clock: TestClock) -> None:
    with pytest.raises(RateLimited) as caught:
        await send(Server(httpx.Response(429, headers={"retry-after": "Sun, 29 Nov 2026 12:00:00 GMT"})), clock)
    assert caught.value.retry_at == clock.now() + 60


async def test_the_connections_outlive_githubkits_clients(clock: TestClock) -> None:
    http = httpx.AsyncClient(transport=httpx.MockTransport(Server(ok())))
    ours = Transport(Addresses.of(API), api_version="2022-11-28", clock=clock, http=http)
    for _ in range(3):
        await ours.send("GET", f"{API}/x")
    assert not http.is_closed
    await ours.aclose()
    assert not http.is_closed
    await http.aclose()


async def test_a_proxys_login_page_is_no_answer(clock: TestClock) -> None:
    answer = await send(Server(httpx.Response(200, text="<html>Sign in</html>")), clock)
    with pytest.raises(UnreadableAnswer, match="Sign in"):
        answer.json()


@pytest.mark.parametrize(
    "location", ["/repositories/7/x", "https://evil.example/x", "https://api.example.com.evil.net/x"]
)
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_no_redirect_takes_the_token_along(clock: TestClock, status: int, location: str) -> None:
    server = Server(httpx.Response(status, headers={"location": location}), ok())
    answer = await send(server, clock)
    assert (answer.status, answer.headers["location"], len(server.seen)) == (status, location, 1)


def test_a_link_is_taken_for_a_path_on_our_own_api_whatever_host_it_names(clock: TestClock) -> None:
    on_github = transport(Server(ok()), clock)
    assert on_github.url("https://evil.example/repositories/7/x?page=2") == f"{API}/repositories/7/x?page=2"
    http = httpx.AsyncClient(transport=httpx.MockTransport(Server(ok())))
    enterprise = Transport(Addresses.of("https://ghe.example/api/v3"), api_version="x", clock=clock, http=http)
    assert (
        enterprise.url("https://inner.host/api/v3/repositories/7?page=2")
        == "https://ghe.example/api/v3/repositories/7?page=2"
    )
    assert enterprise.url("repos/o/r") == "https://ghe.example/api/v3/repos/o/r"


async def test_a_signed_address_gets_no_authorization(clock: TestClock) -> None:
    server = Server(httpx.Response(200, content=b"log"))
    async with transport(server, clock).stream("https://blobs.example/log?sig=1") as response:
        assert b"".join([part async for part in response.aiter_bytes()]) == b"log"
    assert "authorization" not in server.seen[0].headers


async def test_an_error_of_the_storage_has_a_name_too(clock: TestClock) -> None:
    server = Server(httpx.Response(404, text="<Error><Code>BlobNotFound</Code></Error>"))
    with pytest.raises(NotFound, match="BlobNotFound"):
        async with transport(server, clock).stream("https://blobs.example/log"):
            pass
    with pytest.raises(Unreachable):
        async with transport(Server(httpx.ReadTimeout("slow")), clock).stream("https://blobs.example/log"):
            pass


async def test_no_error_shows_the_token(clock: TestClock) -> None:
    for reply in (httpx.Response(401, json={"message": "Bad credentials"}), httpx.ReadTimeout("slow")):
        with pytest.raises(GitHubError) as caught:
            await send(Server(reply), clock)
        assert "secret" not in f"{caught.value} {caught.value!r} {vars(caught.value)}"

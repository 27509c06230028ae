"""Faults of the connection below githubkit, from stand-ins that answer as proxies, networks and bad days do."""

import asyncio
import gzip
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import respx

from github.client.app import GitHubApp
from github.client.errors import GitHubError, NotFound, ServerFault, Unreachable, UnreadableAnswer
from github.client.http import connections
from github.client.repository import RepositoryHandle
from github.client.scopes import Scope
from github.emulator.local import LocalGitHub
from tests.github.conftest import TestClock

API = "https://api.github.com"
HTML = "<html><body>Unicorn!</body></html>"


@pytest.fixture
def github() -> Any:
    with respx.mock(base_url=API, assert_all_called=False) as router:
        tokens = (f"ghs_{number}" for number in range(1, 99))
        router.get("/app/installations/5").respond(json={"id": 5, "permissions": {"contents": "write"}})
        router.post("/app/installations/5/access_tokens").mock(
            side_effect=lambda _: httpx.Response(
                201, json={"token": next(tokens), "expires_at": "2999-01-01T00:00:00Z", "permissions": {}}
            )
        )
        yield router


@pytest.fixture
async def repository(shared_github: LocalGitHub) -> AsyncIterator[RepositoryHandle]:
    app = GitHubApp(1, shared_github.app.private_key, clock=TestClock())
    yield RepositoryHandle(app, 5, 7, "octo/app")
    await app.aclose()


class Body(httpx.AsyncByteStream):
    """A body as it comes over the wire, still compressed, with a failure at its end if there is one."""

    def __init__(self, *parts: bytes, failure: Exception | None = None) -> None:
        self._parts = parts
        self._failure = failure

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self._parts:
            yield part
        if self._failure:
            raise self._failure


GZIP = {"content-encoding": "gzip"}
CUT = httpx.RemoteProtocolError("peer closed connection without sending complete message body")


@pytest.mark.parametrize("failure", [CUT, httpx.ReadTimeout("")])
async def test_a_get_whose_body_breaks_off_is_asked_again(
    github: Any, repository: RepositoryHandle, failure: Exception
) -> None:
    broken = httpx.Response(200, headers={"etag": '"1"'}, stream=Body(b'{"full_', failure=failure))
    github.get("/repos/octo/app").side_effect = [broken, httpx.Response(200, json={"id": 7})]
    assert await repository.get("") == {"id": 7}


async def test_a_write_whose_answer_breaks_off_may_have_happened_and_is_not_repeated(
    github: Any, repository: RepositoryHandle
) -> None:
    route = github.post("/repos/octo/app/pulls")
    route.side_effect = [httpx.Response(201, stream=Body(b'{"full_', failure=CUT)), httpx.Response(201, json={})]
    with pytest.raises(Unreachable, match="POST /repos/octo/app/pulls: no answer from GitHub: peer closed"):
        await repository.request("POST", "pulls", scope=Scope.PUBLISH, json={"title": "x"})
    assert route.call_count == 1


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (httpx.Response(200, text=HTML), UnreadableAnswer),
        (httpx.Response(200, content=b'{"id": 7', headers={"content-type": "application/json"}), UnreadableAnswer),
        (httpx.Response(200, content=b"\xff\xfe\x00"), UnreadableAnswer),
        (httpx.Response(200, content=b""), UnreadableAnswer),
        (httpx.Response(304), UnreadableAnswer),
        (httpx.Response(204), UnreadableAnswer),
        (httpx.Response(200, stream=Body(b"no gzip"), headers=GZIP), Unreachable),
        (httpx.Response(502, text=HTML), ServerFault),
        (httpx.Response(503, text=HTML, headers={"retry-after": "soon"}), ServerFault),
        (httpx.Response(404, text=HTML), NotFound),
        (httpx.Response(418, content=b"\xff" * 300), GitHubError),
    ],
)
async def test_whatever_comes_back_there_is_an_error_with_a_name(
    github: Any, repository: RepositoryHandle, answer: httpx.Response, error: type[GitHubError]
) -> None:
    github.get("/repos/octo/app/branches/x").mock(return_value=answer)
    github.get("/repositories/7").respond(json={"full_name": "octo/app"})
    with pytest.raises(error) as caught:
        await repository.get("branches/x")
    assert "ghs_" not in f"{caught.value} {vars(caught.value)}"


async def test_a_right_body_of_a_wrong_content_type_is_read(github: Any, repository: RepositoryHandle) -> None:
    packed = gzip.compress(b'{"id": 7}')
    headers = [(b"content-type", b"text/plain"), (b"content-encoding", b"gzip"), (b"x-odd", b"\xe9"), (b"link", b"<x")]
    github.get("/repos/octo/app").mock(return_value=httpx.Response(200, stream=Body(packed), headers=headers))
    assert await repository.get("") == {"id": 7}


async def test_an_answer_without_an_end_is_given_up(
    github: Any, repository: RepositoryHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_ANSWER", 1000)
    bomb = httpx.Response(200, stream=Body(gzip.compress(b" " * 100_000)), headers=GZIP)
    github.get("/repos/octo/app").mock(return_value=bomb)
    with pytest.raises(UnreadableAnswer, match="larger than 1000 bytes"):
        await repository.get("")


async def test_an_etag_is_sent_with_the_token_that_it_was_given_to_only(
    github: Any, repository: RepositoryHandle
) -> None:
    clock = repository.app.clock
    assert isinstance(clock, TestClock)
    route = github.get("/repos/octo/app")

    def answer(request: httpx.Request) -> httpx.Response:
        etag = f'"for {request.headers["authorization"]}"'
        if request.headers.get("if-none-match") == etag:
            return httpx.Response(304)
        assert "if-none-match" not in request.headers
        return httpx.Response(200, json={"id": 7}, headers={"etag": etag})

    route.side_effect = answer
    assert [await repository.get("") for _ in range(3)] == [{"id": 7}] * 3
    repository.app.forget(5)  # as after an hour: the next request has another token
    assert [await repository.get("") for _ in range(3)] == [{"id": 7}] * 3
    sent = [call.request.headers["authorization"] for call in route.calls]
    assert sent == ["token ghs_1"] * 3 + ["token ghs_2"] * 3


async def test_a_token_that_is_renewed_within_a_request_takes_no_etag_of_the_former_along(
    github: Any, repository: RepositoryHandle
) -> None:
    clock = repository.app.clock
    assert isinstance(clock, TestClock)
    route = github.get("/repos/octo/app")
    bad = httpx.Response(401, json={"message": "Bad credentials"})
    good = httpx.Response(200, json={"id": 7}, headers={"etag": '"1"'})
    route.side_effect = [good, bad, good]
    await repository.get("")
    clock.advance(60)
    assert await repository.get("") == {"id": 7}
    assert [call.request.headers.get("if-none-match") for call in route.calls] == [None, '"1"', None]


@pytest.mark.parametrize("status", [200, 404])
async def test_what_may_be_a_minute_old_is_not_asked_again_within_it(
    github: Any, repository: RepositoryHandle, status: int
) -> None:
    clock = repository.app.clock
    assert isinstance(clock, TestClock)
    github.get("/repositories/7").respond(json={"full_name": "octo/app"})
    route = github.get(url=re.compile(f"{API}/repos/octo/app/contents/x"))
    route.mock(return_value=httpx.Response(status, json={"id": 7}, headers={"etag": '"1"'} if status == 200 else {}))

    async def ask() -> None:
        try:
            await repository.get("contents/x", max_age=60)
        except NotFound:
            assert status == 404

    for _ in range(3):
        await ask()
    assert route.call_count == 1
    clock.advance(61)
    await ask()
    assert route.call_count == 2


async def test_who_is_content_with_a_moments_age_waits_for_who_asks_just_now(
    github: Any, repository: RepositoryHandle
) -> None:
    route = github.get("/repos/octo/app/branches/x")
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def slow(_: httpx.Request) -> httpx.Response:
        reached.set()
        await go_on.wait()
        return httpx.Response(200, json={"name": "x"}, headers={"etag": '"1"'})

    route.side_effect = slow
    asked = [asyncio.create_task(repository.get("branches/x", max_age=5)) for _ in range(3)]
    await reached.wait()
    fresh = asyncio.create_task(repository.get("branches/x"))
    go_on.set()
    assert await asyncio.gather(*asked, fresh) == [{"name": "x"}] * 4
    assert route.call_count == 2


async def test_who_waited_asks_for_themselves_where_the_other_failed(github: Any, repository: RepositoryHandle) -> None:
    route = github.get("/repos/octo/app/branches/x")
    route.side_effect = [httpx.Response(418), httpx.Response(200, json={"name": "x"}, headers={"etag": '"1"'})]
    asked = [repository.get("branches/x", max_age=5) for _ in range(2)]
    failed, found = await asyncio.gather(*asked, return_exceptions=True)
    assert isinstance(failed, GitHubError)
    assert found == {"name": "x"}

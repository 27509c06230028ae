"""What is asked of GitHub when somebody asks for something, by one query: the same as by REST."""

import base64

import pytest

from github.client.repository import RepositoryHandle
from github.repositories.queries import facts, settings
from github.threads import request_query
from github.threads.comments import keys_since, put_sticky, said_by_others, still_there
from github.threads.request_query import prefetch_request
from github.webhooks.sources import ThreadComment
from tests.github.conftest import Spot, TestClock


async def test_a_query_tells_the_same_as_the_requests_that_it_stands_for(
    spot: Spot, repository: RepositoryHandle
) -> None:
    number = await spot.issue()
    for login, body in (("alice", "first"), ("bob", "second"), ("alice", "asks")):
        await spot.act(login, "POST", f"issues/{number}/comments", body=body)
    await put_sticky(repository, number, "s_1", "ours")
    _, _, asks, _ = await spot.act("alice", "GET", f"issues/{number}/comments")

    async def asked(max_age: float) -> object:
        return (
            await facts(repository, max_age=max_age),
            await settings(repository, max_age=max_age),
            await keys_since(repository, number, "", max_age=max_age),
            await said_by_others(
                repository, number, after="", until=asks["created_at"], but=asks["id"], max_age=max_age
            ),
            await still_there(repository, number, ThreadComment(asks["id"]), max_age=max_age),
        )

    by_rest = await asked(0.0)
    moment = await prefetch_request(repository, number)
    routes: list[str] = []
    spot.local.observe(answers=lambda route, _method, _status, _body, _version: routes.append(route))
    assert await asked(moment) == by_rest
    assert routes == []


async def test_settings_that_are_there_are_read_as_they_are_now(spot: Spot, repository: RepositoryHandle) -> None:
    number = await spot.issue()
    await prefetch_request(repository, number)
    content = base64.b64encode(b"label: robot\n").decode()
    await spot.act("alice", "PUT", "contents/.github/greenloop.yml", message="m", content=content)
    assert (await settings(repository)).config.label == "robot"
    clock = repository.app.clock
    assert isinstance(clock, TestClock)
    clock.advance(60)
    moment = await prefetch_request(repository, number)
    assert (await settings(repository, max_age=moment)).config.label == "robot"


async def test_a_thread_with_more_comments_than_a_query_tells_is_read_by_rest(
    spot: Spot, repository: RepositoryHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = await spot.issue()
    for body in ("one", "two", "three"):
        await spot.act("alice", "POST", f"issues/{number}/comments", body=body)
    monkeypatch.setattr(request_query, "QUERY", request_query.QUERY.replace("last: 100", "last: 2"))
    moment = await prefetch_request(repository, number)
    found = await said_by_others(repository, number, after="", until="9", max_age=moment)
    assert [each.body for each in found] == ["one", "two", "three"]


async def test_without_a_query_each_is_asked_for_itself(spot: Spot, repository: RepositoryHandle) -> None:
    repository.app.queries.close(repository.installation_id, repository.app.clock.now() + 60)
    assert await prefetch_request(repository, await spot.issue()) == 0.0

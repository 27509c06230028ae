"""What a step is about to ask, by one query: the same as by REST, and never older than what we did ourselves."""

import pytest

from github.client.repository import RepositoryHandle
from github.publishing import branches
from github.publishing.commits import tree_of
from github.repositories.prefetch import prefetch
from github.repositories.queries import facts, file_at, head, pull
from tests.github.conftest import Spot


@pytest.fixture
async def number(spot: Spot) -> int:
    """A pull request from `topic` into `trunk`."""
    made = await spot.act("alice", "GET", "git/ref/heads/trunk")
    await spot.act("alice", "POST", "git/refs", ref="refs/heads/topic", sha=made["object"]["sha"])
    await spot.act("alice", "PUT", "contents/x.txt", message="m", content="eA==", branch="topic")
    found = await spot.act("alice", "POST", "pulls", title="T", head="topic", base="trunk", draft=True)
    await spot.act("alice", "GET", f"pulls/{found['number']}")  # whether it merges is known from the second time on
    return int(found["number"])


async def test_a_query_tells_the_same_as_the_requests_that_it_stands_for(
    spot: Spot, repository: RepositoryHandle, number: int
) -> None:
    tip = await head(repository, "topic")
    assert tip is not None
    by_rest = (await facts(repository), tip, await head(repository, "trunk"), await pull(repository, number))
    tree = (await spot.act("alice", "GET", f"git/commits/{tip}"))["tree"]["sha"]
    moment = await prefetch(repository, base="trunk", branch="topic", number=number)
    asked: list[str] = []
    spot.local.observe(answers=lambda route, _method, _status, _body, _version: asked.append(route))
    told = (
        await facts(repository, max_age=moment),
        await head(repository, "topic", max_age=moment),
        await head(repository, "trunk", max_age=moment),
        await pull(repository, number, max_age=moment),
    )
    assert told == by_rest
    assert await tree_of(repository, tip) == tree
    assert await file_at(repository, "AGENTS.md", tip) is None
    assert asked == []
    assert await file_at(repository, "README.md", tip) == b"# App\n"
    assert asked == ["/repos/{owner}/{repo}/contents/{path}"]


async def test_who_wants_to_know_now_asks_github(spot: Spot, repository: RepositoryHandle, number: int) -> None:
    await prefetch(repository, base="trunk", branch="topic", number=number)
    before = await head(repository, "topic")
    await spot.act("alice", "PUT", "contents/y.txt", message="m", content="eA==", branch="topic")
    assert await head(repository, "topic") != before
    await spot.act("alice", "PATCH", f"pulls/{number}", state="closed")
    assert (await pull(repository, number)).state == "closed"


async def test_a_branch_that_we_make_or_move_is_not_where_it_was_told_to_be(
    spot: Spot, repository: RepositoryHandle, number: int
) -> None:
    moment = await prefetch(repository, base="trunk", branch="new")
    assert await head(repository, "new", max_age=moment) is None
    trunk, topic = await head(repository, "trunk"), await head(repository, "topic")
    assert trunk is not None and topic is not None
    await branches.create(repository, "new", trunk)
    assert await head(repository, "new", max_age=moment) == trunk
    moment = await prefetch(repository, base="trunk", branch="new")
    await branches.fast_forward(repository, "new", topic)
    assert await head(repository, "new", max_age=moment) == topic


async def test_without_a_query_each_is_asked_for_itself(repository: RepositoryHandle, number: int) -> None:
    repository.app.queries.close(repository.installation_id, repository.app.clock.now() + 60)
    assert await prefetch(repository, base="trunk", branch="topic", number=number) == 0.0
    assert (await pull(repository, number, max_age=0.0)).number == number

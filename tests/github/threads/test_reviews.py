from pathlib import Path
from typing import Any

import pytest

from github.client.errors import NotFound
from github.client.repository import RepositoryHandle
from github.threads.reviews import remarks, reply, resolve, threads
from tests.github.conftest import Spot
from tests.github.gitside import Clone


@pytest.fixture
async def review(spot: Spot, tmp_path: Path) -> dict[str, Any]:
    """Alice's pull request, which the owner reviewed with two inline remarks."""
    clone = await Clone(spot, tmp_path / "c").start()
    await clone.commit({"new.py": "a = 1\nb = 2\n"})
    await clone.push("topic")
    pull = await spot.act("alice", "POST", "pulls", title="T", head="topic", base="trunk")
    number = pull["number"]
    comments = [
        {"path": "new.py", "line": 1, "side": "RIGHT", "body": "why one?"},
        {"path": "new.py", "line": 2, "side": "RIGHT", "body": "why two?"},
    ]
    made = await spot.act(
        spot.owner, "POST", f"pulls/{number}/reviews", event="REQUEST_CHANGES", body="Please", comments=comments
    )
    return {"number": number, "id": made["id"]}


async def test_the_remarks_of_a_review_are_listed(repository: RepositoryHandle, review: dict[str, Any]) -> None:
    found = [each async for each in remarks(repository, review["number"], review["id"], "")]
    assert [(each.path, each.body) for each in found] == [("new.py", "why one?"), ("new.py", "why two?")]
    assert [each.thread_id for each in found] == [each.id for each in found]


async def test_a_thread_is_answered_once(spot: Spot, repository: RepositoryHandle, review: dict[str, Any]) -> None:
    number = review["number"]
    first, second = [each async for each in remarks(repository, number, review["id"], "")]
    answer = await reply(repository, number, first.id, "t_1", "Done")
    assert await reply(repository, number, first.id, "t_1", "Done") == answer
    assert await reply(repository, number, second.id, "t_1", "Done too") != answer
    found = await spot.act("alice", "GET", f"pulls/{number}/comments")
    assert len(found) == 4
    assert {each.get("in_reply_to_id") for each in found} == {None, first.id, second.id}


async def test_a_thread_is_resolved_by_its_first_comment(repository: RepositoryHandle, review: dict[str, Any]) -> None:
    number = review["number"]
    first, _second = [each async for each in remarks(repository, number, review["id"], "")]
    assert await resolve(repository, number, first.id)
    assert not await resolve(repository, number, first.id)
    assert {each.first_comment_id: each.resolved async for each in threads(repository, number)}[first.id]
    assert not await resolve(repository, number, 4711)


async def test_a_thread_that_is_gone_is_told(repository: RepositoryHandle, review: dict[str, Any]) -> None:
    with pytest.raises(NotFound):
        await reply(repository, review["number"], 4711, "t_1", "Done")

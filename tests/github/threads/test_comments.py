import asyncio
import itertools

import pytest

from github.client.errors import Gone, NotFound, ServerFault
from github.client.repository import RepositoryHandle
from github.client.text import MAX_BODY, length
from github.emulator.local import LocalGitHub
from github.threads import comments
from github.threads.comments import (
    Reacted,
    find_sticky,
    keys_since,
    marked,
    marker,
    put_sticky,
    react,
    said_by_others,
    still_there,
)
from github.webhooks.sources import CheckButton, OwnText, ThreadComment, Where
from tests.github.conftest import Spot


async def bodies(spot: Spot, number: int) -> list[str]:
    return [each["body"] for each in await spot.act("alice", "GET", f"issues/{number}/comments")]


async def test_the_sticky_comment_is_made_once_and_then_edited(spot: Spot, repository: RepositoryHandle) -> None:
    number = await spot.issue()
    first = await put_sticky(repository, number, "s_1", "working")
    second = await put_sticky(repository, number, "s_1", "done", comment_id=first.id)
    assert second.id == first.id
    assert await bodies(spot, number) == ["<!-- greenloop:s_1 -->\ndone"]


async def test_after_a_crash_the_comment_is_found_by_its_marker(spot: Spot, repository: RepositoryHandle) -> None:
    number = await spot.issue()
    first = await put_sticky(repository, number, "s_1", "working")
    again = await put_sticky(repository, number, "s_1", "done")
    assert again.id == first.id
    assert len(await bodies(spot, number)) == 1


async def test_each_session_has_its_own_comment(spot: Spot, repository: RepositoryHandle) -> None:
    number = await spot.issue()
    await put_sticky(repository, number, "s_1", "one")
    await put_sticky(repository, number, "s_11", "two")
    assert len(await bodies(spot, number)) == 2


async def test_a_comment_that_somebody_deleted_is_made_again(spot: Spot, repository: RepositoryHandle) -> None:
    number = await spot.issue()
    first = await put_sticky(repository, number, "s_1", "working")
    await spot.act(spot.owner, "DELETE", f"issues/comments/{first.id}")
    again = await put_sticky(repository, number, "s_1", "done", comment_id=first.id)
    assert again.id != first.id
    assert await bodies(spot, number) == ["<!-- greenloop:s_1 -->\ndone"]


async def test_two_processes_at_once_leave_one_comment(spot: Spot, repository: RepositoryHandle) -> None:
    number = await spot.issue()
    await comments._post(repository, number, marked("s_1", "a"))
    await comments._post(repository, number, marked("s_1", "b"))
    assert await find_sticky(repository, number, "s_1") is not None
    assert await bodies(spot, number) == [marked("s_1", "a")]
    await asyncio.gather(*(put_sticky(repository, number, "s_2", "same") for _ in range(3)))
    assert (await bodies(spot, number)).count(marked("s_2", "same")) == 1


async def test_a_marker_that_somebody_else_copied_is_not_ours(spot: Spot, repository: RepositoryHandle) -> None:
    number = await spot.issue()
    await spot.act("alice", "POST", f"issues/{number}/comments", body=marked("s_1", "mine"))
    await put_sticky(repository, number, "s_1", "ours")
    assert len(await bodies(spot, number)) == 2


async def test_a_post_whose_answer_was_lost_is_not_sent_again_blindly(
    local: LocalGitHub, spot: Spot, repository: RepositoryHandle
) -> None:
    number = await spot.issue()
    await find_sticky(repository, number, "s_1")
    local.add_fault("error", method="POST", path="*/comments", status=502, times=1)
    with pytest.raises(ServerFault):
        await put_sticky(repository, number, "s_1", "working")
    await put_sticky(repository, number, "s_1", "working")
    assert len(await bodies(spot, number)) == 1


async def test_a_body_over_the_limit_is_cut_on_create_and_on_update(spot: Spot, repository: RepositoryHandle) -> None:
    number = await spot.issue()
    first = await put_sticky(repository, number, "s_1", "x" * 70_000)
    await put_sticky(repository, number, "s_1", "🙂" * 70_000, comment_id=first.id)
    (body,) = await bodies(spot, number)
    assert length(body) <= MAX_BODY
    assert body.startswith(marker("s_1"))


async def test_all_pages_are_searched(
    spot: Spot, repository: RepositoryHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("github.client.repository.PER_PAGE", 3)
    number = await spot.issue()
    for index in range(7):
        await comments._post(repository, number, str(index))
    first = await put_sticky(repository, number, "s_1", "late")
    assert (await put_sticky(repository, number, "s_1", "late")).id == first.id


async def test_a_missing_issue_is_an_error(repository: RepositoryHandle) -> None:
    with pytest.raises((NotFound, Gone)):
        await put_sticky(repository, 4711, "s_1", "x")


async def test_half_a_surrogate_pair_is_no_crash(spot: Spot, repository: RepositoryHandle) -> None:
    number = await spot.issue()
    await put_sticky(repository, number, "s_1", "cut here: \ud83d")
    assert await bodies(spot, number) == [marked("s_1", "cut here: ?")]


def test_a_key_that_would_break_out_of_the_marker_is_refused() -> None:
    for key in ("", "a-->b", "a b", "a\n"):
        with pytest.raises(ValueError, match="marker"):
            marker(key)


async def test_reacting_twice_is_one_reaction(spot: Spot, repository: RepositoryHandle) -> None:
    number = await spot.issue()
    asked = await spot.act("alice", "POST", f"issues/{number}/comments", body="@greenloop x")
    for source in (OwnText(Where.ISSUE), ThreadComment(asked["id"])):
        assert await react(repository, number, source) is Reacted.NEW
        assert await react(repository, number, source) is Reacted.STANDS
    found = await spot.act("alice", "GET", f"issues/comments/{asked['id']}/reactions")
    assert [each["content"] for each in found] == ["eyes"]


async def test_what_cannot_be_reacted_to_is_no_error(repository: RepositoryHandle) -> None:
    assert await react(repository, 1, CheckButton(5)) is Reacted.IMPOSSIBLE
    assert await react(repository, 1, ThreadComment(4711)) is Reacted.IMPOSSIBLE


async def test_what_others_said_is_read_as_it_stood_at_the_trigger(spot: Spot, repository: RepositoryHandle) -> None:
    number = await spot.issue()
    for login, body in (("alice", "first"), ("bob", "second"), ("alice", "edited later"), ("alice", "asks")):
        await spot.act(login, "POST", f"issues/{number}/comments", body=body)
    await put_sticky(repository, number, "s_1", "ours")
    _, _, edited, asks, *_ = await spot.act("alice", "GET", f"issues/{number}/comments")
    until = asks["created_at"]

    async def bodies_of(after: str = "", limit: int = 100) -> list[tuple[str, str]]:
        found = await said_by_others(repository, number, after=after, until=until, but=asks["id"], limit=limit)
        return [(each.author, each.body) for each in found]

    assert await bodies_of() == [("alice", "first"), ("bob", "second"), ("alice", "edited later")]
    assert await bodies_of(limit=1) == [("alice", "edited later")]
    assert await bodies_of(after=until) == []
    change = f"issues/comments/{edited['id']}"
    rules = itertools.count()  # the same again would be no edit
    while (await spot.act("alice", "PATCH", change, body=f"Ignore rule {next(rules)}."))["updated_at"] <= until:
        await asyncio.sleep(0.05)  # GitHub tells times in whole seconds
    await spot.act("bob", "POST", f"issues/{number}/comments", body="too late")
    assert await bodies_of() == [("alice", "first"), ("bob", "second")]


async def test_a_deleted_comment_is_noticed(spot: Spot, repository: RepositoryHandle) -> None:
    number = await spot.issue()
    asked = await spot.act("alice", "POST", f"issues/{number}/comments", body="@greenloop x")
    source = ThreadComment(asked["id"])
    assert await still_there(repository, number, source)
    await spot.act(spot.owner, "DELETE", f"issues/comments/{asked['id']}")
    assert not await still_there(repository, number, source)
    assert await still_there(repository, number, OwnText(Where.ISSUE))


async def test_a_comment_that_the_list_does_not_show_yet_is_asked_for_itself(
    spot: Spot, repository: RepositoryHandle
) -> None:
    number, other = await spot.issue(), await spot.issue("Another")
    asked = await spot.act("alice", "POST", f"issues/{number}/comments", body="@greenloop x")
    assert await still_there(repository, other, ThreadComment(asked["id"]))


async def test_a_list_of_a_moment_ago_tells_what_was_said_and_that_who_asked_is_still_there(
    spot: Spot, repository: RepositoryHandle
) -> None:
    number = await spot.issue()
    asked = await spot.act("alice", "POST", f"issues/{number}/comments", body="@greenloop x")
    answers: list[str] = []
    spot.local.observe(answers=lambda route, _method, _status, _body, _version: answers.append(route))
    assert await keys_since(repository, number, "") == []
    assert await still_there(repository, number, ThreadComment(asked["id"]), max_age=60)
    assert (
        await said_by_others(repository, number, after="", until=asked["created_at"], but=asked["id"], max_age=60) == []
    )
    assert [each for each in answers if "comments" in each] == ["/repos/{owner}/{repo}/issues/{issue_number}/comments"]

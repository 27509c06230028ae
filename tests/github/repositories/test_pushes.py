"""Who pushed what a branch holds: by who was authenticated, along an unbroken line of moves, or not at all."""

from pathlib import Path

import pytest

from github.client.repository import RepositoryHandle
from github.repositories.pushes import NOTHING, Push, Pusher, pushers, pushes
from tests.github.conftest import Spot
from tests.github.gitside import Clone

ALICE, BOB, GHOST = Pusher(1, "alice"), Pusher(2, "bob"), Pusher(0, "")
A, B, C, D = (letter * 40 for letter in "abcd")
STORY = [Push(C, D, ALICE), Push(B, C, BOB), Push(A, B, ALICE), Push(NOTHING, A, BOB)]
BACK = [Push(C, B, ALICE), Push(B, C, BOB), Push(A, B, ALICE), Push(NOTHING, A, ALICE)]


@pytest.mark.parametrize(
    ("story", "listed", "head", "since", "found"),
    [
        ("nothing moved", STORY, D, D, []),
        ("one move", STORY, D, C, [ALICE]),
        ("two moves", STORY, D, B, [ALICE, BOB]),
        ("moves after the head do not count", STORY, C, B, [BOB]),
        ("the branch was made after it", STORY, D, "e" * 40, [ALICE, BOB, ALICE, BOB]),
        ("since ever", STORY, B, None, [ALICE, BOB]),
        ("a head that is not listed", STORY, "e" * 40, B, None),
        ("a move is missing", [STORY[0], STORY[2], STORY[3]], D, A, None),
        ("the list ends too early", STORY[:2], D, A, None),
        ("nothing is listed", [], D, C, None),
        ("back and forth ends at the last time that it stood there", BACK, B, B, []),
        ("a force push is its pusher's, whatever it takes back", BACK, B, A, [ALICE, BOB, ALICE]),
        ("somebody who is gone", [Push(C, D, GHOST), *STORY[1:]], D, C, [GHOST]),
    ],
)
def test_the_pushers_between_two_commits(
    story: str, listed: list[Push], head: str, since: str | None, found: list[Pusher] | None
) -> None:
    assert pushers(listed, head, since) == found, story


async def test_who_pushed_is_who_was_authenticated_and_not_whom_a_commit_names(
    spot: Spot, repository: RepositoryHandle, tmp_path: Path
) -> None:
    spot.local.set_permission(spot.name, "bob", "write")
    alices = await Clone(spot, tmp_path / "alice").start()
    first = await alices.commit({"a.txt": "1"})
    await alices.push("topic")
    bobs = await Clone(spot, tmp_path / "bob", "bob").start()
    await bobs.git("checkout", "--quiet", "topic")
    alice = spot.local.user("alice")
    for key, value in (("user.name", "alice"), ("user.email", alice.noreply)):
        await bobs.git("config", key, value)
    second = await bobs.commit({"b.txt": "2"})
    await bobs.push("topic")
    await bobs.push("another")
    found = await pushes(repository, "topic")
    assert [(push.before, push.after, push.by.login) for push in found] == [
        (first, second, "bob"),
        (NOTHING, first, "alice"),
    ]
    assert [push.by.id for push in found] == [spot.local.user("bob").id, alice.id]
    assert await pushes(repository, "topi") == []

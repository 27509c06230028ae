from dataclasses import replace

import pytest

from github.checks.our_check_run import Button, OwnCheck, put_check
from github.checks.state import snapshot
from github.client.repository import RepositoryHandle
from github.repositories.queries import head
from tests.github.conftest import Spot

STOP = Button("Stop", "Stop the work on this branch", "stop")


@pytest.fixture
async def sha(repository: RepositoryHandle) -> str:
    found = await head(repository, "trunk")
    assert found is not None
    return found


async def test_our_check_is_made_once_and_updated(spot: Spot, repository: RepositoryHandle, sha: str) -> None:
    wanted = OwnCheck(sha, "s_1", "Working", "Attempt 1 of 3", buttons=[STOP], details_url="https://loop.example/s_1")
    first = await put_check(repository, wanted)
    assert await put_check(repository, wanted) == first
    done = replace(wanted, conclusion="success", title="Green", text="All passed")
    assert await put_check(repository, done, check_run_id=first) == first
    found = await repository.get(f"check-runs/{first}")
    assert (found["status"], found["conclusion"], found["name"]) == ("completed", "success", "Greenloop")
    assert (found["external_id"], found["output"]["title"]) == ("s_1", "Green")


async def test_each_session_has_its_own_check_on_a_commit(repository: RepositoryHandle, sha: str) -> None:
    one = await put_check(repository, OwnCheck(sha, "s_1", "Working", "x"))
    two = await put_check(repository, OwnCheck(sha, "s_2", "Working", "x"))
    assert one != two
    assert await put_check(repository, OwnCheck(sha, "s_1", "Working", "y")) == one


async def test_our_own_check_is_not_among_the_checks(repository: RepositoryHandle, sha: str) -> None:
    await put_check(repository, OwnCheck(sha, "s_1", "Working", "x"))
    found = await snapshot(repository, sha, own_app_id=repository.app.app_id, base="trunk")
    assert (found.checks, found.open_suites) == ((), 0)


async def test_long_texts_are_cut(repository: RepositoryHandle, sha: str) -> None:
    wanted = OwnCheck(sha, "s_1", "t" * 500, "ü" * 70_000, text="x" * 70_000)
    found = await repository.get(f"check-runs/{await put_check(repository, wanted)}")
    assert len(found["output"]["summary"].encode()) <= 65_535
    assert len(found["output"]["title"]) <= 255


async def test_more_buttons_than_github_takes_are_refused(repository: RepositoryHandle, sha: str) -> None:
    with pytest.raises(ValueError, match="at most 3"):
        await put_check(repository, OwnCheck(sha, "s_1", "x", "x", buttons=[STOP] * 4))
    for label, description, identifier in (
        ("x" * 21, "d", "i"),
        ("l", "d" * 41, "i"),
        ("l", "d", "i" * 21),
        ("", "d", "i"),
    ):
        with pytest.raises(ValueError, match="characters"):
            Button(label, description, identifier)

from pathlib import Path

import pytest

from github.client.errors import NotVisibleYet, RefusedBranch, ServerFault
from github.client.repository import RepositoryHandle
from github.emulator.local import LocalGitHub
from github.publishing.pulls import mark_ready, open_or_find, update
from github.repositories import queries
from tests.github.conftest import Spot
from tests.github.gitside import Clone


@pytest.fixture
async def branch(spot: Spot, tmp_path: Path) -> str:
    clone = await Clone(spot, tmp_path / "c").start()
    await clone.commit({"new": "x\n"})
    await clone.push("greenloop/12-fix")
    return "greenloop/12-fix"


async def pulls(spot: Spot) -> int:
    return len(await spot.act("alice", "GET", "pulls?state=all"))


async def test_a_pull_request_is_opened_once_and_found_again(
    spot: Spot, repository: RepositoryHandle, branch: str
) -> None:
    first = await open_or_find(repository, branch=branch, base="trunk", title="Fix", body="Closes #12")
    again = await open_or_find(repository, branch=branch, base="trunk", title="Other", body="Other")
    assert (again.number, again.title) == (first.number, "Fix")
    assert (first.draft, first.head_ref, first.base_ref, first.author) == (True, branch, "trunk", "greenloop[bot]")
    assert await pulls(spot) == 1


async def test_an_answer_that_was_lost_makes_no_second_one(
    local: LocalGitHub, spot: Spot, repository: RepositoryHandle, branch: str
) -> None:
    await spot.act("alice", "POST", "pulls", title="By hand", head=branch, base="trunk")
    found = await open_or_find(repository, branch=branch, base="trunk", title="Fix", body="")
    assert found.title == "By hand"
    await update(repository, found.number, state="closed")
    local.add_fault("error", method="POST", path="*/pulls", status=502, times=1)
    with pytest.raises(ServerFault):
        await open_or_find(repository, branch=branch, base="trunk", title="Fix", body="")
    await open_or_find(repository, branch=branch, base="trunk", title="Fix", body="")
    assert await pulls(spot) == 2


async def test_titles_and_bodies_are_cut_to_what_github_takes(repository: RepositoryHandle, branch: str) -> None:
    title, body = "x" * 500 + "\ny", "z" * 70_000
    made = await open_or_find(repository, branch=branch, base="trunk", title=title, body=body)
    assert len(made.title) == 256
    changed = await update(repository, made.number, title="🙂" * 200, body="z")
    assert changed.title == "🙂" * 127 + "…"
    changed = await update(repository, made.number, title="New\ntitle", body="🙂" * 70_000)
    assert changed.title == "New title"
    assert "cut here" in changed.body


async def test_a_draft_is_made_ready_once(repository: RepositoryHandle, branch: str) -> None:
    made = await open_or_find(repository, branch=branch, base="trunk", title="Fix", body="")
    assert await mark_ready(repository, made.number)
    assert not await mark_ready(repository, made.number)
    assert await mark_ready(repository, made.number, made.node_id)  # as after an answer that was lost
    assert not (await queries.pull(repository, made.number)).draft


async def test_a_branch_into_itself_and_one_without_commits_are_refused(
    spot: Spot, repository: RepositoryHandle
) -> None:
    with pytest.raises(RefusedBranch):
        await open_or_find(repository, branch="trunk", base="trunk", title="x", body="")
    with pytest.raises(NotVisibleYet):
        await open_or_find(repository, branch="no-such-branch", base="trunk", title="x", body="")

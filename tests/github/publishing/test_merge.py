"""Somebody else's push during a turn, against the local GitHub: merged where it is clean, never overwritten."""

from pathlib import Path

import pytest

from github.client.errors import (
    NotVisibleYet,
)
from github.client.repository import RepositoryHandle
from github.publishing.merge import HistoryRewritten, MergeConflict
from github.publishing.publish import publish
from github.repositories.queries import head
from tests.github.conftest import Spot
from tests.github.gitside import Clone
from tests.github.publishing.conftest import BRANCH, MakeTurn


async def test_somebody_elses_push_meanwhile_is_merged_when_it_is_clean(
    spot: Spot, repository: RepositoryHandle, turn: MakeTurn, tmp_path: Path
) -> None:
    box = await turn()
    (box.clone.folder / "new").write_text("x\n")
    await publish(repository, await box.report(), box.content_of)
    later = await turn("t_2", start=f"origin/{BRANCH}")
    (later.clone.folder / "new").write_text("y\n")
    wanted = await later.report()
    other = await Clone(spot, tmp_path / "other").start()
    await other.git("checkout", "--quiet", f"origin/{BRANCH}")
    theirs = await other.commit({"theirs": "z\n"})
    await other.push(BRANCH)
    done = await publish(repository, wanted, later.content_of)
    assert done.merged
    merge = await repository.get(f"git/commits/{done.head}")
    assert {each["sha"] for each in merge["parents"]} == {theirs, done.commit}
    assert await head(repository, BRANCH) == done.head
    again = await publish(repository, wanted, later.content_of)
    assert (again.already, again.commit, again.head) == (True, done.commit, done.head)


async def test_a_conflicting_push_is_left_alone_and_told(
    spot: Spot, repository: RepositoryHandle, turn: MakeTurn, tmp_path: Path
) -> None:
    box = await turn()
    (box.clone.folder / "new").write_text("x\n")
    await publish(repository, await box.report(), box.content_of)
    later = await turn("t_2", start=f"origin/{BRANCH}")
    (later.clone.folder / "new").write_text("ours\n")
    wanted = await later.report()
    other = await Clone(spot, tmp_path / "other").start()
    await other.git("checkout", "--quiet", f"origin/{BRANCH}")
    theirs = await other.commit({"new": "theirs\n"})
    await other.push(BRANCH)
    with pytest.raises(MergeConflict) as caught:
        await publish(repository, wanted, later.content_of)
    assert caught.value.theirs == theirs
    assert (await repository.get(f"git/commits/{caught.value.ours}"))["tree"]["sha"] == wanted.tree
    assert await head(repository, BRANCH) == theirs


async def test_a_force_push_is_never_undone(
    spot: Spot, repository: RepositoryHandle, turn: MakeTurn, tmp_path: Path
) -> None:
    box = await turn()
    (box.clone.folder / "new").write_text("x\n")
    await publish(repository, await box.report(), box.content_of)
    later = await turn("t_2", start=f"origin/{BRANCH}")
    (later.clone.folder / "new").write_text("y\n")
    wanted = await later.report()
    other = await Clone(spot, tmp_path / "other").start()
    rewritten = await other.commit({"other": "z\n"})
    await other.push(BRANCH, "--force")
    with pytest.raises(HistoryRewritten, match="force-pushed"):
        await publish(repository, wanted, later.content_of)
    assert await head(repository, BRANCH) == rewritten


async def test_a_branch_that_stands_before_the_turns_beginning_is_left_alone_and_may_only_be_late(
    spot: Spot, repository: RepositoryHandle, turn: MakeTurn, tmp_path: Path
) -> None:
    box = await turn()
    start = await box.clone.git("rev-parse", "HEAD")
    (box.clone.folder / "new").write_text("x\n")
    await publish(repository, await box.report(), box.content_of)
    later = await turn("t_2", start=f"origin/{BRANCH}")
    (later.clone.folder / "new").write_text("y\n")
    wanted = await later.report()
    other = await Clone(spot, tmp_path / "other").start()
    await other.git("checkout", "--quiet", start)
    await other.push(BRANCH, "--force")
    with pytest.raises(NotVisibleYet, match="took commits back"):
        await publish(repository, wanted, later.content_of)
    assert await head(repository, BRANCH) == start

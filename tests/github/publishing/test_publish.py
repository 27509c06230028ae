"""Publishing against the local GitHub: what a box ends with is what the branch holds, and nobody's work is lost."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import httpx
import pytest

from github.client.errors import (
    AlreadyExists,
    NotFastForward,
    NotVisibleYet,
    RefusedBranch,
    RuleViolation,
    ServerFault,
    WorkflowsPermissionMissing,
)
from github.client.repository import RepositoryHandle
from github.emulator.local import LocalGitHub
from github.publishing.branches import create, delete, fast_forward
from github.publishing.commits import commit_message
from github.publishing.publish import VISIBLE_AFTER, Publication, publish
from github.publishing.trees import BadChange, FileChange, TreeMismatch
from github.repositories.queries import branch, head
from tests.github.conftest import Spot
from tests.github.publishing.conftest import BRANCH, MakeTurn
from tests.late import Late


async def test_a_commit_that_github_knows_late_is_pointed_to_in_a_later_try_and_not_made_anew(
    spot: Spot, repository: RepositoryHandle, turn: MakeTurn
) -> None:
    box = await turn()
    (box.clone.folder / "new.txt").write_text("x\n")
    wanted = await box.report()
    made: list[str] = []

    async def once(make: Callable[[], Awaitable[str]]) -> str:
        if not made:
            made.append(await make())
        return made[0]

    spot.local.hub.faults.lag("ref_update", calls=2 * (1 + len(VISIBLE_AFTER)))
    for _ in range(2):
        with pytest.raises(NotVisibleYet):
            await publish(repository, wanted, box.content_of, once)
    done = await publish(repository, wanted, box.content_of, once)
    assert (done.commit, await head(repository, BRANCH)) == (made[0], made[0])


async def test_every_kind_of_change_arrives_as_the_box_has_it(
    spot: Spot, repository: RepositoryHandle, turn: MakeTurn
) -> None:
    box = await turn()
    folder = box.clone.folder
    (folder / "src" / "main.py").write_text("print('bye')\r\n")
    (folder / "README.md").unlink()
    (folder / "docs").mkdir()
    (folder / "docs" / "LIESMICH – größer.md").write_text("Grüße\n")
    (folder / "picture.bin").write_bytes(bytes(range(256)))
    (folder / "latin.txt").write_bytes(b"caf\xe9\n")
    (folder / "empty").write_bytes(b"")
    (folder / "tool.sh").write_text("#!/bin/sh\n")
    (folder / "tool.sh").chmod(0o755)
    (folder / "run.sh").chmod(0o644)
    (folder / "link").unlink()
    (folder / "link").symlink_to("docs/LIESMICH – größer.md")
    (folder / "big.txt").write_text("line\n" * 30_000)
    wanted = await box.report()
    done = await publish(repository, wanted, box.content_of)
    assert (done.already, done.merged) == (False, False)
    found = await branch(repository, BRANCH)
    assert found is not None
    assert (found.sha, found.tree) == (done.commit, wanted.tree)
    commit = await repository.get(f"git/commits/{done.commit}")
    assert commit["verification"]["verified"] is True
    assert commit["author"]["name"] == "greenloop[bot]"
    assert [each["sha"] for each in commit["parents"]] == [wanted.parent]
    trailers = "Greenloop-Turn: t_1\nCo-authored-by: alice <10+alice@users.noreply.github.com>"
    assert commit["message"].rstrip().endswith(trailers)
    assert await head(repository, "trunk") == wanted.parent


async def test_a_file_and_a_folder_may_change_places(repository: RepositoryHandle, turn: MakeTurn) -> None:
    box = await turn()
    folder = box.clone.folder
    (folder / "src" / "main.py").unlink()
    (folder / "src").rmdir()
    (folder / "src").write_text("now a file\n")
    (folder / "README.md").unlink()
    (folder / "README.md").mkdir()
    (folder / "README.md" / "index").write_text("now a folder\n")
    wanted = await box.report()
    await publish(repository, wanted, box.content_of)
    found = await branch(repository, BRANCH)
    assert found is not None
    assert found.tree == wanted.tree


async def test_publishing_twice_is_publishing_once(spot: Spot, repository: RepositoryHandle, turn: MakeTurn) -> None:
    box = await turn()
    (box.clone.folder / "new").write_text("x\n")
    wanted = await box.report()
    first = await publish(repository, wanted, box.content_of)
    second = await publish(repository, wanted, box.content_of)
    assert second.already
    assert (second.commit, second.head) == (first.commit, first.head)


async def test_a_turn_goes_on_from_the_one_before(spot: Spot, repository: RepositoryHandle, turn: MakeTurn) -> None:
    box = await turn()
    (box.clone.folder / "new").write_text("x\n")
    first = await publish(repository, await box.report(), box.content_of)
    later = await turn("t_2", start=f"origin/{BRANCH}")
    (later.clone.folder / "new").write_text("y\n")
    second = await publish(repository, await later.report(), later.content_of)
    assert await head(repository, BRANCH) == second.commit
    assert (await repository.get(f"git/commits/{second.commit}"))["parents"][0]["sha"] == first.commit
    assert (await publish(repository, await box.report(), box.content_of)).commit == first.commit


async def test_a_hiccup_anywhere_leaves_one_commit(
    local: LocalGitHub, repository: RepositoryHandle, turn: MakeTurn
) -> None:
    box = await turn()
    (box.clone.folder / "new").write_text("x\n")
    wanted = await box.report()
    for path in ("*/git/trees", "*/git/commits", "*/git/refs"):
        local.add_fault("error", method="POST", path=path, status=502, times=1)
    done = await publish(repository, wanted, box.content_of)
    local.add_fault("error", method="POST", status=502, times=99)
    assert (await publish(repository, wanted, box.content_of)).already
    assert await head(repository, BRANCH) == done.commit


async def test_when_github_stays_away_nothing_is_half_done(
    local: LocalGitHub, repository: RepositoryHandle, turn: MakeTurn
) -> None:
    box = await turn()
    (box.clone.folder / "new").write_text("x\n")
    wanted = await box.report()
    local.add_fault("error", status=502, times=3, method="POST", path="*/git/refs")
    with pytest.raises(ServerFault):
        await publish(repository, wanted, box.content_of)
    assert await head(repository, BRANCH) is None
    done = await publish(repository, wanted, box.content_of)
    assert await head(repository, BRANCH) == done.commit


@pytest.mark.parametrize("path", ["/git/trees", "/git/refs"])
async def test_a_bare_refusal_of_workflow_files_is_understood(
    spot: Spot, repository: RepositoryHandle, turn: MakeTurn, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """GitHub's own words do not name the permission, and its header asks for what the App has."""
    box = await turn()
    (box.clone.folder / "new").write_text("x\n")

    def refused(_: httpx.Request) -> httpx.Response:
        headers = {"x-accepted-github-permissions": "contents=write"}
        return httpx.Response(403, json={"message": "Resource not accessible by integration"}, headers=headers)

    Late(monkeypatch).give("POST", path, 99, refused)
    with pytest.raises(WorkflowsPermissionMissing, match="workflows: write"):
        await publish(repository, await box.report(), box.content_of)


async def test_a_tree_that_github_does_not_make_is_said_and_not_tried_again(
    repository: RepositoryHandle, turn: MakeTurn, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = await turn()
    (box.clone.folder / "new").write_text("x\n")
    late = Late(monkeypatch)
    late.answer("POST", "/git/trees", 99, 422, "GitRPC::BadObjectState")
    with pytest.raises(BadChange, match="nothing was published"):
        await publish(repository, await box.report(), box.content_of)
    assert len(late.given) == 1


async def test_the_default_branch_and_what_is_no_branch_are_refused_in_code(repository: RepositoryHandle) -> None:
    sha = await head(repository, "trunk")
    assert sha is not None

    async def content_of(_sha: str) -> bytes:
        return b""

    for name in ("trunk", "Trunk", "a..b", "", "refs/heads/x", "HEAD", f"gh-readonly-queue/trunk/pr-1-{sha}"):
        message = commit_message("Fix", "", turn="t_1")
        with pytest.raises(RefusedBranch):
            await publish(
                repository, Publication("t_1", name, sha, "0" * 40, [FileChange("README.md")], message), content_of
            )
        for act in (create, fast_forward):
            with pytest.raises(RefusedBranch):
                await act(repository, name, "0" * 40)
        with pytest.raises(RefusedBranch):
            await delete(repository, name)
    assert await head(repository, "trunk") == sha


async def test_the_default_branch_is_whatever_github_says_now(
    spot: Spot, repository: RepositoryHandle, turn: MakeTurn
) -> None:
    box = await turn(on="develop")
    await box.clone.push("develop")
    (box.clone.folder / "new").write_text("x\n")
    wanted = await box.report()
    await spot.act(spot.owner, "PATCH", "", default_branch="develop")
    with pytest.raises(RefusedBranch, match="default branch"):
        await publish(repository, wanted, box.content_of)


async def test_a_protected_branch_is_refused(spot: Spot, repository: RepositoryHandle, turn: MakeTurn) -> None:
    box = await turn(on="release")
    await box.clone.push("release")
    spot.local.protect(spot.name, "release")
    (box.clone.folder / "new").write_text("x\n")
    with pytest.raises(RefusedBranch, match="protected"):
        await publish(repository, await box.report(), box.content_of)


async def test_a_ruleset_that_refuses_is_named(spot: Spot, repository: RepositoryHandle, turn: MakeTurn) -> None:
    spot.local.add_ruleset(spot.name, "no bots", ["refs/heads/greenloop/**"], [{"type": "creation"}])
    box = await turn()
    (box.clone.folder / "new").write_text("x\n")
    with pytest.raises(RuleViolation):
        await publish(repository, await box.report(), box.content_of)


async def test_a_workflow_change_without_the_permission_is_refused_before_anything_is_sent(
    spot: Spot, repository: RepositoryHandle, turn: MakeTurn
) -> None:
    box = await turn()
    (box.clone.folder / ".github" / "workflows").mkdir(parents=True)
    (box.clone.folder / ".github" / "workflows" / "ci.yml").write_text("on: push\n")
    with pytest.raises(WorkflowsPermissionMissing, match=r"ci\.yml"):
        await publish(repository, await box.report(), box.content_of)


async def test_a_branch_that_brings_back_workflow_files_of_others_without_the_permission_is_refused_in_words(
    spot: Spot, repository: RepositoryHandle, turn: MakeTurn
) -> None:
    """The turn changes none, but the commit that it started from is on no branch any more: GitHub refuses the ref."""
    box = await turn()
    await box.clone.commit({".github/workflows/theirs.yml": "on: push\n"})
    await box.clone.push("theirs")
    (box.clone.folder / "new").write_text("x\n")
    wanted = await box.report()
    await box.clone.git("push", "--quiet", "--delete", "origin", "theirs")
    with pytest.raises(WorkflowsPermissionMissing, match=r"this branch is the first to have.*workflows: write"):
        await publish(repository, wanted, box.content_of)
    assert await head(repository, BRANCH) is None


async def test_content_that_is_not_what_the_box_reported_is_not_published(
    repository: RepositoryHandle, turn: MakeTurn
) -> None:
    box = await turn()
    (box.clone.folder / "new").write_text("x\n")
    wanted = await box.report()

    async def tampered(sha: str) -> bytes:
        return b"something else\n"

    with pytest.raises(TreeMismatch, match="new"):
        await publish(repository, wanted, tampered)
    with pytest.raises(TreeMismatch):
        await publish(repository, replace(wanted, tree="0" * 40), box.content_of)
    assert await head(repository, BRANCH) is None


async def test_a_message_without_the_turns_trailer_is_refused(repository: RepositoryHandle, turn: MakeTurn) -> None:
    box = await turn()
    with pytest.raises(ValueError, match="trailer"):
        await publish(repository, await box.report(message="Fix"), box.content_of)


async def test_what_no_tree_may_hold_is_refused_before_anything_is_sent(
    repository: RepositoryHandle, turn: MakeTurn
) -> None:
    box = await turn()
    wanted = await box.report()
    bad = [
        FileChange(path, sha="a" * 40) for path in ("../x", "a/../b", "/x", "a//b", ".git/x", "a/.GIT/x", "", "a\0b")
    ]
    bad += [FileChange("caf\udce9", sha="a" * 40), FileChange("sub", "160000", "a" * 40)]
    for change in bad:
        with pytest.raises(BadChange):
            await publish(repository, replace(wanted, changes=[change]), box.content_of)


async def test_a_branch_that_blocks_ours_is_named(spot: Spot, repository: RepositoryHandle, turn: MakeTurn) -> None:
    box = await turn()
    await box.clone.push("greenloop")
    (box.clone.folder / "new").write_text("x\n")
    with pytest.raises(RefusedBranch, match="'greenloop' is in the way"):
        await publish(repository, await box.report(), box.content_of)


async def test_branches_are_made_and_moved_once(repository: RepositoryHandle, turn: MakeTurn) -> None:
    box = await turn()
    base = await box.clone.git("rev-parse", "HEAD")
    newer = await box.clone.commit({"a": "1\n"})
    await box.clone.push("newer")
    await create(repository, BRANCH, base)
    await create(repository, BRANCH, base)
    with pytest.raises(AlreadyExists):
        await create(repository, BRANCH, newer)
    await fast_forward(repository, BRANCH, newer)
    await fast_forward(repository, BRANCH, newer)
    with pytest.raises(NotFastForward):
        await fast_forward(repository, BRANCH, base)
    await delete(repository, BRANCH)
    await delete(repository, BRANCH)
    assert await head(repository, BRANCH) is None


async def test_a_commit_that_github_does_not_know_yet_is_tried_again_and_not_made_anew(
    spot: Spot, repository: RepositoryHandle, turn: MakeTurn
) -> None:
    spot.local.hub.faults.lag("ref_update", calls=3)
    box = await turn()
    (box.clone.folder / "new").write_text("x\n")
    done = await publish(repository, await box.report(), box.content_of)
    assert await head(repository, BRANCH) == done.commit
    later = await turn("t_2", start=f"origin/{BRANCH}")
    (later.clone.folder / "new").write_text("y\n")
    again = await publish(repository, await later.report(), later.content_of)
    assert await head(repository, BRANCH) == again.commit

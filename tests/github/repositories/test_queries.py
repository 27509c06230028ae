import asyncio
from pathlib import Path

import pytest

from github.client.errors import NotFound, UnreadableAnswer
from github.client.repository import RepositoryHandle
from github.emulator.local import LocalGitHub
from github.repositories import queries
from github.repositories.queries import (
    branch,
    compare,
    facts,
    file_at,
    head,
    pulls_of_branch,
    pulls_of_commit,
    settings,
)
from tests.github.conftest import Connect, Spot
from tests.github.gitside import Clone


async def test_the_facts_of_a_repository(spot: Spot, repository: RepositoryHandle) -> None:
    found = await facts(repository)
    assert (found.id, found.full_name, found.default_branch) == (spot.row.id, spot.name, "trunk")
    assert (found.archived, found.fork, found.private) == (False, False, True)
    assert found.owner_id == spot.local.user(spot.owner).id


async def test_a_head_is_that_of_exactly_this_branch(spot: Spot, repository: RepositoryHandle, tmp_path: Path) -> None:
    clone = await Clone(spot, tmp_path / "c").start()
    sha = await clone.git("rev-parse", "HEAD")
    names = ("topic/a", "topic/ab", "ümlaut", "with#hash", "100%", "a+b&c=d")
    await clone.git("push", "--quiet", "origin", *(f"HEAD:refs/heads/{name}" for name in names))
    for name in names:
        assert await head(repository, name) == sha
        found = await branch(repository, name)
        assert found is not None
        assert (found.name, found.sha, found.protected) == (name, sha, False)
    for name in ("topic", "topic/", "topic/abc", "Trunk"):
        assert await head(repository, name) is None
    assert await branch(repository, "topic/abc") is None


async def test_a_protected_branch_says_what_it_requires(spot: Spot, repository: RepositoryHandle) -> None:
    spot.local.protect(spot.name, "trunk", contexts=["test", "lint"], app_ids={"lint": 15368})
    found = await branch(repository, "trunk")
    assert found is not None
    assert found.protected
    assert found.required == (("lint", 15368), ("test", 0))


async def test_files_are_read_at_a_ref(spot: Spot, repository: RepositoryHandle, tmp_path: Path) -> None:
    clone = await Clone(spot, tmp_path / "c").start()
    sha = await clone.commit({"dir/ä b#c.txt": "Grüße\n", "empty": "", "binary": bytes(range(256))})
    await clone.push("topic")
    assert await file_at(repository, "dir/ä b#c.txt", sha) == "Grüße\n".encode()
    assert await file_at(repository, "empty", "topic") == b""
    assert await file_at(repository, "binary", "topic") == bytes(range(256))
    assert await file_at(repository, "empty", "trunk") is None
    with pytest.raises(UnreadableAnswer, match="is a directory"):
        await file_at(repository, "dir", sha)
    assert await file_at(repository, "README.md", "no-such-branch") is None


async def test_settings_come_from_the_default_branch_only(
    spot: Spot, repository: RepositoryHandle, tmp_path: Path
) -> None:
    clone = await Clone(spot, tmp_path / "c").start()
    await clone.commit({".github/greenloop.yml": "limits:\n  attempts: 9\n"})
    await clone.push("topic")
    assert (await settings(repository)).config.limits.attempts == 3
    await clone.push("trunk")
    assert (await settings(repository)).config.limits.attempts == 9
    await clone.commit({".github/greenloop.yml": "limts:\n"})
    await clone.push("trunk")
    assert (await settings(repository)).problems[0].line == 1


async def test_a_repository_without_commits_is_no_crash(local: LocalGitHub, connect: Connect) -> None:
    row = local.add_repository("bare/app")
    repository = RepositoryHandle(connect(), local.install("bare", ["app"]).id, row.id)
    known = await facts(repository)
    assert await head(repository, known.default_branch) is None
    assert await branch(repository, known.default_branch) is None
    assert (await settings(repository)).problems == ()


async def test_pull_requests_are_found_by_branch_and_by_commit(
    spot: Spot, repository: RepositoryHandle, tmp_path: Path
) -> None:
    clone = await Clone(spot, tmp_path / "c").start()
    sha = await clone.commit({"new": "x\n"})
    await clone.push("topic")
    made = await spot.act("alice", "POST", "pulls", title="T", head="topic", base="trunk", body="B")
    (by_branch,) = await pulls_of_branch(repository, "topic")
    (by_commit,) = await pulls_of_commit(repository, sha)
    one = await queries.pull(repository, made["number"])
    for found in (by_branch, by_commit, one):
        assert (found.number, found.head_sha, found.head_ref, found.base_ref) == (made["number"], sha, "topic", "trunk")
        assert (found.author, found.from_fork, found.draft, found.state) == ("alice", False, False, "open")
    assert await pulls_of_branch(repository, "other") == []
    assert await pulls_of_commit(repository, "0" * 40) == []
    await spot.act("alice", "PATCH", f"pulls/{made['number']}", state="closed")
    assert await pulls_of_branch(repository, "topic") == []
    assert len(await pulls_of_branch(repository, "topic", state="all")) == 1


async def test_whether_a_pull_request_conflicts_is_computed_soon(
    spot: Spot, repository: RepositoryHandle, tmp_path: Path
) -> None:
    clone = await Clone(spot, tmp_path / "c").start()
    await clone.commit({"README.md": "theirs\n"})
    await clone.push("topic")
    await clone.git("reset", "--quiet", "--hard", "origin/trunk")
    await clone.commit({"README.md": "ours\n"})
    await clone.push("trunk")
    made = await spot.act("alice", "POST", "pulls", title="T", head="topic", base="trunk")
    for _ in range(50):
        found = await queries.pull(repository, made["number"])
        if found.mergeable is not None:
            break
        await asyncio.sleep(0.05)
    assert (found.mergeable, found.mergeable_state) == (False, "dirty")


async def test_commits_are_compared(spot: Spot, repository: RepositoryHandle, tmp_path: Path) -> None:
    clone = await Clone(spot, tmp_path / "c").start()
    base = await clone.git("rev-parse", "HEAD")
    sha = await clone.commit({"new": "x\n"})
    await clone.push("topic/x")
    assert (await compare(repository, base, sha))["status"] == "ahead"
    assert (await compare(repository, "topic/x", "trunk"))["status"] == "behind"
    with pytest.raises(NotFound):
        await compare(repository, base, "0" * 40)

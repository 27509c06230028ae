"""Refs: which names GitHub takes, and moving them."""

import re
from dataclasses import dataclass

from github.emulator.git.repository import ZERO, GitError, GitRepository


@dataclass(frozen=True)
class Update:
    """A ref to move: ZERO as `old` creates, as `new` deletes."""

    old: str
    new: str
    ref: str


def valid(ref: str, git: GitRepository) -> bool:
    """Whether GitHub would create a ref of this full name."""
    if not ref.startswith("refs/") or ref.count("/") < 2:
        return False
    name = ref.split("/", 2)[2]
    if re.fullmatch(r"[0-9a-f]{40}", name) or name.startswith("refs/heads/"):
        return False
    return git.holds("check-ref-format", ref)


def all_refs(git: GitRepository, prefix: str = "refs/") -> dict[str, str]:
    """Full name to sha, in git's order, of every ref whose name starts with `prefix` (not only whole segments)."""
    listing = git.text("for-each-ref", "--format=%(refname) %(objectname)")
    pairs = (line.split(" ") for line in listing.splitlines())
    return {name: sha for name, sha in pairs if name.startswith(prefix)}


def branches(git: GitRepository) -> dict[str, str]:
    """Branch name to sha."""
    return {name.removeprefix("refs/heads/"): sha for name, sha in all_refs(git, "refs/heads/").items()}


def sha_of(git: GitRepository, ref: str) -> str | None:
    """What a full ref points at (a tag object stays a tag object), or None."""
    try:
        return git.text("rev-parse", "--verify", "--quiet", "--end-of-options", ref)
    except GitError:
        return None


def move(git: GitRepository, ref: str, new: str, old: str | None = None) -> None:
    """Point `ref` at `new`; with `old`, only if it is there now (ZERO: only if it is new)."""
    git.run("update-ref", ref, new, *([old] if old is not None else []))


def delete(git: GitRepository, ref: str) -> None:
    git.run("update-ref", "-d", ref)


def blocked_by(git: GitRepository, ref: str) -> bool:
    """Whether a branch `a` stands in the way of `a/b`, or the other way round."""
    names = all_refs(git)
    parents = {ref.rsplit("/", i)[0] for i in range(1, ref.count("/"))}
    return any(name in parents or name.startswith(f"{ref}/") for name in names)


__all__ = ["ZERO", "Update", "all_refs", "blocked_by", "branches", "delete", "move", "sha_of", "valid"]

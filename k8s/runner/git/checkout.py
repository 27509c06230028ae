"""Check one exact commit out for an agent, in a folder where nothing is yet. Runs in the box, as the agent's user.

The agent gets a `.git` of its own: branch, index, history as deep as was fetched. Objects come from the runner's store
by `alternates`, which can only be read here. Nothing that the agent does to any of it matters to the runner.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..protocol import SHA_PATTERN
from .command import Git, make_private

AGENT_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
[user]
\tname = Greenloop
\temail = agent@greenloop.invalid
"""
RAW = "* -text !eol -filter -ident !working-tree-encoding\n"
"""Attributes by which files are in the checkout as they are in the commit, byte for byte: so is what is read back."""

_BRANCH = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9_.+-]*(/[A-Za-z0-9_+][A-Za-z0-9_.+-]*)*")


class CheckoutFailed(Exception):
    """There is no clean checkout; `str()` says why in words."""


def check_out(workdir: Path, store: Path, about: dict[str, Any]) -> str:
    """Fill the empty `workdir` from the git directory `store`: a sentence about a merge that left conflicts, or "".

    `about` names the commit (`sha`), the `branch` that the agent sees, and a commit to `merge` ({ref, sha}) or None.
    Raises `CheckoutFailed`, `GitError`, OSError.
    """
    git_dir = workdir / ".git"
    make_private(git_dir, alternates=store / "objects", shallow=store / "shallow")
    (git_dir / "info").mkdir()
    (git_dir / "info/attributes").write_text(RAW)
    (git_dir / "HEAD").write_text(f"{about['sha']}\n")
    git = Git(git_dir, work_tree=workdir)
    git.run("reset", "--hard", "--quiet", about["sha"])
    said = _merge(git, about["merge"]) if about["merge"] else ""
    _dress(git_dir, about["sha"], about["branch"])
    return said


def _merge(git: Git, merge: dict[str, Any]) -> str:
    code, out, said = git.attempt(
        "-c", "user.name=Greenloop", "-c", "user.email=agent@greenloop.invalid",
        "merge", "--no-commit", "--no-ff", "--no-stat", "--no-verify", "--no-gpg-sign", merge["sha"],
    )  # fmt: skip
    if code == 0:
        return ""
    unmerged = git.run("ls-files", "--unmerged", "-z")
    if not unmerged:
        told = (said or out.decode("utf-8", "replace")).strip()
        raise CheckoutFailed(f"{merge['sha'][:12]} ({merge['ref']}) cannot be merged here: {told}")
    paths = {entry.partition(b"\t")[2] for entry in unmerged.split(b"\0") if entry}
    return f"Files with merge conflicts when the agent began: {len(paths)}."


def _dress(git_dir: Path, sha: str, branch: str) -> None:
    """Give the agent's `.git` a branch and an author."""
    (git_dir / "config").write_text(AGENT_CONFIG)
    if _BRANCH.fullmatch(branch) and ".." not in branch and not re.search(r"(\.lock|\.)(/|$)", branch):
        ref = git_dir / "refs" / "heads" / branch
        ref.parent.mkdir(parents=True, exist_ok=True)
        ref.write_text(f"{sha}\n")
        (git_dir / "HEAD").write_text(f"ref: refs/heads/{branch}\n")


def head(read: Callable[[str], str]) -> str | None:
    """The commit of the agent's HEAD; None where that cannot be told. `read` gives files of the checkout."""
    found = read(".git/HEAD").strip()
    if found.startswith("ref: "):
        ref = found[5:].strip()
        packed = (line for line in read(".git/packed-refs").splitlines() if line[40:].strip() == ref)
        loose = read(f".git/{ref}").strip() if ".." not in ref.split("/") else ""
        found = loose or next(packed, "")[:40]
    return found if SHA_PATTERN.fullmatch(found) else None

"""Bring the agent's checkout to one exact commit, from whatever an earlier turn, a crash or a person has left there.

The agent gets a `.git` of its own, made anew for each turn: branch, index, history as deep as was fetched. Nothing
that it does to it matters to us; objects come from our store by `alternates`. Tracked files are brought to the
commit, files that are neither tracked nor ignored are removed, nested repositories too. Ignored files stay:
dependencies and build caches make the next turn of the same branch quick, as in a developer's own checkout. A
checkout that resists is deleted and made from nothing.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from ..files import make_folders
from ..protocol import SHA_PATTERN, TurnRepository
from ..state import Home, remove_tree
from .command import Git, GitError, make_private
from .object_store import Store
from .pruning import record_of

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
_BRANCH = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9_.+-]*(/[A-Za-z0-9_+][A-Za-z0-9_.+-]*)*")


class CheckoutFailed(Exception):
    """There is no clean checkout; `str()` says why in words."""


class Checkout:
    """One checkout in a home."""

    def __init__(self, home: Home, workdir: Path, repository: TurnRepository, store: Store) -> None:
        self.workdir = workdir
        self._home = home
        self._repository = repository
        self._store = store
        # an index of our own, with the file times of our last checkout: what did not change is not written again
        key = hashlib.sha256(f"{repository.id}:{workdir}".encode()).hexdigest()[:32]
        self.index = home.root / "checkouts" / f"{key}.index"

    def prepare(self, tick: Callable[[], None]) -> str:
        """Make it so: a sentence about a merge that left conflicts, or "". Raises `CheckoutFailed`, `GitError`."""
        try:
            return self._prepare(tick)
        except (GitError, OSError) as error:
            if isinstance(error, GitError) and error.disk_full:
                raise
            self.forget()
        return self._prepare(tick)

    def forget(self) -> None:
        """Delete the checkout and what we know of it."""
        remove_tree(self.workdir)
        self.index.unlink(missing_ok=True)
        record_of(self.index).unlink(missing_ok=True)

    def _prepare(self, tick: Callable[[], None]) -> str:
        sha = self._repository.sha
        if not self.index.is_file() or self.workdir.is_symlink() or not self.workdir.is_dir():
            self.forget()
        make_folders(self._home.path, self.workdir)
        record_of(self.index).write_text(str(self.workdir.relative_to(self._home.path)))
        git_dir = self.workdir / ".git"
        remove_tree(git_dir)
        make_private(git_dir, alternates=self._store.objects, shallow=self._store.shallow)
        (git_dir / "HEAD").write_text(f"{sha}\n")
        if self.index.is_file():
            # with its time: git tells by it which entries it must look at again
            shutil.copy2(self.index, git_dir / "index")
            (git_dir / "index").chmod(0o600)
        git = Git(git_dir, work_tree=self.workdir, tick=tick)
        git.run("reset", "--hard", "--quiet", sha)
        # twice -f: nested repositories too
        git.run("clean", "-ffdq")
        shutil.copy2(git_dir / "index", self.index)
        said = self._merge(git)
        self._dress(git_dir, sha)
        return said

    def _merge(self, git: Git) -> str:
        merge = self._repository.merge
        if merge is None:
            return ""
        code, out, said = git.attempt(
            "-c", "user.name=Greenloop", "-c", "user.email=agent@greenloop.invalid",
            "merge", "--no-commit", "--no-ff", "--no-stat", "--no-verify", "--no-gpg-sign", merge.sha,
        )  # fmt: skip
        if code == 0:
            return ""
        unmerged = git.run("ls-files", "--unmerged", "-z")
        if not unmerged:
            told = (said or out.decode("utf-8", "replace")).strip()
            raise CheckoutFailed(f"{merge.sha[:12]} ({merge.ref}) cannot be merged here: {told}")
        paths = {entry.partition(b"\t")[2] for entry in unmerged.split(b"\0") if entry}
        return f"Files with merge conflicts when the agent began: {len(paths)}."

    def _dress(self, git_dir: Path, sha: str) -> None:
        """Give the agent's `.git` a branch and an author."""
        (git_dir / "config").write_text(AGENT_CONFIG)
        branch = self._repository.branch
        if _BRANCH.fullmatch(branch) and ".." not in branch and not re.search(r"(\.lock|\.)(/|$)", branch):
            ref = git_dir / "refs" / "heads" / branch
            ref.parent.mkdir(parents=True, exist_ok=True)
            ref.write_text(f"{sha}\n")
            (git_dir / "HEAD").write_text(f"ref: refs/heads/{branch}\n")


def agent_head(workdir: Path) -> str | None:
    """The commit that the agent's HEAD points at, read without running anything; None where that cannot be told."""
    git_dir = workdir / ".git"
    try:
        head = (git_dir / "HEAD").read_text().strip()
        if head.startswith("ref: "):
            ref = head[5:].strip()
            loose = git_dir / ref
            if loose.is_file():
                head = loose.read_text().strip()
            else:
                packed = (git_dir / "packed-refs").read_text().splitlines()
                head = next((line[:40] for line in packed if line[40:].strip() == ref), "")
    except (OSError, ValueError):
        return None
    return head if SHA_PATTERN.fullmatch(head) else None

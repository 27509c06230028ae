"""A turn in a box, as publishing is given it."""

import asyncio
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from github.publishing.commits import CoAuthor, commit_message
from github.publishing.publish import Publication
from github.publishing.trees import FileChange
from tests.github.conftest import Spot
from tests.github.gitside import Clone

BRANCH = "greenloop/12-fix"


class Turn:
    """A turn in a box: a clone in which an agent changed files, and what it reports."""

    def __init__(self, clone: Clone, name: str = "t_1", branch: str = BRANCH) -> None:
        self.clone, self.name, self.branch = clone, name, branch
        self.contents: dict[str, bytes] = {}

    async def report(self, message: str | None = None) -> Publication:
        """Stage everything and report it as the runner does: tree, and changes with modes and blobs."""
        git = self.clone.git
        parent = await git("rev-parse", "HEAD")
        await git("add", "--all", "--force")
        tree = await git("write-tree")
        changes = []
        raw = await git("diff-index", "--cached", "--raw", "--no-renames", "--no-abbrev", "-z", "HEAD")
        fields = raw.split("\0")
        for meta, path in zip(fields[::2], fields[1::2], strict=False):
            _old_mode, mode, _old, sha, status = meta.lstrip(":").split(" ")
            if status == "D":
                changes.append(FileChange(path))
                continue
            content = await asyncio.to_thread(self._blob, sha)
            self.contents[sha] = content
            changes.append(FileChange(path, mode, sha, len(content)))
        text = message or commit_message("Fix it", "Because.", turn=self.name, co_authors=[CoAuthor(10, "alice")])
        return Publication(self.name, self.branch, parent, tree, changes, text)

    def _blob(self, sha: str) -> bytes:
        return subprocess.run(
            ["git", "cat-file", "blob", sha], cwd=self.clone.folder, capture_output=True, check=True
        ).stdout

    async def content_of(self, sha: str) -> bytes:
        return self.contents[sha]


MakeTurn = Callable[..., Awaitable[Turn]]


@pytest.fixture
def turn(spot: Spot, tmp_path: Path) -> MakeTurn:
    """Makes turns, each in a clone of its own."""

    async def make(name: str = "t_1", on: str = BRANCH, start: str | None = None) -> Turn:
        clone = await Clone(spot, tmp_path / name).start()
        if start:
            await clone.git("checkout", "--quiet", start)
        return Turn(clone, name, on)

    return make

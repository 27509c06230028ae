"""Building a Git tree at GitHub out of changed files, and making sure that it is exactly the one the box has.

Small text goes into the tree request itself, everything else by way of a blob. Objects are named by their content, so
every request here may safely happen twice.
"""

import base64
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from github.client.errors import GitHubError, Invalid, NotVisibleYet
from github.client.repository import RepositoryHandle
from github.client.scopes import Scope

MAX_INLINE = 64 * 1024  # bytes of one file inside a tree request
MAX_REQUEST = 2 * 1024 * 1024  # bytes of file content in one tree request
MAX_ENTRIES = 400  # entries in one tree request
MODES = ("100644", "100755", "120000")

ContentOf = Callable[[str], Awaitable[bytes]]


class TreeMismatch(GitHubError):
    """GitHub's tree is not the box's, so nothing was published."""


class BadChange(TreeMismatch):
    """A change that no tree at GitHub can hold: a path that is none or not UTF-8, or something that is no file."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One changed file: `sha` is its blob's name, None for a deleted file. A rename is a deletion and an addition.

    `mode` is 100644, 100755 or 120000 (a symlink, whose content is its target).
    """

    path: str
    mode: str = "100644"
    sha: str | None = None
    size: int = 0


def blob_sha(content: bytes) -> str:
    """The name Git gives to a blob with this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


async def build_tree(
    repository: RepositoryHandle,
    base_tree: str,
    changes: Sequence[FileChange],
    content_of: ContentOf,
    *,
    expected: str | None = None,
) -> str:
    """The SHA of `base_tree` with `changes` applied. `content_of` gives the bytes of a blob by its SHA.

    Raises TreeMismatch if the result is not `expected`, BadChange for a change that no tree can hold.
    """
    for change in changes:
        _check(change)
    tree = await _apply(repository, base_tree, changes, content_of, inline=True)
    if expected and tree != expected:
        tree = await _apply(repository, base_tree, changes, content_of, inline=False)
    if expected and tree != expected:
        raise TreeMismatch(
            f"the box made the tree {expected}, GitHub made {tree} of the same {len(changes)} changes to {base_tree}: "
            "nothing was published; start the turn again"
        )
    return tree


async def files(repository: RepositoryHandle, commit: str) -> dict[str, tuple[str, str]] | None:
    """Every file of a commit: path -> (mode, SHA of its blob). None where GitHub does not list them all (100,000)."""
    told = await repository.get(f"git/trees/{commit}", params={"recursive": 1})
    if told.get("truncated"):
        return None
    return {
        str(each["path"]): (str(each["mode"]), str(each["sha"])) for each in told["tree"] if each.get("type") == "blob"
    }


def batches(changes: Iterable[FileChange]) -> list[list[FileChange]]:
    """The changes in the order and the portions in which a tree takes them.

    A file that becomes a folder, or the reverse, is deleted first; all else goes together, so that a rename of the only
    file never leaves an empty tree, which GitHub refuses.
    """
    every = list(changes)
    deleted = {change.path for change in every if change.sha is None}
    added = {change.path for change in every if change.sha is not None}
    clashing = {path for path in deleted if any(parent in added for parent in _parents(path))} | {
        parent for path in added for parent in _parents(path) if parent in deleted
    }
    first = [change for change in every if change.path in clashing]
    rest = [change for change in every if change.path not in clashing]
    portions: list[list[FileChange]] = []
    for group in (first, rest):
        size = 0
        for position, change in enumerate(group):
            weight = change.size if change.size <= MAX_INLINE else 0
            if position == 0 or len(portions[-1]) >= MAX_ENTRIES or size + weight > MAX_REQUEST:
                portions.append([])
                size = 0
            portions[-1].append(change)
            size += weight
    return portions


async def _apply(
    repository: RepositoryHandle, tree: str, changes: Sequence[FileChange], content_of: ContentOf, *, inline: bool
) -> str:
    for portion in batches(changes):
        entries = [await _entry(repository, change, content_of, inline=inline) for change in portion]
        tree = await _tree(repository, {"base_tree": tree, "tree": entries})
    return tree


async def _tree(repository: RepositoryHandle, wanted: dict[str, Any]) -> str:
    try:
        answer = await repository.request("POST", "git/trees", scope=Scope.PUBLISH, json=wanted)
    except NotVisibleYet:
        raise
    except Invalid as error:  # nothing is left in it, a file to delete is not there, one path is there twice
        raise BadChange(f"GitHub makes no such tree, so nothing was published: {error}") from error
    return str(answer.json()["sha"])


async def _entry(
    repository: RepositoryHandle, change: FileChange, content_of: ContentOf, *, inline: bool
) -> dict[str, Any]:
    entry: dict[str, Any] = {"path": change.path, "mode": change.mode, "type": "blob"}
    if change.sha is None:
        return {**entry, "sha": None}
    content = await content_of(change.sha)
    if blob_sha(content) != change.sha:
        raise TreeMismatch(f"{change.path}: the stored content is not the blob {change.sha}: start the turn again")
    text = _text(content) if inline and len(content) <= MAX_INLINE else None
    if text is not None:
        return {**entry, "content": text}
    return {**entry, "sha": await _blob(repository, change, content)}


async def _blob(repository: RepositoryHandle, change: FileChange, content: bytes) -> str:
    body = {"content": base64.b64encode(content).decode(), "encoding": "base64"}
    answer = await repository.request("POST", "git/blobs", scope=Scope.PUBLISH, json=body)
    sha = str(answer.json()["sha"])
    if sha != change.sha:
        raise TreeMismatch(f"{change.path}: GitHub stored the blob as {sha} instead of {change.sha}")
    return sha


def _text(content: bytes) -> str | None:
    """The content as text that JSON carries unchanged, or None."""
    if not content or b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _check(change: FileChange) -> None:
    parts = change.path.split("/")
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts) or "\0" in change.path:
        raise BadChange(f"{change.path!r} is no path that a Git tree may hold: nothing was published")
    if change.path.encode("utf-8", "replace").decode() != change.path:
        raise BadChange(f"the path {change.path!r} is not UTF-8, which GitHub's API needs: rename the file")
    if change.mode not in MODES:
        raise BadChange(
            f"{change.path!r} has mode {change.mode}: only files and symlinks can be published, no submodules and no "
            "repositories inside this one"
        )

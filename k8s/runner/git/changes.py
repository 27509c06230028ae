"""What a turn changed: the difference between its base commit and the files as they are now, whatever happened to git.

Computed with a git directory and an index of our own; the agent's commits, stashes and its `.git` make no difference.
The rules are those of `git add -A`: the `.gitignore` files of the working tree count, links are not followed, modes
are kept, and files under Git LFS are their pointers. Left out, and named: nested repositories (they would become
submodules) and what is inside submodules, files that cannot be read, are too large or that Git cannot hold, names that
are not UTF-8 or hold a newline, files under another filter, and by-products of tools.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .. import protocol
from ..protocol import Change, TurnLimits
from . import attributes, leftovers, lfs
from .command import Git
from .leftovers import shown

GITLINK = "160000"
DIFF_CUT = "\n[greenloop: the diff is cut here, at {limit} bytes]\n"


class TooMany(Exception):
    """More changed files than the turn may have; `str()` says it in words."""


class ChangesTooLarge(Exception):
    """Larger changes than the turn may have; `str()` says it in words."""


@dataclass(frozen=True)
class Report:
    """The final tree, what differs from the base, and what was left out."""

    tree: str
    changes: list[Change]
    diff: str
    left_out: list[str] = field(default_factory=list)


def find(
    git: Git,
    base: str,
    limits: TurnLimits,
    merged: str | None = None,
    edited: Callable[[], Iterable[str]] = tuple,
) -> Report:
    """Compare the working tree of `git` with commit `base`. Writes the new objects into its git directory.

    What stands in the tree of `merged` (a commit that was merged before the agent began) does not count towards the
    limits. `edited` tells the paths that the agent wrote by an edit tool, which are no by-products. Raises `TooMany`,
    `ChangesTooLarge`, `GitError`.
    """
    worktree = git.work_tree
    assert worktree is not None  # noqa: S101 - the caller's mistake, not data
    # files that were only touched do not count
    git.attempt("update-index", "-q", "--refresh")
    known = _records(git.run("diff-files", "-z", "--name-only", "--ignore-submodules=all"))
    fresh = _records(git.run("ls-files", "-z", "--others", "--exclude-standard"))
    links = [entry.partition(b"\t")[2] for entry in _records(git.run("ls-files", "-s", "-z")) if entry[:6] == b"160000"]
    gone = [path for path in links if not os.path.lexists(_whole(worktree, path))]
    others = _entries(git, merged) if merged else {}
    made = leftovers.by_products(git, (path for path in fresh if os.fsdecode(path) not in others))
    if made:
        meant = set(map(os.fsencode, edited()))
        made = {path: pattern for path, pattern in made.items() if path not in meant}
    fresh = [path for path in fresh if path not in made]
    if merged is None and len(known) + len(fresh) > 2 * limits.changed_files:
        # a rename is two paths and one change
        raise TooMany(_too_many(len(known) + len(fresh), limits))
    left_out = leftovers.in_words(made)
    left_out += [f"{shown(path)}/ (inside a submodule)" for path in links if _holds_files(_whole(worktree, path))]
    left_out += leftovers.special_files(git)
    usable = _usable(worktree, [*known, *fresh], left_out)
    if merged is None:
        usable = _small(worktree, usable, limits, left_out)
    judged = _judged(git, usable, others)
    left_out += [f"{shown(path)} ({why})" for path, why in judged.refused.items()]
    paths = [*gone, *(path for path in usable if path not in judged.refused)]
    if merged is None:
        _weigh(((os.fsdecode(path), _size(worktree, path)) for path in paths), limits)
    _stage(git, [path for path in paths if path not in judged.lfs])
    objects = lfs.stage(git, sorted(judged.lfs))
    tree = git.run("write-tree").decode().strip()
    changes = _changes(git, base, objects)
    ours = [change for change in changes if others.get(change.path) != (change.mode, change.sha)]
    if len(ours) > limits.changed_files:
        raise TooMany(_too_many(len(ours), limits))
    _weigh(((change.path, change.size) for change in ours), limits)
    return Report(tree, changes, _diff(git, base), left_out)


def blobs(git: Git, changes: Iterable[Change]) -> Iterator[tuple[str, bytes]]:
    """The contents that `changes` name, each once: (sha, bytes)."""
    wanted = sorted({sha for change in changes for sha in (change.sha, change.lfs) if sha})
    if not wanted:
        return
    with git.stream("cat-file", "--batch") as (ask, answer):
        for sha in wanted:
            ask.write(f"{sha}\n".encode())
            ask.flush()
            size = int(answer.readline().split()[2])
            content = answer.read(size)
            answer.read(1)
            yield sha, content


def _judged(git: Git, usable: list[bytes], others: Mapping[str, tuple[str, str | None]]) -> attributes.Judged:
    """What the attributes make of the files `usable`. What stands as in the commit that was merged goes in as there."""
    worktree = git.work_tree
    assert worktree is not None  # noqa: S101 - the caller's mistake, not data
    files = [path for path in usable if _present(worktree, path) and not _whole(worktree, path).is_symlink()]
    before = attributes.side(git, files)
    # without its own file in the working tree git reads the one in the index, which the turn may have deleted
    _stage(git, [path for path in usable if path.rpartition(b"/")[2] == attributes.RULES])
    judged = attributes.judge(before, attributes.side(git, files))
    for path in {*judged.lfs, *judged.refused} & {os.fsencode(name) for name in others}:
        there = os.fsdecode(path)
        if git.run("hash-object", "--", there).decode().strip() == others[there][1]:
            judged.lfs.discard(path)
            judged.refused.pop(path, None)
    return judged


def _stage(git: Git, paths: list[bytes]) -> None:
    """Put `paths` into the index as they are in the working tree, or take them out of it."""
    worktree = git.work_tree
    assert worktree is not None  # noqa: S101 - the caller's mistake, not data
    lost = [path for path in paths if not _present(worktree, path)]
    there = sorted(set(paths) - set(lost))
    for how, part in (("--force-remove", lost), ("--replace", there)):
        if part:
            git.run("update-index", "--add", how, "-z", "--stdin", stdin=b"".join(path + b"\0" for path in part))


def _records(listing: bytes) -> list[bytes]:
    return [record for record in listing.split(b"\0") if record]


def _whole(worktree: Path, path: bytes) -> Path:
    return worktree / os.fsdecode(path)


def _present(worktree: Path, path: bytes) -> bool:
    """Whether a file or link stands at `path`, not a directory, and not something behind a link."""
    whole = _whole(worktree, path)
    for folder in whole.parents:
        if folder == worktree:
            break
        if folder.is_symlink():
            return False
    try:
        return not stat.S_ISDIR(whole.lstat().st_mode)
    except OSError:
        return False


def _usable(worktree: Path, paths: list[bytes], left_out: list[str]) -> list[bytes]:
    usable = []
    for path in dict.fromkeys(paths):
        name = shown(path)
        whole = _whole(worktree, path)
        if path.endswith(b"/"):
            left_out.append(f"{name} (a repository of its own)")
        elif path.decode("utf-8", "replace").encode() != path:
            left_out.append(f"{name} (its name is not UTF-8)")
        elif b"\n" in path:
            left_out.append(f"{name} (its name holds a newline)")
        elif leftovers.special(whole):
            pass  # named with those that git does not list
        elif os.path.lexists(whole) and not whole.is_symlink() and not os.access(whole, os.R_OK):
            left_out.append(f"{name} (it cannot be read)")
        else:
            usable.append(path)
    return usable


def _small(worktree: Path, paths: list[bytes], limits: TurnLimits, left_out: list[str]) -> list[bytes]:
    """The paths without those of files that are larger than one may be."""
    sizes = {path: _size(worktree, path) for path in paths}
    left_out += [
        f"{shown(path)} (it has {size} bytes; the limit for one file is {limits.file_bytes})"
        for path, size in sizes.items()
        if size > limits.file_bytes
    ]
    return [path for path, size in sizes.items() if size <= limits.file_bytes]


def _holds_files(folder: Path) -> bool:
    return folder.is_dir() and not folder.is_symlink() and any(each.name != ".git" for each in list(folder.iterdir()))


def _size(worktree: Path, path: bytes) -> int:
    try:
        about = _whole(worktree, path).lstat()
    except OSError:
        return 0
    return 0 if stat.S_ISDIR(about.st_mode) else about.st_size


def _too_many(count: int, limits: TurnLimits) -> str:
    return f"{count} files changed; the limit is {limits.changed_files}"


def _weigh(sizes: Iterable[tuple[str, int]], limits: TurnLimits) -> None:
    total = 0
    for path, size in sizes:
        if size > limits.file_bytes:
            raise ChangesTooLarge(f"{path} has {size} bytes; the limit for one file is {limits.file_bytes}")
        total += size
    if total > limits.changed_bytes:
        raise ChangesTooLarge(f"the changed files have {total} bytes together; the limit is {limits.changed_bytes}")


def _changes(git: Git, base: str, objects: Mapping[str, str]) -> list[Change]:
    raw = iter(_records(git.run("diff-index", "--cached", "--raw", "-z", "-M", "--abbrev=40", base)))
    found: list[tuple[str, str | None, str | None, str]] = []
    for head in raw:
        _, mode, _, sha, status = head.decode().lstrip(":").split()
        path = next(raw).decode("utf-8", "surrogateescape")
        old = None
        if status[0] in "RC":
            old, path = path, next(raw).decode("utf-8", "surrogateescape")
        if status[0] == "D":
            mode_before = head.decode().lstrip(":").split()[0]
            found.append((path, None, None, mode_before))
        else:
            found.append((path, sha, old, mode))
    sizes = _sizes(git, [objects.get(sha, sha) for _, sha, _, mode in found if sha and mode != GITLINK])
    binary = _binary(git, base)
    return [
        Change(
            path,
            mode,
            sha,
            sizes.get(objects.get(sha or "", sha or ""), 0),
            old,
            path in binary,
            objects.get(sha or ""),
        )
        for path, sha, old, mode in found
        if mode != GITLINK or sha is None
    ]


def _sizes(git: Git, shas: list[str]) -> dict[str, int]:
    feed = "".join(f"{sha}\n" for sha in dict.fromkeys(shas)).encode()
    lines = git.run("cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=feed).decode().splitlines()
    return {sha: int(size) for sha, size in (line.split() for line in lines)}


def _binary(git: Git, base: str) -> set[str]:
    """The paths that git takes for binary."""
    found = set()
    numbers = iter(git.run("diff-index", "--cached", "--numstat", "-z", "-M", base).split(b"\0"))
    for record in numbers:
        added, _, rest = record.partition(b"\t")
        path = rest.partition(b"\t")[2]
        if record and not path:
            # a rename: the two paths follow
            next(numbers)
            path = next(numbers)
        if added == b"-":
            found.add(path.decode("utf-8", "surrogateescape"))
    return found


def _entries(git: Git, commit: str) -> dict[str, tuple[str, str | None]]:
    found: dict[str, tuple[str, str | None]] = {}
    for record in _records(git.run("ls-tree", "-r", "-z", commit)):
        about, _, path = record.partition(b"\t")
        mode, _, sha = about.decode().split()
        found[path.decode("utf-8", "surrogateescape")] = (mode, sha)
    return found


def _diff(git: Git, base: str, limit: int = protocol.DIFF_BYTES) -> str:
    with git.stream("diff-index", "--cached", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color", base) as (
        _,
        out,
    ):
        data = out.read(limit + 1)
    if len(data) <= limit:
        return data.decode("utf-8", "replace")
    said = DIFF_CUT.format(limit=limit)
    # whole lines only, and no half character
    kept = data[: limit - len(said)].rpartition(b"\n")[0]
    return kept.decode("utf-8", "replace") + said

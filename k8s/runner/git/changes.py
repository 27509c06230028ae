"""What a turn changed: the difference between its base commit and the files as they are now, whatever happened to git.

Computed from a walk of our own (`work_tree`), with a git directory and an index of ours: the agent's commits and
its `.git` make no difference. The rules are those of `git add -A`: the `.gitignore` files of the working tree count,
links are not followed, modes are kept, files under Git LFS are their pointers, and text ends its lines as attributes
say. Left out, and named: nested repositories (they would become submodules) and what is inside submodules, files
that cannot be read, are too large or that Git cannot hold, names that are not UTF-8 or hold a newline, files under
another filter, and by-products of tools.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from .. import protocol
from ..protocol import Change, TurnLimits
from . import attributes, ignoring, leftovers, lfs
from .command import Git
from .leftovers import shown
from .work_tree import GITLINK, LINK, MOST, RULES_BYTES, Entry, Seen, Tree, WorkTree, blob_sha

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
    work_tree: WorkTree,
    base: str,
    limits: TurnLimits,
    merged: str | None = None,
    edited: Callable[[], Iterable[str]] = tuple,
    hidden: frozenset[bytes] = frozenset(),
    most: int = MOST,
) -> Report:
    """Compare the checkout `work_tree` with commit `base`. Writes the new objects into the git directory of `git`, and
    lays the rules of what is ignored out in its work tree, which is a scratch folder.

    What stands in the tree of `merged` (a commit that was merged before the agent began) does not count towards the
    limits. `edited` tells the paths that the agent wrote by an edit tool, which are no by-products. The paths `hidden`
    are ours, which go with the turn: one that the base has is deleted. At most so many files and folders are looked at
    as `most`. Raises `TooMany`, `ChangesTooLarge`, `GitError`, OSError.
    """
    assert git.work_tree is not None  # noqa: S101 - the caller's mistake, not data
    git.work_tree.mkdir(exist_ok=True)
    git.run("read-tree", base)
    before = _entries(git, base)
    others = _entries(git, merged) if merged else {}
    seen = work_tree.look(before, most)
    ignoring.lay_out(git.work_tree, seen.rules)
    for path in hidden:
        seen.entries.pop(path, None)
    known, fresh = _differing(seen, before)
    unwanted = ignoring.ignored(git, [*fresh, *(path for path in seen.odd if path not in before)])
    fresh = [path for path in fresh if path not in unwanted]
    made = leftovers.by_products(git, (path for path in fresh if path not in others))
    if made:
        meant = set(map(os.fsencode, edited()))
        made = {path: pattern for path, pattern in made.items() if path not in meant}
    fresh = [path for path in fresh if path not in made]
    gone = [path for path in known if path not in seen.entries]
    # a rename is two paths and one change: there are at least that many
    count = len(known) - len(gone) + max(len(gone), len(fresh))
    if merged is None and count > limits.changed_files:
        raise TooMany(_too_many(count, limits))
    left_out = leftovers.in_words(made)
    left_out += [f"{shown(path)}/ (inside a submodule)" for path in sorted(seen.submodules)]
    left_out += [f"{shown(path)} ({why})" for path, why in seen.odd.items() if path not in unwanted]
    left_out += _rules_not_obeyed(seen)
    paths = _usable([*known, *fresh], left_out)
    there = _read(work_tree, seen, paths, limits if merged is None else None, left_out)
    judged = _judged(git, there, gone, others)
    for path, content in attributes.with_line_ends(git, _contents(there, judged.lfs), before).items():
        there[path] = (there[path][0], content)
    left_out += [f"{shown(path)} ({why})" for path, why in judged.refused.items()]
    for path in judged.refused:
        del there[path]
    if merged is None:
        _weigh(((os.fsdecode(path), len(content)) for path, (_, content) in there.items()), limits)
    _stage(git, {path: found for path, found in there.items() if path not in judged.lfs}, gone)
    objects = lfs.stage(git, {path: there[path] for path in sorted(judged.lfs)})
    tree = git.run("write-tree").decode().strip()
    changes = _changes(git, base, objects)
    ours = [change for change in changes if others.get(os.fsencode(change.path)) != (change.mode, change.sha)]
    if len(ours) > limits.changed_files:
        raise TooMany(_too_many(len(ours), limits))
    _weigh(((change.path, change.size) for change in ours), limits)
    return Report(tree, changes, _diff(git, base), left_out)


def _differing(seen: Seen, before: Tree) -> tuple[list[bytes], list[bytes]]:
    """The paths of the base that are changed or gone, and those that are new."""
    known = []
    for path, (mode, sha) in before.items():
        entry = seen.entries.get(path)
        gone = entry is None and not seen.is_hidden(path)
        if gone or (entry is not None and (entry.mode, entry.sha) != (mode, sha)):
            known.append(path)
    return known, [path for path in seen.entries if path not in before]


def _rules_not_obeyed(seen: Seen) -> list[str]:
    large = [path for path, content in seen.rules.items() if len(content) > RULES_BYTES]
    return [f"{shown(path)} (its rules are not obeyed: it has over {RULES_BYTES} bytes)" for path in large]


def _read(
    work_tree: WorkTree, seen: Seen, paths: Iterable[bytes], limits: TurnLimits | None, left_out: list[str]
) -> dict[bytes, tuple[str, bytes]]:
    """Mode and content of the `paths` that are there; what is larger than one file may be is left out."""
    found = {}
    for path in paths:
        entry: Entry | None = seen.entries.get(path)
        if entry is None or entry.mode == GITLINK:
            continue
        if limits is not None and entry.size > limits.file_bytes:
            left_out.append(f"{shown(path)} (it has {entry.size} bytes; the limit for one file is {limits.file_bytes})")
            continue
        content = work_tree.content(path, entry)
        if content is None:
            left_out.append(f"{shown(path)} (it cannot be read)")
        else:
            found[path] = (entry.mode, content)
    return found


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


def _contents(there: Mapping[bytes, tuple[str, bytes]], lfs_paths: Container[bytes]) -> dict[bytes, bytes]:
    return {path: content for path, (mode, content) in there.items() if mode != LINK and path not in lfs_paths}


def _judged(git: Git, there: Mapping[bytes, tuple[str, bytes]], gone: list[bytes], others: Tree) -> attributes.Judged:
    """What the attributes make of the files `there`. What stands as in the commit that was merged goes in as there."""
    files = [path for path, (mode, _) in there.items() if mode != LINK]
    before = attributes.side(git, files)
    # git reads attributes from the index here: those of the base until now
    rules = [path for path in [*there, *gone] if path.rpartition(b"/")[2] == attributes.RULES]
    _stage(git, {path: there[path] for path in rules if path in there}, [path for path in rules if path in gone])
    judged = attributes.judge(before, attributes.side(git, files))
    for path in {*judged.lfs, *judged.refused} & set(others):
        if blob_sha(there[path][1]) == others[path][1]:
            judged.lfs.discard(path)
            judged.refused.pop(path, None)
    return judged


def _stage(git: Git, there: Mapping[bytes, tuple[str, bytes]], gone: Iterable[bytes]) -> None:
    """Put files and links into the index, and take `gone` out of it."""
    named = {path: (mode, blob_sha(content)) for path, (mode, content) in there.items()}
    contents = {named[path][1]: content for path, (_, content) in there.items()}
    if contents:
        feed = b"".join(b"blob\ndata %d\n%s\n" % (len(content), content) for content in contents.values())
        git.run("fast-import", "--quiet", stdin=feed)
    lines = [b"0 %s\t%s\0" % (b"0" * 40, path) for path in gone]
    lines += [b"%s %s\t%s\0" % (mode.encode(), sha.encode(), path) for path, (mode, sha) in sorted(named.items())]
    if lines:
        git.run("update-index", "--add", "--replace", "-z", "--index-info", stdin=b"".join(lines))


def _records(listing: bytes) -> list[bytes]:
    return [record for record in listing.split(b"\0") if record]


def _usable(paths: Iterable[bytes], left_out: list[str]) -> list[bytes]:
    usable = []
    for path in paths:
        if path.decode("utf-8", "replace").encode() != path:
            left_out.append(f"{shown(path)} (its name is not UTF-8)")
        elif b"\n" in path:
            left_out.append(f"{shown(path)} (its name holds a newline)")
        elif b".git" in path.lower().split(b"/"):
            left_out.append(f"{shown(path)} (git takes no such name)")
        else:
            usable.append(path)
    return usable


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


def _entries(git: Git, commit: str) -> dict[bytes, tuple[str, str]]:
    found = {}
    for record in _records(git.run("ls-tree", "-r", "-z", commit)):
        about, _, path = record.partition(b"\t")
        mode, _, sha = about.decode().split()
        found[path] = (mode, sha)
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

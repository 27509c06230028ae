"""Read what an agent left, without being led astray: component by component, no link followed, nothing waited for.

An agent may put a link or a FIFO wherever the runner looks, and a link of its own leads where only the runner may read.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
DEEPEST = 200
"""Folders in one another that are looked into."""


def open_folder(root: Path, path: str | bytes) -> int:
    """A descriptor of the folder `path` below `root`, which is ours. Raises OSError where a link is on the way."""
    here = os.open(root, FOLDER)
    for part in os.fsencode(path).split(b"/"):
        if part in (b"", b"."):
            continue
        try:
            below = os.open(part, FOLDER, dir_fd=here)
        finally:
            os.close(here)
        here = below
    return here


def read_at(folder: int, name: str | bytes, limit: int) -> bytes | None:
    """The first `limit` + 1 bytes of the regular file `name` in `folder`; None for what is none. Raises OSError."""
    descriptor = os.open(name, FILE, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as handle:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return handle.read(limit + 1)


def read(root: Path, path: str, limit: int) -> bytes | None:
    """The file `path` below `root`, at most `limit` + 1 bytes of it; None where no such file can be read."""
    place, _, name = path.rpartition("/")
    try:
        folder = open_folder(root, place)
    except OSError:
        return None
    try:
        return read_at(folder, name, limit)
    except OSError:
        return None
    finally:
        os.close(folder)


def matching(root: Path, patterns: Sequence[str]) -> Iterator[str]:
    """The paths of regular files below `root` that one of the patterns names; `*` stands for part of one name, and a
    last `**` for everything below a folder."""
    for pattern in patterns:
        with contextlib.suppress(OSError):
            yield from _matching(open_folder(root, ""), "", pattern.split("/"))


def _matching(folder: int, path: str, parts: Sequence[str]) -> Iterator[str]:
    """Those in `folder`, which is closed."""
    first, rest = parts[0], parts[1:]
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if first != "**" and not fnmatch.fnmatchcase(entry.name, first):
                    continue
                whole = f"{path}{entry.name}"
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_folder and whole.count("/") < DEEPEST and (rest or first == "**"):
                    with contextlib.suppress(OSError):
                        below = os.open(entry.name, FOLDER, dir_fd=folder)
                        yield from _matching(below, f"{whole}/", parts if first == "**" else rest)
                elif not rest and not is_folder and entry.is_file(follow_symlinks=False):
                    yield whole
    finally:
        os.close(folder)

"""An agent's checkout as the runner reads it: never by git, which an agent's files could hang, mislead or have run
programs, but by a walk of its own that follows no link and waits for nothing."""

from __future__ import annotations

import hashlib
import itertools
import os
import stat
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .. import agent_files

LINK = "120000"
GITLINK = "160000"
KINDS = {stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket", stat.S_IFBLK: "a device", stat.S_IFCHR: "a device"}
RULES = b".gitignore"
RULES_BYTES = 1_000_000
MOST = 5_000_000
"""Entries of a checkout that are looked at, where nobody wants fewer."""

_PIECE = 1024 * 1024

Tree = Mapping[bytes, tuple[str, str]]
"""The files of a commit: path -> (mode, sha)."""


class TooManyEntries(OSError):
    """The checkout has more entries than are looked at."""


@dataclass(frozen=True)
class Entry:
    """A file or link. `sha` is that of its blob, where it was asked for."""

    mode: str
    size: int
    sha: str | None = None


@dataclass
class Seen:
    """What stands in a checkout. All paths are below it; `odd` are those that cannot be published, and why."""

    entries: dict[bytes, Entry] = field(default_factory=dict)
    odd: dict[bytes, str] = field(default_factory=dict)
    closed: list[bytes] = field(default_factory=list)
    """Folders that nobody could look into."""
    rules: dict[bytes, bytes] = field(default_factory=dict)
    """The contents of `.gitignore` files."""
    submodules: set[bytes] = field(default_factory=set)
    """Those in which there are files."""

    def is_hidden(self, path: bytes) -> bool:
        """Whether something may well stand at `path` that could not be seen."""
        return path in self.odd or any(path.startswith(folder + b"/") for folder in self.closed)


class WorkTree:
    """The checkout at `path` below `root`; nobody but the runner can put another folder in place of `root`."""

    def __init__(self, root: Path, path: str) -> None:
        self._root = root
        self._path = os.fsencode(path)

    def look(self, base: Tree, most: int = MOST) -> Seen:
        """Look at all of it, with the blobs of the paths in `base`. A checkout that is gone is empty.

        Raises `TooManyEntries` for more than `most`.
        """
        folders = {folder for path in base for folder in _folders(path)}
        walk = _Walk(base, folders, most)
        try:
            top = agent_files.open_folder(self._root, self._path)
        except OSError:
            return walk.seen
        walk.folder(top, b"", within=False)
        return walk.seen

    def content(self, path: bytes, entry: Entry) -> bytes | None:
        """What stands at `path`, the target of a link; None where that cannot be read or is another size by now."""
        place, _, name = path.rpartition(b"/")
        try:
            folder = agent_files.open_folder(self._root, self._path + b"/" + place)
        except OSError:
            return None
        try:
            if entry.mode == LINK:
                return os.readlink(name, dir_fd=folder)
            found = agent_files.read_at(folder, name, entry.size)
        except OSError:
            return None
        finally:
            os.close(folder)
        return found if found is not None and len(found) == entry.size else None

    def small_file(self, path: str) -> str:
        """A file of the agent's `.git`, as text; "" where there is none."""
        found = agent_files.read(self._root, os.fsdecode(self._path) + "/" + path, RULES_BYTES)
        return (found or b"").decode("utf-8", "replace")


def blob_sha(content: bytes) -> str:
    """The name that Git gives a blob."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _folders(path: bytes) -> list[bytes]:
    parts = path.split(b"/")[:-1]
    return [b"/".join(parts[:count]) for count in range(1, len(parts) + 1)]


class _Walk:
    def __init__(self, base: Tree, folders: Container[bytes], most: int) -> None:
        self.seen = Seen()
        self._base = base
        self._folders = folders
        self._most = most
        self._count = 0

    def folder(self, descriptor: int, path: bytes, *, within: bool, depth: int = 0) -> None:
        """Look at the folder behind `descriptor`, which is closed. `within` a repository of its own only what the base
        has counts."""
        try:
            with os.scandir(descriptor) as entries:
                few = itertools.islice(entries, self._most - self._count + 1)
                found = sorted(few, key=lambda entry: entry.name)
            self._count += len(found)
            if self._count > self._most:
                raise TooManyEntries(f"the checkout has more than {self._most} files and folders")
            if path and any(entry.name == ".git" for entry in found):
                within = True
                self.seen.odd[path + b"/"] = "a repository of its own"
            for entry in found:
                if entry.name != ".git":
                    self._entry(descriptor, entry, path, within=within, depth=depth)
        except TooManyEntries:
            raise
        except OSError:
            self._closed(path, "it cannot be read")
        finally:
            os.close(descriptor)

    def _closed(self, path: bytes, why: str) -> None:
        self.seen.odd[path + b"/"] = why
        self.seen.closed.append(path)

    def _entry(self, folder: int, entry: os.DirEntry[str], path: bytes, *, within: bool, depth: int) -> None:
        name = os.fsencode(entry.name)
        whole = path + b"/" + name if path else name
        try:
            about = entry.stat(follow_symlinks=False)
        except OSError:
            self.seen.odd[whole] = "it cannot be read"
            return
        kind = stat.S_IFMT(about.st_mode)
        if kind == stat.S_IFDIR:
            self._below(folder, name, whole, within=within, depth=depth)
        elif within and whole not in self._base:
            pass
        elif kind in KINDS:
            self.seen.odd[whole] = KINDS[kind]
        else:
            self._file(folder, name, whole, about)

    def _below(self, folder: int, name: bytes, path: bytes, *, within: bool, depth: int) -> None:
        if within and path not in self._folders:
            return
        if depth >= agent_files.DEEPEST:
            self._closed(path, f"more than {agent_files.DEEPEST} folders in one another")
            return
        try:
            below = os.open(name, agent_files.FOLDER, dir_fd=folder)
        except OSError:
            self._closed(path, "it cannot be read")
            return
        if self._base.get(path, ("", ""))[0] == GITLINK:
            with os.scandir(below) as entries:
                if any(entry.name != ".git" for entry in entries):
                    self.seen.submodules.add(path)
            os.close(below)
            self.seen.entries[path] = Entry(GITLINK, 0, self._base[path][1])
        else:
            self.folder(below, path, within=within, depth=depth + 1)

    def _file(self, folder: int, name: bytes, path: bytes, about: os.stat_result) -> None:
        if stat.S_ISLNK(about.st_mode):
            target = os.readlink(name, dir_fd=folder)
            self.seen.entries[path] = Entry(LINK, len(target), blob_sha(target))
            return
        mode = "100755" if about.st_mode & 0o100 else "100644"
        sha = None
        try:
            if path in self._base:
                sha = _digest(folder, name, about.st_size)
            if name == RULES:
                self.seen.rules[path] = agent_files.read_at(folder, name, RULES_BYTES) or b""
        except OSError:
            self.seen.odd[path] = "it cannot be read"
            return
        self.seen.entries[path] = Entry(mode, about.st_size, sha)


def _digest(folder: int, name: bytes, size: int) -> str:
    descriptor = os.open(name, agent_files.FILE, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as handle:
        digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        while piece := handle.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()

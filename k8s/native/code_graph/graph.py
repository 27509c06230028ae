"""Where names are defined and used, and which file needs which: by syntax and by name, without a server."""

import re
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from k8s.native.code_graph import reader
from k8s.native.code_graph.languages import BY_ENDING, Tag
from k8s.native.workspaces.workspace import WorkspaceError

Operation = Literal["search", "file_symbols", "dependents", "imports"]
LARGEST_SOURCE = 1_000_000
MOST_FILES = 20_000
SECONDS = 30.0
_WORDS = re.compile(r"[\w$]+")


@dataclass(frozen=True)
class _Known:
    stamp: tuple[int, int]
    tags: tuple[Tag, ...]


class CodeGraph:
    """Reads the sources of a directory when it is first asked, and afterwards only those that have changed."""

    def __init__(
        self,
        root: Path,
        paths: Callable[[], Iterable[str]],
        *,
        seconds: float = SECONDS,
        file_seconds: float = reader.SECONDS,
    ) -> None:
        """Reads for `seconds` at most when it is asked, and what is left the next time; a file that takes longer than
        `file_seconds` not at all.
        """
        self._root = root
        self._paths = paths
        self._seconds = seconds
        self._reader = reader.Reader(root, seconds=file_seconds)
        self._known: dict[str, _Known] = {}
        self._lock = threading.Lock()

    def ask(self, operation: Operation, subject: str) -> list[str]:
        """One line each, `path:line: …`.

        `search`: definitions whose name holds `subject`; `file_symbols`: the definitions of a file; `dependents`: who
        imports a file, or uses a name; `imports`: what a file imports.
        """
        with self._lock:
            unread = self._refresh()
        found = self._answer(operation, subject)
        return [*found, f"… {unread} files are not read yet: ask again."] if unread else found

    def close(self) -> None:
        """End the process that reads."""
        with self._lock:
            self._reader.close()

    def _answer(self, operation: Operation, subject: str) -> list[str]:
        subject = subject.removeprefix("./")
        match operation:
            case "search":
                return self._search(subject)
            case "file_symbols":
                tags = self._of(subject)
                return [_line(subject, tag) for tag in tags if tag.kind.startswith("definition.")]
            case "imports":
                return [_line(subject, tag) for tag in self._of(subject) if tag.kind == "import"]
            case "dependents":
                return self._importers(subject) if subject in self._known else self._users(subject)

    def _refresh(self) -> int:
        """Read what has changed, for so long: how many files are left for the next time."""
        seen: set[str] = set()
        unread, until = 0, time.monotonic() + self._seconds
        for path in self._paths():
            if PurePosixPath(path).suffix not in BY_ENDING or len(seen) >= MOST_FILES:
                continue
            try:
                # of the name itself: a link may lead out of the directory
                told = (self._root / path).lstat()
                stamp = (told.st_mtime_ns, told.st_size)
                if told.st_size > LARGEST_SOURCE or not stat.S_ISREG(told.st_mode):
                    continue
                if path not in self._known or self._known[path].stamp != stamp:
                    if time.monotonic() > until:
                        unread += 1
                        continue
                    self._known[path] = _Known(stamp, self._reader.tags(path))
            except OSError:
                continue
            seen.add(path)
        for path in self._known.keys() - seen:
            del self._known[path]
        return unread

    def _of(self, path: str) -> tuple[Tag, ...]:
        known = self._known.get(path)
        if known is None:
            endings = " ".join(BY_ENDING)
            raise WorkspaceError(f"{path} is no source file that the code graph knows (it reads {endings}).")
        return known.tags

    def _all(self) -> Iterator[tuple[str, Tag]]:
        return ((path, tag) for path in sorted(self._known) for tag in self._known[path].tags)

    def _search(self, words: str) -> list[str]:
        wanted = words.lower()
        found = [
            (path, tag)
            for path, tag in self._all()
            if tag.kind.startswith("definition.") and wanted in tag.name.lower()
        ]
        found.sort(key=lambda each: (each[1].name.lower() != wanted, len(each[1].name)))
        return [_line(path, tag) for path, tag in found]

    def _users(self, name: str) -> list[str]:
        return [_line(path, tag) for path, tag in self._all() if tag.name == name and tag.kind.startswith("reference.")]

    def _importers(self, path: str) -> list[str]:
        return [
            _line(other, tag)
            for other, tag in self._all()
            if tag.kind == "import" and other != path and _means(tag.name, other, path)
        ]


def _line(path: str, tag: Tag) -> str:
    return f"{path}:{tag.line}: {tag.kind.partition('.')[2] or tag.kind} {tag.name}"


def _means(imported: str, by: str, path: str) -> bool:
    """Whether `imported`, as written in the file `by`, may name the file `path`: by the end of its path."""
    family = _family(path)
    if family != _family(by):
        return False
    if family in ("c", "bash"):
        # a path, with its ending, from here or from a directory that the build or the script names
        parts = [part for part in imported.split("/") if part not in (".", "..") and "$" not in part]
        return _meet([*PurePosixPath(path).parts], parts)
    target = PurePosixPath(path).with_suffix("")
    package = target.name in ("__init__", "index", "mod")
    if imported.startswith("."):
        return _relative(imported, by) in (str(target), str(target.parent) if package else None)
    names = [part for part in (target.parent if package else target).parts if part not in ("src", "lib")]
    words = [word for word in _WORDS.findall(imported) if word not in ("crate", "self", "super")]
    if family == "go":
        # an import names a directory, after the module's own name
        return _meet(names[:-1], words)
    # Java and Rust may name something within the file
    return _meet(names, words) or (family in ("java", "rust") and _meet(names, words[:-1]))


def _family(path: str) -> str:
    name = BY_ENDING[PurePosixPath(path).suffix].name
    return {"typescript": "javascript", "tsx": "javascript", "cpp": "c"}.get(name, name)


def _meet(one: list[str], other: list[str]) -> bool:
    shorter = min(len(one), len(other))
    return shorter > 0 and one[-shorter:] == other[-shorter:]


def _relative(imported: str, by: str) -> str:
    folder = PurePosixPath(by).parent
    if "/" in imported or imported in (".", ".."):
        parts = [*folder.parts]
        for part in PurePosixPath(imported).parts:
            parts = parts[:-1] if part == ".." else parts if part == "." else [*parts, part]
        name = "/".join(parts)
        return name[: -len(suffix)] if (suffix := PurePosixPath(name).suffix) in BY_ENDING else name
    dots = len(imported) - len(imported.lstrip("."))
    for _ in range(dots - 1):
        folder = folder.parent
    return str(folder.joinpath(*imported.lstrip(".").split(".")))

"""A directory an agent works in: what can be done with it, and what is common to all kinds of it."""

import contextlib
import io
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

GREP_TEXT = 200
"""Characters of a matching line that are shown."""


class WorkspaceError(Exception):
    """Something that cannot be done, in words that a model can act on."""


@dataclass(frozen=True)
class Executed:
    """What came of a command. `exit_code` is None when it was ended: by its time, a cancel, or for all it printed."""

    exit_code: int | None
    stdout: str
    stderr: str
    timed_out: bool = False


Lines = list[str]


class Workspace(Protocol):
    """Paths are relative to `root`, with `/`. Everything raises WorkspaceError for what cannot be done."""

    @property
    def root(self) -> str:
        """Where it is, for people and prompts."""
        ...

    def read_file(self, path: str, offset: int = 1, limit: int | None = None) -> str:
        """Lines `offset` (from 1) to `offset + limit - 1` of a text file; all that follow without a limit."""
        ...

    def write_file(self, path: str, content: str) -> int:
        """Make or replace a file with all its directories: the bytes written."""
        ...

    def edit_file(self, path: str, old: str, new: str) -> int:
        """Replace the one occurrence of `old`: the bytes written. None and several are errors that say how many."""
        ...

    def list(self, path: str = ".") -> Lines:
        """Names in a directory, sorted, directories with a `/` at the end."""
        ...

    def glob(self, pattern: str) -> Lines:
        """Files that match `*`, `?` (within a name) and `**` (over directories), sorted."""
        ...

    def grep(self, pattern: str, path: str = ".", glob: str | None = None) -> Lines:
        """Lines that match a regular expression, as `file:line:text`, the text cut at `GREP_TEXT` characters."""
        ...

    def exec(self, command: str, timeout: float = 120) -> Executed:
        """Run a shell command in the root, for at most `timeout` seconds."""
        ...

    def diff(self) -> str:
        """All changes since the workspace was opened, unified; empty for none, or without a repository."""
        ...


class FileWorkspace(ABC):
    """Everything that reading, writing and listing whole files is enough for."""

    @abstractmethod
    def load(self, path: str) -> bytes:
        """The bytes of a file."""

    @abstractmethod
    def store(self, path: str, content: bytes) -> None:
        """Make or replace a file."""

    @abstractmethod
    def paths(self) -> Iterable[str]:
        """All files, relative."""

    def read_file(self, path: str, offset: int = 1, limit: int | None = None) -> str:
        """See Workspace."""
        if offset < 1 or (limit is not None and limit < 1):
            raise WorkspaceError(f"offset counts lines from 1 and limit is at least 1, not {offset} and {limit}.")
        lines = lines_of(text_of(path, self.load(path)))
        if offset > max(1, len(lines)):
            raise WorkspaceError(f"{path} has {len(lines)} lines; there is no line {offset}.")
        return "".join(lines[offset - 1 : None if limit is None else offset - 1 + limit])

    def write_file(self, path: str, content: str) -> int:
        """See Workspace."""
        data = content.encode()
        self.store(path, data)
        return len(data)

    def edit_file(self, path: str, old: str, new: str) -> int:
        """See Workspace."""
        if not old:
            raise WorkspaceError("The text to replace is empty; use write_file to make a file.")
        text = text_of(path, self.load(path))
        count = text.count(old)
        if count != 1:
            found = "does not occur" if count == 0 else f"occurs {count} times"
            hint = "Read the file again." if count == 0 else "Give more of the lines around it."
            if count == 0 and "\r\n" in text and "\r\n" not in old:
                hint = "Lines of this file end with \\r\\n."
            raise WorkspaceError(f"The text to replace {found} in {path}; it must occur exactly once. {hint}")
        return self.write_file(path, text.replace(old, new))

    def glob(self, pattern: str) -> list[str]:
        """See Workspace."""
        matches = glob_pattern(pattern)
        return sorted(path for path in self.paths() if matches.match(path))

    def grep(self, pattern: str, path: str = ".", glob: str | None = None) -> list[str]:
        """See Workspace."""
        try:
            wanted = re.compile(pattern)
        except re.error as error:
            raise WorkspaceError(f"{pattern!r} is no regular expression: {error}.") from None
        inside = path.rstrip("/").removeprefix("./")
        names = [name for name in sorted(self.paths()) if inside in ("", ".", name) or name.startswith(f"{inside}/")]
        if not names and inside not in ("", "."):
            # One file that is not listed: an ignored one, or a whole log outside.
            return _matching(path, self.load(path), wanted)
        matches = glob_pattern(glob) if glob else None
        found: list[str] = []
        for name in names:
            if matches and not (matches.match(name) or matches.match(name.rsplit("/", 1)[-1])):
                continue
            with contextlib.suppress(WorkspaceError):  # too large, a link to elsewhere: no reason to find nothing
                found += _matching(name, self.load(name), wanted)
        return found


def _matching(name: str, content: bytes, wanted: re.Pattern[str]) -> list[str]:
    if b"\0" in content[:8192]:
        return []
    lines = (line.rstrip("\r\n") for line in lines_of(content.decode(errors="replace")))
    return [f"{name}:{at}:{line[:GREP_TEXT]}" for at, line in enumerate(lines, start=1) if wanted.search(line)]


def lines_of(text: str) -> list[str]:
    """The lines of `text` with their ends, counted as editors and compilers do: a form feed ends none."""
    return io.StringIO(text, newline="\n").readlines()


def text_of(path: str, content: bytes) -> str:
    """The text of a file, or an error for one that is none: edited by replacement characters it would be destroyed."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise WorkspaceError(f"{path} is no UTF-8 text ({len(content)} bytes); use bash to look at it.") from None


def glob_pattern(pattern: str) -> re.Pattern[str]:
    """`pattern` as a regular expression over whole relative paths."""
    parts: list[str] = []
    for token in re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", pattern.removeprefix("./")):
        match token:
            case "**/":
                parts.append("(?:.*/)?")
            case "**":
                parts.append(".*")
            case "*":
                parts.append("[^/]*")
            case "?":
                parts.append("[^/]")
            case text:
                parts.append(re.escape(text))
    return re.compile("".join(parts) + r"\Z")

"""A directory an agent works in: what can be done with it, and what is common to all kinds of it."""

import io
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from k8s.native.edits import CannotEdit, Edit, edited

GREP_TEXT = 200
"""Characters of a matching line that are shown."""
GREP_LINES = 300
"""Lines that a search shows."""


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

    def edit_file(self, path: str, edits: Sequence[Edit]) -> int:
        """Make all edits, or none: the bytes written. One that does not fit is an error that says what stands there."""
        ...

    def list(self, path: str = ".") -> Lines:
        """Names in a directory, sorted, directories with a `/` at the end."""
        ...

    def glob(self, pattern: str) -> Lines:
        """Files that match `*`, `?` (within a name) and `**` (over directories), sorted."""
        ...

    def grep(self, pattern: str, path: str = ".", glob: str | None = None, context: int = 0) -> Lines:
        """Lines that match a regular expression, as `file:line:text`, the text cut at `GREP_TEXT` characters; `context`
        lines around each are `file-line-text`. `GREP_LINES` at most, and then a line that says so.
        """
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

    def edit_file(self, path: str, edits: Sequence[Edit]) -> int:
        """See Workspace."""
        try:
            return self.write_file(path, edited(text_of(path, self.load(path)), edits))
        except CannotEdit as error:
            raise WorkspaceError(f"{path} was not edited. {error}") from None

    def glob(self, pattern: str) -> list[str]:
        """See Workspace."""
        matches = glob_pattern(pattern)
        return sorted(path for path in self.paths() if matches.match(path))

    def grep(self, pattern: str, path: str = ".", glob: str | None = None, context: int = 0) -> list[str]:
        """See Workspace."""
        try:
            wanted = re.compile(pattern)
        except re.error as error:
            raise WorkspaceError(f"{pattern!r} is no regular expression: {error}.") from None
        inside, named = path.rstrip("/").removeprefix("./"), named_by(glob)
        names = [name for name in sorted(self.paths()) if inside in ("", ".", name) or name.startswith(f"{inside}/")]
        return at_most([line for name in names if named(name) for line in self._matching(name, wanted, context)])

    def _matching(self, name: str, wanted: re.Pattern[str], context: int) -> list[str]:
        lines = [line.rstrip("\r\n") for line in lines_of(self.load(name).decode(errors="replace"))]
        found = {at for at, line in enumerate(lines) if wanted.search(line)}
        near = {at for place in found for at in range(place - context, place + context + 1) if 0 <= at < len(lines)}
        signs = {at: ":" if at in found else "-" for at in sorted(near)}
        return [f"{name}{sign}{at + 1}{sign}{lines[at][:GREP_TEXT]}" for at, sign in signs.items()]


def at_most(lines: list[str]) -> list[str]:
    """The first `GREP_LINES`; where there are more, that is said."""
    if len(lines) <= GREP_LINES:
        return lines
    return [*lines[:GREP_LINES], "… and more: narrow the pattern, the path or the glob."]


def named_by(glob: str | None) -> Callable[[str], bool]:
    """Whether a file is meant by `glob`: by its path, or by its name alone."""
    if not glob:
        return lambda name: True
    pattern = glob_pattern(glob)
    return lambda name: bool(pattern.match(name) or pattern.match(name.rsplit("/", 1)[-1]))


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

"""A directory an agent works in: what can be done with it, and what is common to all kinds of it."""

import io
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from k8s.native.workspaces.edits import CannotEdit, Edit, edited
from k8s.native.workspaces.globs import glob_matcher, named_by
from k8s.native.workspaces.patches import patched

GREP_TEXT = 200
"""Characters of a matching line that are shown."""
GREP_LINES = 300
"""Lines that a search shows."""


class WorkspaceError(Exception):
    """Something that cannot be done, in words that a model can act on."""


class NoFileError(WorkspaceError):
    """There is no file of that name."""

    def __init__(self, path: str) -> None:
        super().__init__(f"There is no file {path}.")


@dataclass(frozen=True)
class Executed:
    """What came of a command. `exit_code` is None when it was ended: by its time, a cancel, or for all it printed."""

    exit_code: int | None
    stdout: str
    stderr: str
    timed_out: bool = False


@dataclass(frozen=True)
class Job:
    """A command that goes on, as it is now. `since` holds what it printed since the last look, and its exit code where
    it has ended; its `timed_out` says that it was stopped.
    """

    name: str
    running: bool
    since: Executed


@dataclass(frozen=True)
class Changed:
    """A file that was changed: `change` is add, update or delete, `size` its bytes now."""

    change: str
    path: str
    size: int


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

    def apply_patch(self, patch: str) -> Sequence[Changed]:
        """Make all changes of a patch (`*** Begin Patch`), or none: what was changed."""
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

    def start(self, command: str) -> str:
        """Start a shell command that goes on: the name of its job."""
        ...

    def look(self, job: str, wait: float = 0) -> Job:
        """A job as it is now; first `wait` seconds for its end."""
        ...

    def stop(self, job: str) -> Job:
        """End a job."""
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
    def remove(self, path: str) -> None:
        """Take a file away."""

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

    def apply_patch(self, patch: str) -> list[Changed]:
        """See Workspace. What was done already is undone where a file cannot be written."""
        before: dict[str, bytes | None] = {}

        def read(path: str) -> str | None:
            try:
                content = before[path] = self.load(path)
            except NoFileError:
                before[path] = None
                return None
            return text_of(path, content)

        try:
            changes = patched(patch, read)
        except CannotEdit as error:
            raise WorkspaceError(f"Nothing was changed. {error}") from None
        done: list[str] = []
        try:
            for each in changes:
                done.append(each.path)
                self._put(each.path, None if each.content is None else each.content.encode())
        except WorkspaceError:
            for path in done[:-1]:
                self._put(path, before[path])
            raise
        return [Changed(each.change, each.path, len((each.content or "").encode())) for each in changes]

    def _put(self, path: str, content: bytes | None) -> None:
        if content is None:
            self.remove(path)
        else:
            self.store(path, content)

    def glob(self, pattern: str) -> list[str]:
        """See Workspace."""
        return sorted(filter(glob_matcher(pattern), self.paths()))

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


def lines_of(text: str) -> list[str]:
    """The lines of `text` with their ends, counted as editors and compilers do: a form feed ends none."""
    return io.StringIO(text, newline="\n").readlines()


def text_of(path: str, content: bytes) -> str:
    """The text of a file, or an error for one that is none: edited by replacement characters it would be destroyed."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise WorkspaceError(f"{path} is no UTF-8 text ({len(content)} bytes); use bash to look at it.") from None

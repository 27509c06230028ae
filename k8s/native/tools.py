"""The eight tools of the agent. What a tool cannot do comes back as text that begins with `Error: `, not as a crash."""

import threading
from collections.abc import Callable
from typing import Any

from k8s.native.code_graph.graph import CodeGraph, Operation
from k8s.native.workspaces.edits import Edit
from k8s.native.workspaces.workspace import Workspace, WorkspaceError

OUTPUT_TEXT = 30_000
"""Characters of a tool's output that the model sees."""
LONGEST_COMMAND = 600
"""Seconds that a command may ask for."""
ERROR = "Error: "

Emit = Callable[..., None]
Tool = Callable[..., str]


class Toolbox:
    """The tools over one workspace. `emit(kind, **payload)` is told of edits and commands as they happen.

    `code_graph` is only there where something can answer it; read-only leaves out the three tools that change things.
    """

    def __init__(
        self, workspace: Workspace, emit: Emit, *, graph: CodeGraph | None = None, read_only: bool = False
    ) -> None:
        self._workspace = workspace
        self._emit = emit
        self._graph = graph
        self._read_only = read_only
        self._lock = threading.Lock()

    def tools(self) -> list[Tool]:
        """The functions; their names, signatures and docstrings are what the model is told."""
        reading: list[Tool] = [self.read_file, self.list_dir, self.glob, self.grep]
        changing: list[Tool] = [self.write_file, self.edit_file, self.bash]
        graph: list[Tool] = [self.code_graph] if self._graph else []
        return [*reading, *graph, *([] if self._read_only else changing)]

    def read_file(self, path: str, offset: int = 1, limit: int | None = None) -> str:
        """Read a text file.

        Args:
            path: The file, relative to the workspace.
            offset: The first line to read, counted from 1.
            limit: How many lines to read; all of them if left out.
        """
        return self._safe(lambda: self._workspace.read_file(path, offset, limit))

    def write_file(self, path: str, content: str) -> str:
        """Make a file or replace all of it.

        Args:
            path: The file, relative to the workspace.
            content: The whole new content.
        """

        def write() -> str:
            change = "update" if self._exists(path) else "add"
            size = self._workspace.write_file(path, content)
            self._emit("file_edit", path=path, change=change, bytes=size)
            return f"Wrote {size} bytes to {path}."

        return self._safe(write)

    def edit_file(self, path: str, edits: list[Edit]) -> str:
        """Replace pieces of a file, one after another: all of them, or none where one does not fit.

        Args:
            path: The file, relative to the workspace.
            edits: Each with `old`, the text to replace, which occurs exactly once unless `replace_all` is set, and
                `new`, the text to put in its place.
        """

        def edit() -> str:
            size = self._workspace.edit_file(path, edits)
            self._emit("file_edit", path=path, change="update", bytes=size)
            return f"Edited {path}, {size} bytes now."

        return self._safe(edit)

    def list_dir(self, path: str = ".") -> str:
        """List a directory; directories end with a slash.

        Args:
            path: The directory, relative to the workspace.
        """
        return self._safe(lambda: "\n".join(self._workspace.list(path)) or "(empty)")

    def glob(self, pattern: str) -> str:
        """Find files by name.

        Args:
            pattern: With `*` and `?` within a name, and `**` over directories, such as `src/**/*.py`.
        """
        return self._safe(lambda: "\n".join(self._workspace.glob(pattern)) or "(no file)")

    def grep(self, pattern: str, path: str = ".", glob: str | None = None, context: int = 0) -> str:
        """Find lines by a regular expression, as `file:line:text`; lines around them are `file-line-text`.

        Args:
            pattern: The regular expression, as ripgrep takes it.
            path: Only in this file or directory.
            glob: Only in files that match, such as `*.py`.
            context: How many lines to show before and after each match.
        """
        return self._safe(lambda: "\n".join(self._workspace.grep(pattern, path, glob, context)) or "(no match)")

    def code_graph(self, operation: Operation, subject: str) -> str:
        """Ask where code is defined and used, by syntax.

        Args:
            operation: `search` for definitions by a part of their name, `file_symbols` for the definitions of a file,
                `dependents` for who imports a file or uses a name, `imports` for what a file imports.
            subject: The name or the file.
        """
        graph = self._graph
        if graph is None:
            return f"{ERROR}There is no code graph here."
        return self._safe(lambda: "\n".join(graph.ask(operation, subject)) or "(nothing)")

    def bash(self, command: str, timeout: int = 120) -> str:
        """Run a shell command in the workspace.

        Args:
            command: The command.
            timeout: Seconds after which it is ended, 600 at most.
        """

        def run() -> str:
            seconds = max(1, min(timeout, LONGEST_COMMAND))
            done = self._workspace.exec(command, seconds)
            self._emit("command", command=command, exit_code=done.exit_code)
            text = done.stdout + (f"\n[stderr]\n{done.stderr}" if done.stderr else "")
            if done.timed_out:
                return f"{ERROR}Ended after {seconds} s.\n{text}"
            if done.exit_code is None:
                return f"{ERROR}It did not come to its end.\n{text}"
            return text if done.exit_code == 0 else f"{ERROR}Exit code {done.exit_code}.\n{text}"

        return self._safe(run)

    def _exists(self, path: str) -> bool:
        try:
            self._workspace.read_file(path, 1, 1)
        except WorkspaceError:
            return False
        return True

    def _safe(self, do: Callable[[], str]) -> str:
        # One at a time: two edits of one file must not lose each other.
        with self._lock:
            try:
                return clip(do())
            except WorkspaceError as error:
                return clip(f"{ERROR}{error}")
            except Exception as error:
                return clip(f"{ERROR}{type(error).__name__}: {error}")


def clip(text: str, limit: int = OUTPUT_TEXT) -> str:
    """`text` within `limit` characters: its middle goes, and a line says how much."""
    if len(text) <= limit:
        return text
    kept = limit - 60
    head = kept // 3
    return f"{text[:head]}\n… {len(text) - kept} characters left out …\n{text[len(text) - (kept - head) :]}"


def as_arguments(given: Any) -> dict[str, Any]:
    """A tool call's arguments as an object, whatever the model sent."""
    return given if isinstance(given, dict) else {"arguments": given}

"""The tools of the agent. What a tool cannot do comes back as text that begins with `Error: `, not as a crash."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from k8s.native.checkers import Checkers
from k8s.native.code_graph.graph import CodeGraph, Operation
from k8s.native.workspaces.edits import Edit
from k8s.native.workspaces.workspace import Executed, Job, Workspace, WorkspaceError

OUTPUT_TEXT = 30_000
"""Characters of a tool's output that the model sees."""
LONGEST_COMMAND = 600
"""Seconds that a command may ask for."""
LONGEST_LOOK = 60
"""Seconds that a look at a job may wait."""
MOST_ITEMS, ITEM_TEXT = 50, 200
"""Items of a plan, and characters of each."""
ERROR = "Error: "

Emit = Callable[..., None]
Tool = Callable[..., str]


@dataclass(frozen=True)
class PlanItem:
    """One thing to do."""

    text: str
    state: Literal["pending", "active", "done", "dropped"] = "pending"


class Toolbox:
    """The tools over one workspace. `emit(kind, **payload)` is told of plans, edits and commands as they happen.

    `code_graph` is only there where something can answer it; read-only leaves out the tools that change things.
    """

    def __init__(
        self, workspace: Workspace, emit: Emit, *, graph: CodeGraph | None = None, read_only: bool = False
    ) -> None:
        self._workspace = workspace
        self._emit = emit
        self._graph = graph
        self._read_only = read_only
        self._checkers = Checkers(workspace)
        self._lock = threading.Lock()

    def reading(self) -> list[Tool]:
        """Those that change nothing, and may run side by side; their names, signatures and docstrings are what the
        model is told.
        """
        graph: list[Tool] = [self.code_graph] if self._graph else []
        return [self.read_file, self.list_dir, self.glob, self.grep, *graph, self.update_plan]

    def changing(self) -> list[Tool]:
        """Those that run one after another."""
        if self._read_only:
            return []
        return [self.write_file, self.edit_file, self.apply_patch, self.bash, self.job_output, self.job_stop]

    def read_file(self, path: str, offset: int = 1, limit: int | None = None) -> str:
        """Read a text file.

        Args:
            path: The file, relative to the workspace.
            offset: The first line to read, counted from 1.
            limit: How many lines to read; all of them if left out.
        """
        return _safe(lambda: self._workspace.read_file(path, offset, limit))

    def list_dir(self, path: str = ".") -> str:
        """List a directory; directories end with a slash.

        Args:
            path: The directory, relative to the workspace.
        """
        return _safe(lambda: "\n".join(self._workspace.list(path)) or "(empty)")

    def glob(self, pattern: str) -> str:
        """Find files by name.

        Args:
            pattern: With `*` and `?` within a name, and `**` over directories, such as `src/**/*.py`.
        """
        return _safe(lambda: "\n".join(self._workspace.glob(pattern)) or "(no file)")

    def grep(self, pattern: str, path: str = ".", glob: str | None = None, context: int = 0) -> str:
        """Find lines by a regular expression, as `file:line:text`; lines around them are `file-line-text`.

        Args:
            pattern: The regular expression, as ripgrep takes it.
            path: Only in this file or directory.
            glob: Only in files that match, such as `*.py`.
            context: How many lines to show before and after each match.
        """
        return _safe(lambda: "\n".join(self._workspace.grep(pattern, path, glob, context)) or "(no match)")

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
        return _safe(lambda: "\n".join(graph.ask(operation, subject)) or "(nothing)")

    def update_plan(self, items: list[PlanItem]) -> str:
        """Show people what you are going to do and how far you are. Use it for work of more than two steps, and again
        whenever an item is begun or done.

        Args:
            items: The whole plan, each time; `state` is `pending`, `active` (one at a time), `done` or `dropped`.
        """
        shown = [{"text": item.text[:ITEM_TEXT], "state": item.state} for item in items if item.text.strip()]
        if not shown or len(shown) > MOST_ITEMS:
            return f"{ERROR}A plan has 1 to {MOST_ITEMS} items, not {len(shown)}."
        self._emit("plan", items=shown)
        return f"{sum(item.state == 'done' for item in items)} of {len(shown)} done."

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
            return f"Wrote {size} bytes to {path}.{self._checkers.look_at([path])}"

        return self._alone(write)

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
            return f"Edited {path}, {size} bytes now.{self._checkers.look_at([path])}"

        return self._alone(edit)

    def apply_patch(self, patch: str) -> str:
        """Change several files at once: all of the patch is applied, or nothing.

        Args:
            patch: From `*** Begin Patch` to `*** End Patch`, with `*** Add File: PATH`, `*** Delete File: PATH` and
                `*** Update File: PATH` (then perhaps `*** Move to: PATH`). Lines of an update begin with a space, - or
                +, and with `@@ LINE` behind which line of the file they stand; lines of a new file begin with +.
        """

        def apply() -> str:
            done = self._workspace.apply_patch(patch)
            for each in done:
                self._emit("file_edit", path=each.path, change=each.change, bytes=each.size)
            told = "\n".join(f"{each.change} {each.path}" for each in done) or "The patch changes nothing."
            return told + self._checkers.look_at([each.path for each in done if each.change != "delete"])

        return self._alone(apply)

    def bash(self, command: str, timeout: int = 120, background: bool = False) -> str:
        """Run a shell command in the workspace.

        Args:
            command: The command.
            timeout: Seconds after which it is ended, 600 at most.
            background: Let it go on as a job, such as a server, and answer at once: see `job_output` and `job_stop`.
        """

        def run() -> str:
            if background:
                name = self._workspace.start(command)
                self._emit("command", command=command, exit_code=None)
                return f"Started job {name}."
            seconds = max(1, min(timeout, LONGEST_COMMAND))
            done = self._workspace.exec(command, seconds)
            self._emit("command", command=command, exit_code=done.exit_code)
            if done.timed_out:
                return f"{ERROR}Ended after {seconds} s.\n{_printed(done)}"
            if done.exit_code is None:
                return f"{ERROR}It did not come to its end.\n{_printed(done)}"
            return _printed(done) if done.exit_code == 0 else f"{ERROR}Exit code {done.exit_code}.\n{_printed(done)}"

        return self._alone(run)

    def job_output(self, job: str, wait: int = 0) -> str:
        """What a job has printed since the last look, and whether it still runs.

        Args:
            job: The job, such as j1.
            wait: Seconds to wait for its end, 60 at most.
        """
        return self._alone(lambda: _job(self._workspace.look(job, max(0, min(wait, LONGEST_LOOK)))))

    def job_stop(self, job: str) -> str:
        """End a job and all that it started.

        Args:
            job: The job, such as j1.
        """
        return self._alone(lambda: _job(self._workspace.stop(job)))

    def _exists(self, path: str) -> bool:
        try:
            self._workspace.read_file(path, 1, 1)
        except WorkspaceError:
            return False
        return True

    def _alone(self, do: Callable[[], str]) -> str:
        # two edits of one file must not lose each other, and a command sees no half of one
        with self._lock:
            return _safe(do)


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


def _safe(do: Callable[[], str]) -> str:
    try:
        return clip(do())
    except WorkspaceError as error:
        return clip(f"{ERROR}{error}")
    except Exception as error:
        return clip(f"{ERROR}{type(error).__name__}: {error}")


def _printed(done: Executed) -> str:
    return done.stdout + (f"\n[stderr]\n{done.stderr}" if done.stderr else "")


def _job(job: Job) -> str:
    if job.running:
        how = "runs"
    elif job.since.timed_out:
        how = "was stopped"
    else:
        how = (
            "did not come to its end" if job.since.exit_code is None else f"ended with exit code {job.since.exit_code}"
        )
    return f"Job {job.name} {how}.\n{_printed(job.since)}"

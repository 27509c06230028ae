"""A workspace that is a dictionary, with the results of commands given beforehand: for tests that repeat exactly."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import replace

from k8s.native.workspaces.workspace import Executed, FileWorkspace, Job, Lines, NoFileError, WorkspaceError


class MemoryWorkspace(FileWorkspace):
    """`files` by path; `commands` by the exact command. A command that was not given fails like an unknown program."""

    def __init__(
        self,
        files: Mapping[str, str] | None = None,
        commands: Mapping[str, Executed] | None = None,
        root: str = "/memory",
    ) -> None:
        self.root = root
        self._files = {path: text.encode() for path, text in (files or {}).items()}
        self._before = dict(self._files)
        self._commands = dict(commands or {})
        self.ran: list[str] = []
        self._ended: list[Executed] = []

    def load(self, path: str) -> bytes:
        """The bytes of a file."""
        try:
            return self._files[_plain(path)]
        except KeyError:
            raise NoFileError(path) from None

    def store(self, path: str, content: bytes) -> None:
        """Make or replace a file."""
        self._files[_plain(path)] = content

    def remove(self, path: str) -> None:
        """Take a file away."""
        self.load(path)
        del self._files[_plain(path)]

    def paths(self) -> Iterable[str]:
        """All files."""
        return list(self._files)

    def list(self, path: str = ".") -> Lines:
        """See Workspace."""
        prefix = "" if _plain(path) in ("", ".") else f"{_plain(path)}/"
        names = {name[len(prefix) :] for name in self._files if name.startswith(prefix)}
        if not names and prefix:
            raise WorkspaceError(f"There is no directory {path}.")
        return sorted({head + ("/" if rest else "") for head, rest, _ in (name.partition("/") for name in names)})

    def exec(self, command: str, timeout: float = 120) -> Executed:
        """The given result."""
        self.ran.append(command)
        return self._commands.get(command, Executed(127, "", f"{command.split(' ')[0]}: command not found\n"))

    def start(self, command: str) -> str:
        """A job whose end is the given result, at once."""
        self._ended.append(self.exec(command))
        return f"j{len(self._ended)}"

    def look(self, job: str, wait: float = 0) -> Job:
        """The given result, the first time; then nothing more."""
        names = [f"j{number}" for number in range(1, len(self._ended) + 1)]
        if job not in names:
            raise WorkspaceError(f"There is no job {job!r}; there are: {', '.join(names) or 'none'}.")
        at = names.index(job)
        told, self._ended[at] = self._ended[at], replace(self._ended[at], stdout="", stderr="")
        return Job(job, False, told)

    def stop(self, job: str) -> Job:
        """It has ended."""
        return self.look(job)

    def diff(self) -> str:
        """See Workspace."""
        return "".join(
            _diff(path, self._before.get(path), self._files.get(path))
            for path in sorted(self._before.keys() | self._files.keys())
            if self._before.get(path) != self._files.get(path)
        )


def _plain(path: str) -> str:
    parts = path.split("/")
    if path.startswith("/") or ".." in parts:
        raise WorkspaceError(f"{path} is outside of the workspace.")
    return "/".join(part for part in parts if part not in ("", "."))


def _diff(path: str, before: bytes | None, after: bytes | None) -> str:
    texts = [(content or b"").decode(errors="replace").splitlines(keepends=True) for content in (before, after)]
    names = [
        f"{side}/{path}" if content is not None else "/dev/null" for side, content in (("a", before), ("b", after))
    ]
    mode = "new file mode 100644\n" if before is None else "deleted file mode 100644\n" if after is None else ""
    body = difflib.unified_diff(texts[0], texts[1], names[0], names[1])
    lines = [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in body]
    return f"diff --git a/{path} b/{path}\n{mode}" + "".join(lines)

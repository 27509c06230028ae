"""A workspace in a sandbox elsewhere: one process is started in it once and serves every call."""

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from k8s.native.workspaces.edits import Edit
from k8s.native.workspaces.local import LocalWorkspace
from k8s.native.workspaces.workspace import Changed, Executed, Job, Lines, Workspace, WorkspaceError

_CALLS = (
    "read_file", "write_file", "edit_file", "apply_patch", "list", "glob", "grep",
    "exec", "start", "look", "stop", "diff",
)  # fmt: skip


class BoxWorkspace:
    """`enter` is what starts a program in the sandbox (`kubectl exec -i POD --`, `docker exec -i ID`, nothing for this
    machine), `python` an interpreter there that can import this package, `root` the directory there.

    The sandbox is entered at the first call, and left by `close`. Calls of several threads come one after another.
    """

    def __init__(self, enter: Sequence[str], root: str, *, python: Sequence[str] = (sys.executable, "-P")) -> None:
        self.root = root
        self._argv = [*enter, *python, "-m", "k8s.native.workspaces.box", root]
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def read_file(self, path: str, offset: int = 1, limit: int | None = None) -> str:
        """See Workspace."""
        return str(self._call("read_file", path=path, offset=offset, limit=limit))

    def write_file(self, path: str, content: str) -> int:
        """See Workspace."""
        return int(self._call("write_file", path=path, content=content))

    def edit_file(self, path: str, edits: Sequence[Edit]) -> int:
        """See Workspace."""
        return int(self._call("edit_file", path=path, edits=[vars(edit) for edit in edits]))

    def apply_patch(self, patch: str) -> Sequence[Changed]:
        """See Workspace."""
        return [Changed(**each) for each in self._call("apply_patch", patch=patch)]

    def list(self, path: str = ".") -> Lines:
        """See Workspace."""
        return [str(name) for name in self._call("list", path=path)]

    def glob(self, pattern: str) -> Lines:
        """See Workspace."""
        return [str(name) for name in self._call("glob", pattern=pattern)]

    def grep(self, pattern: str, path: str = ".", glob: str | None = None, context: int = 0) -> Lines:
        """See Workspace."""
        return [str(line) for line in self._call("grep", pattern=pattern, path=path, glob=glob, context=context)]

    def exec(self, command: str, timeout: float = 120) -> Executed:
        """See Workspace."""
        return Executed(**self._call("exec", command=command, timeout=timeout))

    def start(self, command: str) -> str:
        """See Workspace."""
        return str(self._call("start", command=command))

    def look(self, job: str, wait: float = 0) -> Job:
        """See Workspace."""
        return _job(self._call("look", job=job, wait=wait))

    def stop(self, job: str) -> Job:
        """See Workspace."""
        return _job(self._call("stop", job=job))

    def diff(self) -> str:
        """See Workspace."""
        return str(self._call("diff"))

    def close(self) -> None:
        """Leave the sandbox: its program ends when its input does."""
        with self._lock:
            process, self._process = self._process, None
        if process and process.stdin and process.stdout:
            process.stdin.close()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()

    def _call(self, name: str, **given: Any) -> Any:
        with self._lock:
            answer = self._exchange(json.dumps({"call": name, "given": given}))
        if "error" in answer:
            raise WorkspaceError(str(answer["error"]))
        return answer["result"]

    def _exchange(self, line: str) -> dict[str, Any]:
        try:
            if self._process is None:
                pipe = subprocess.PIPE
                self._process = subprocess.Popen(self._argv, stdin=pipe, stdout=pipe, text=True, encoding="utf-8")
            stdin, stdout = self._process.stdin, self._process.stdout
            if stdin is None or stdout is None:
                raise OSError("it has no pipes")
            stdin.write(line + "\n")
            stdin.flush()
            answer = stdout.readline()
        except OSError as error:
            raise WorkspaceError(f"The sandbox cannot be used: {error}.") from None
        if not answer:
            raise WorkspaceError("The sandbox has gone; its program ended.")
        told = json.loads(answer)
        return told if isinstance(told, dict) else {}


def serve(workspace: Workspace, requests: IO[str], answers: IO[str]) -> None:
    """Do what each line of `requests` asks of `workspace`, until there are no more."""
    for line in requests:
        try:
            asked = json.loads(line)
            if asked["call"] not in _CALLS:
                raise WorkspaceError(f"There is no call {asked['call']!r}.")
            given = asked["given"]
            if "edits" in given:
                given = {**given, "edits": [Edit(**each) for each in given["edits"]]}
            result = getattr(workspace, asked["call"])(**given)
            answer: dict[str, Any] = {"result": result}
        except WorkspaceError as error:
            answer = {"error": str(error)}
        except (KeyError, TypeError, ValueError) as error:
            answer = {"error": f"The request is not understood: {error!r}."}
        answers.write(json.dumps(answer, default=vars) + "\n")
        answers.flush()


def _job(told: Mapping[str, Any]) -> Job:
    return Job(told["name"], told["running"], Executed(**told["since"]))


if __name__ == "__main__":
    with contextlib.closing(LocalWorkspace(Path(sys.argv[1]))) as opened:
        serve(opened, sys.stdin, sys.stdout)

"""A workspace on this machine's disk."""

import os
import stat
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from k8s.native.workspaces.globs import named_by
from k8s.native.workspaces.ripgrep import search
from k8s.native.workspaces.shell import Command, Jobs
from k8s.native.workspaces.workspace import Executed, FileWorkspace, Job, Lines, NoFileError, WorkspaceError

LARGEST_FILE = 10_000_000
MOST_CONTEXT = 20
"""Lines around a match that a search may ask for."""
_UNSEEN = {".git", "node_modules", ".venv", "__pycache__"}


class LocalWorkspace(FileWorkspace):
    """The directory `root`. Files outside of it are refused, but those under `readable` may be read (whole logs, say).

    `hidden` are names of environment variables that commands do not get. `cancel` ends a command that is running.
    """

    def __init__(
        self,
        root: Path,
        *,
        readable: Sequence[Path] = (),
        hidden: Sequence[str] = (),
        cancel: threading.Event | None = None,
    ) -> None:
        if not root.is_dir():
            raise WorkspaceError(f"The workspace {root} is no directory.")
        self._root = root.resolve()
        self._readable = [path.resolve() for path in readable]
        self._environment = {name: value for name, value in os.environ.items() if name not in hidden}
        self._cancel = cancel or threading.Event()
        self._jobs = Jobs(self._root, self._environment, self._cancel)
        self._base = self._git("rev-parse", "--verify", "-q", "HEAD").strip()

    @property
    def root(self) -> str:
        """The directory."""
        return str(self._root)

    def load(self, path: str) -> bytes:
        """The bytes of a file."""
        place = self._place(path, reading=True)
        try:
            # not blocking: a pipe in a file's place would be waited for by its opening
            opened = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                about = os.fstat(opened)
                if stat.S_ISDIR(about.st_mode):
                    raise WorkspaceError(f"{path} is a directory; use list_dir.")
                if not stat.S_ISREG(about.st_mode):
                    raise WorkspaceError(f"{path} is no regular file.")
                if about.st_size > LARGEST_FILE:
                    raise WorkspaceError(
                        f"{path} is larger than {LARGEST_FILE} bytes; use bash to look at parts of it."
                    )
                with os.fdopen(opened, "rb", closefd=False) as file:
                    return file.read(LARGEST_FILE)
            finally:
                os.close(opened)
        except FileNotFoundError:
            raise NoFileError(path) from None
        except OSError as error:
            raise WorkspaceError(f"{path} cannot be read: {error.strerror}.") from None

    def store(self, path: str, content: bytes) -> None:
        """Make or replace a file; its mode stays."""
        place = self._place(path, reading=False)
        if place.exists() and not place.is_file():
            raise WorkspaceError(f"{path} is no regular file.")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        except OSError as error:
            raise WorkspaceError(f"{path} cannot be written: {error.strerror}.") from None

    def remove(self, path: str) -> None:
        """Take a file away."""
        try:
            self._place(path, reading=False).unlink()
        except FileNotFoundError:
            raise NoFileError(path) from None
        except OSError as error:
            raise WorkspaceError(f"{path} cannot be removed: {error.strerror}.") from None

    def paths(self) -> Iterable[str]:
        """In a repository what git would show (tracked, or new and not ignored); else all but the usual rubbish."""
        listed = self._git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        if listed:
            return [path for path in dict.fromkeys(listed.split("\0")) if path and (self._root / path).is_file()]
        return self._walk()

    def list(self, path: str = ".") -> Lines:
        """See Workspace."""
        place = self._place(path, reading=True)
        try:
            entries = sorted(place.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            raise WorkspaceError(f"There is no directory {path}.") from None
        return [entry.name + ("/" if entry.is_dir() else "") for entry in entries if entry.name != ".git"]

    def grep(self, pattern: str, path: str = ".", glob: str | None = None, context: int = 0) -> Lines:
        """See Workspace. As git, it passes over what is ignored; a file that is named is searched all the same."""
        place = self._place(path, reading=True)
        if not place.exists():
            raise NoFileError(path)
        if not (place.is_dir() or place.is_file()):
            raise WorkspaceError(f"{path} is no regular file.")
        unseen = (".git",) if self._git("rev-parse", "--git-dir") else tuple(sorted(_UNSEEN))
        return search(self._root, pattern, path, max(0, min(context, MOST_CONTEXT)), unseen, named_by(glob))

    def exec(self, command: str, timeout: float = 120) -> Executed:
        """See Workspace. The command's whole process group is ended with it."""
        begun = Command(command, self._root, self._environment)
        try:
            begun.run(self._cancel, timeout)
            return begun.so_far()
        finally:
            begun.close()

    def start(self, command: str) -> str:
        """See Workspace."""
        return self._jobs.start(command)

    def look(self, job: str, wait: float = 0) -> Job:
        """See Workspace."""
        return self._jobs.look(job, wait)

    def stop(self, job: str) -> Job:
        """See Workspace."""
        return self._jobs.stop(job)

    def close(self) -> None:
        """End all jobs."""
        self._jobs.close()

    def diff(self) -> str:
        """See Workspace. Made with an index of its own: what the agent has staged stays as it is."""
        if not self._git("rev-parse", "--git-dir"):
            return ""
        with tempfile.TemporaryDirectory() as folder:
            index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            if self._base:
                self._git("read-tree", self._base, env=index)
            self._git("add", "-A", env=index)
            against = [self._base] if self._base else []
            return self._git("diff", "--cached", "--no-color", "--no-ext-diff", *against, env=index)

    def _place(self, path: str, *, reading: bool) -> Path:
        place = Path(os.path.realpath(self._root / path))
        allowed = [self._root, *(self._readable if reading else [])]
        if not any(place == root or root in place.parents for root in allowed):
            raise WorkspaceError(f"{path} is outside of the workspace {self._root}.")
        if not reading and self._root / ".git" in (place, *place.parents):
            raise WorkspaceError(f"{path} belongs to git; files in .git are not for editing.")
        return place

    def _walk(self) -> Iterable[str]:
        for folder, names, files in os.walk(self._root):
            names[:] = sorted(name for name in names if name not in _UNSEEN)
            inside = Path(folder).relative_to(self._root)
            yield from (str(inside / name) for name in files if (Path(folder) / name).is_file())

    def _git(self, *words: str, env: Mapping[str, str] | None = None) -> str:
        # core.quotePath off would be read by people only; -z and headers are read by us.
        argv = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", *words]
        place = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", **(env or {})}
        done = subprocess.run(argv, cwd=self._root, env=place, capture_output=True, check=False)
        return done.stdout.decode(errors="replace") if done.returncode == 0 else ""

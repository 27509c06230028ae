"""Run git on our own behalf, in a world that no agent has had a hand in.

Only our own configuration counts: no system, user or repository hooks, helpers, filters or file-system monitors. The
directories that git is pointed at are ours (`store`, `checkout`), never the `.git` that an agent works with.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ..files import DEFAULT_PATH, PASSED_ON

CONFIG = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.excludesFile": "/dev/null",
    "core.attributesFile": "/dev/null",
    "core.autocrlf": "false",
    "core.quotePath": "false",
    # a backslash in a name is only a danger on Windows
    "core.protectNTFS": "false",
    "credential.helper": "",
    "safe.directory": "*",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "protocol.version": "2",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "60",
    "advice.detachedHead": "false",
    "init.defaultBranch": "main",
}

# the whole of a configuration file of ours; what stands in `CONFIG` goes by the environment
PRIVATE_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"


class GitError(Exception):
    """git failed; `str()` is what it said, last lines first things first."""

    def __init__(self, command: str, code: int, said: str) -> None:
        super().__init__(said.strip()[-1000:] or f"git {command} exited {code}")
        self.code = code

    @property
    def disk_full(self) -> bool:
        """Whether it was for want of space."""
        return "No space left on device" in str(self) or "Disk quota exceeded" in str(self)


class Git:
    """git with fixed places. `tick` is called about once a second while one runs; what it raises ends that git."""

    def __init__(
        self,
        git_dir: Path,
        *,
        work_tree: Path | None = None,
        index: Path | None = None,
        tick: Callable[[], None] | None = None,
        umask: int = 0o077,
    ) -> None:
        self.git_dir = git_dir
        self.work_tree = work_tree
        self.index = index
        self._tick = tick
        self._umask = umask

    def environment(self, secret_config: Mapping[str, str] | None = None) -> dict[str, str]:
        """Everything git gets to see of the outside. `secret_config` is for this one process only."""
        env = {"PATH": DEFAULT_PATH}
        env.update({name: os.environ[name] for name in PASSED_ON if os.environ.get(name)})
        env.update(
            GIT_DIR=str(self.git_dir),
            HOME=str(self.git_dir),
            LC_ALL="C",
            GIT_CONFIG_NOSYSTEM="1",
            GIT_CONFIG_SYSTEM="/dev/null",
            GIT_CONFIG_GLOBAL="/dev/null",
            GIT_ATTR_NOSYSTEM="1",
            GIT_TERMINAL_PROMPT="0",
            GIT_NO_REPLACE_OBJECTS="1",
            GIT_LITERAL_PATHSPECS="1",
            GIT_ALLOW_PROTOCOL="http:https",
            GIT_LFS_SKIP_SMUDGE="1",
        )
        if self.work_tree is not None:
            env["GIT_WORK_TREE"] = str(self.work_tree)
        if self.index is not None:
            env["GIT_INDEX_FILE"] = str(self.index)
        settings = {**CONFIG, **(secret_config or {})}
        env["GIT_CONFIG_COUNT"] = str(len(settings))
        for number, (name, value) in enumerate(settings.items()):
            env[f"GIT_CONFIG_KEY_{number}"] = name
            env[f"GIT_CONFIG_VALUE_{number}"] = value
        return env

    def _open(self, arguments: tuple[str, ...], secret_config: Mapping[str, str] | None) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            ["git", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.work_tree or self.git_dir,
            env=self.environment(secret_config),
            start_new_session=True,
            umask=self._umask,
        )

    def run(
        self, *arguments: str, stdin: bytes = b"", secret_config: Mapping[str, str] | None = None, seconds: float = 1800
    ) -> bytes:
        """Run to the end: its stdout. Raises `GitError`, also when it takes longer than `seconds`."""
        code, out, said = self.attempt(*arguments, stdin=stdin, secret_config=secret_config, seconds=seconds)
        if code != 0:
            raise GitError(arguments[0], code, said)
        return out

    def attempt(
        self, *arguments: str, stdin: bytes = b"", secret_config: Mapping[str, str] | None = None, seconds: float = 1800
    ) -> tuple[int, bytes, str]:
        """Run to the end: (exit code, stdout, stderr)."""
        with self._open(arguments, secret_config) as process:
            feed: bytes | None = stdin
            waited = 0.0
            try:
                while True:
                    try:
                        out, said = process.communicate(feed, timeout=1.0)
                        return process.returncode, out, said.decode("utf-8", "replace")
                    except subprocess.TimeoutExpired:
                        feed = None
                        waited += 1.0
                        if waited >= seconds:
                            raise GitError(arguments[0], -1, f"git {arguments[0]} took over {seconds:.0f} s") from None
                        if self._tick is not None:
                            self._tick()
            finally:
                _end(process)

    @contextmanager
    def stream(self, *arguments: str) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
        """Run git and talk to it: (its stdin, its stdout). It is ended when the block is left."""
        with self._open(arguments, None) as process:
            try:
                assert process.stdin and process.stdout  # noqa: S101 - told to the type checker
                yield process.stdin, process.stdout
            finally:
                _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git together with its helpers, if it is still there."""
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def make_private(git_dir: Path, *, alternates: Path | None = None, shallow: Path | None = None) -> None:
    """Lay out a git directory by hand, with nothing in it that could run: a few files are quicker than `git init`."""
    for folder in ("objects/info", "refs"):
        (git_dir / folder).mkdir(parents=True, exist_ok=True)
    (git_dir / "HEAD").write_text("ref: refs/heads/none\n")
    (git_dir / "config").write_text(PRIVATE_CONFIG)
    if alternates is not None:
        (git_dir / "objects/info/alternates").write_text(f"{alternates}\n")
    if shallow is not None and shallow.is_file():
        (git_dir / "shallow").write_bytes(shallow.read_bytes())

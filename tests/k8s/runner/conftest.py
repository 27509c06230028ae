"""A box in which a real runner works for the service double, and a repository to work on."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from k8s import runner
from k8s.runner.processes import process_tree
from k8s.runner.state import held, signed
from tests.k8s.runner.double import BOX, BOX_TOKEN, Service, Told, git, publish, running
from tests.tools import need

RUNNER = Path(runner.__file__).parent


class Box:
    """A home, a service, a repository `o/r`, and a runner that works in it."""

    def __init__(self, root: Path, service: Service) -> None:
        self.root = root
        self.home = root / "home"
        self.token_file = root / "token"
        self.token_file.write_text(BOX_TOKEN)
        self.service = service
        self.work = root / "work"
        self.bare = service.repositories / "o" / "r.git"
        self.process: subprocess.Popen[bytes] | None = None
        self.log = root / "log"
        self._number = 0

    def command(self, *options: str) -> list[str]:
        return [
            sys.executable, str(RUNNER), "--service", self.service.url, "--box", BOX, "--home", str(self.home),
            "--token-file", str(self.token_file), "--beat-seconds", "0.3", *options,
        ]  # fmt: skip

    def start(
        self, *options: str, env: dict[str, str] | None = None, by: Sequence[str] = ()
    ) -> "subprocess.Popen[bytes]":
        """Start the runner; `by`: a command that becomes it."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*by, *self.command(*options)],
                env={"PATH": os.environ["PATH"], **(env or {})},
                stderr=log,
                start_new_session=True,
            )
        return self.process

    def kill(self) -> None:
        """kill -9 the runner's first process, and nothing else."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def commit(self, files: dict[str, str | bytes], message: str = "more") -> str:
        """Commit files to the repository: the commit."""
        if not (self.work / ".git").exists():
            self.work.mkdir(exist_ok=True)
            git(self.work, "init", "-q", "-b", "trunk")
        for name, content in files.items():
            path = self.work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return publish(self.work, self.bare, message)

    def turn(self, script: str, sha: str | None, **about: Any) -> dict[str, Any]:
        """A turn whose agent is a shell script."""
        self._number += 1
        number = f"{self._number}"
        repository = {
            "id": 7, "full_name": "o/r", "sha": sha, "ref": "refs/heads/trunk", "branch": "greenloop/issue-1",
            "fetch": True, "depth": 50, "merge": about.pop("merge", None),
        }  # fmt: skip
        turn: dict[str, Any] = {
            "turn": f"t_{number}", "marker": f"gl-{os.getpid()}-{number}",
            "repository": repository if sha else None, "workdir": "Code/o/r/greenloop/issue-1",
            "argv": ["bash", "-c", script], "env": {}, "stdin": "the prompt", "files": [], "evidence": [],
            "limits": {"seconds": 60, "output_bytes": 20_000_000, "changed_files": 300, "changed_bytes": 20_000_000,
                       "file_bytes": 5_000_000},
        }  # fmt: skip
        turn["limits"].update(about.pop("limits", {}))
        return {**turn, **about}

    def give(self, script: str, sha: str | None, **about: Any) -> Told:
        """Queue such a turn."""
        return self.service.give(self.turn(script, sha, **about))

    @property
    def checkout(self) -> Path:
        return self.agent_home / "Code" / "o" / "r" / "greenloop" / "issue-1"

    @property
    def agent_home(self) -> Path:
        """The agent's home, while a turn runs."""
        return self.home / "agent" / "home"

    def state(self, told: Told) -> Path:
        return self.home / "runner" / "turns" / str(told.turn["turn"])

    def holder(self, told: Told, lock: str) -> int:
        """The process that holds one of a turn's locks: `lock` (it reports the turn) or `supervisor`."""
        path = self.state(told) / lock
        self.service.wait(lambda: held(path) and signed(path), what=f"for somebody to hold {path}")
        pid = signed(path)
        assert pid
        return pid

    def idle(self, told: Told) -> None:
        """Wait until the runner has forgotten the turn."""
        self.service.wait(
            lambda: not list((self.home / "runner" / "turns").glob(f"*{told.turn['turn']}*")),
            what="for the turn's state to go",
        )


def remains(marker: str) -> set[int]:
    """Processes with the marker in their environment."""
    entry = f"{process_tree.MARKER_NAME}={marker}".encode()
    return {
        pid for pid, process in process_tree.table().items() if not process.dead and process_tree.carries(pid, entry)
    }


def alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    process = process_tree.look_up(pid)
    return process is not None and not process.dead


@pytest.fixture(scope="session")
def server() -> Iterator[Service]:
    need("git")
    with Service(Path("/nonexistent")) as started:
        yield started


@pytest.fixture
def service(server: Service, tmp_path: Path) -> Service:
    """The service double, as new."""
    server.forget(tmp_path / "repositories")
    if not server.running:
        server.start()
    return server


@pytest.fixture
def box(tmp_path: Path, service: Service) -> Iterator[Box]:
    """A box without a runner; `box.start()` starts one. Nothing of it is left when the test ends."""
    made = Box(tmp_path, service)
    try:
        yield made
    finally:
        if made.process is not None:
            with running(made.process):
                pass
        for told in service.told.values():
            for pid in remains(told.turn["marker"]):
                process_tree.send(pid, signal.SIGKILL)
        for pid in list(process_tree.table()):
            if process_tree.works_in(pid, [made.home]):
                process_tree.send(pid, signal.SIGKILL)
        shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.fixture
def started(box: Box) -> Box:
    """A box with a runner at work."""
    box.start()
    return box

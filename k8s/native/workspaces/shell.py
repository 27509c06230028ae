"""Shell commands on this machine: to their end, or as jobs that go on beside the agent."""

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from k8s.native.workspaces.workspace import Executed, Job, WorkspaceError

OUTPUT_BYTES = 200_000
"""Bytes of each output of a command that are read at a time: the first half and the last."""
MOST_OUTPUT = 100_000_000
"""Bytes of output after which a command is ended: it would fill the disk."""
MOST_JOBS = 8
"""Jobs that may run at once."""
_POLL = 0.02


class Command:
    """One command in a process group of its own. Its output goes to files: so it can be read while the command runs,
    and a child left in the background cannot hold it up.
    """

    def __init__(self, command: str, folder: Path, environment: Mapping[str, str]) -> None:
        # kept open until `close`
        self._out, self._err = (tempfile.TemporaryFile() for _ in range(2))  # noqa: SIM115
        self._read = {"out": 0, "err": 0}
        self._cut = self._endless = False
        self._process = subprocess.Popen(
            ["bash", "-c", command],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=self._out,
            stderr=self._err,
            start_new_session=True,
        )

    def run(self, stop: threading.Event, seconds: float | None = None) -> None:
        """Wait for its end; it is ended with all of its group at `stop`, after `seconds`, or for all that it prints."""
        until = None if seconds is None else time.monotonic() + seconds
        while self._process.poll() is None:
            self._endless = max(os.fstat(file.fileno()).st_size for file in (self._out, self._err)) > MOST_OUTPUT
            if self._endless or stop.is_set() or (until is not None and time.monotonic() >= until):
                self._cut = True
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
                return
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_POLL)

    def so_far(self) -> Executed:
        """What it has printed since the last look, and how it ended if it has."""
        code = None if self._cut else self._process.poll()
        told = f"\nIt was ended: it printed more than {MOST_OUTPUT} bytes.\n" if self._cut and self._endless else ""
        out, err = self._since("out", self._out), self._since("err", self._err)
        return Executed(code, out, err + told, self._cut and not self._endless)

    def close(self) -> None:
        """Let go of its output."""
        self._out.close()
        self._err.close()

    def _since(self, name: str, file: IO[bytes]) -> str:
        start, size = self._read[name], os.fstat(file.fileno()).st_size
        self._read[name] = size
        if size - start <= OUTPUT_BYTES:
            return _at(file, start, size)
        half = OUTPUT_BYTES // 2
        left_out = f"\n… {size - start - 2 * half} bytes left out …\n"
        return _at(file, start, start + half) + left_out + _at(file, size - half, size)


class Jobs:
    """Commands that go on. Their names are j1, j2 and so on; all end with `close`, or where `cancel` is set."""

    def __init__(self, folder: Path, environment: Mapping[str, str], cancel: threading.Event) -> None:
        self._folder = folder
        self._environment = dict(environment)
        self._cancel = cancel
        self._jobs: dict[str, tuple[Command, threading.Thread, threading.Event]] = {}
        self._begun = 0

    def start(self, command: str) -> str:
        """Start a job: its name. Raises WorkspaceError where `MOST_JOBS` run."""
        running = [name for name, (_, thread, _) in self._jobs.items() if thread.is_alive()]
        if len(running) >= MOST_JOBS:
            raise WorkspaceError(f"{len(running)} jobs run already ({', '.join(running)}): stop one first.")
        self._begun += 1
        name, stop = f"j{self._begun}", _Either(self._cancel)
        started = Command(command, self._folder, self._environment)
        thread = threading.Thread(target=started.run, args=(stop,), name=f"job-{name}", daemon=True)
        self._jobs[name] = (started, thread, stop)
        thread.start()
        return name

    def look(self, name: str, wait: float = 0) -> Job:
        """What a job has printed since the last look; first `wait` seconds for its end."""
        command, thread, _ = self._known(name)
        thread.join(wait)
        running = thread.is_alive()
        return Job(name, running, command.so_far())

    def stop(self, name: str) -> Job:
        """End a job with all that it started."""
        command, thread, stop = self._known(name)
        stop.set()
        thread.join()
        return Job(name, False, command.so_far())

    def close(self) -> None:
        """End all jobs."""
        for command, thread, stop in self._jobs.values():
            stop.set()
            thread.join()
            command.close()
        self._jobs.clear()

    def _known(self, name: str) -> tuple[Command, threading.Thread, threading.Event]:
        if name not in self._jobs:
            raise WorkspaceError(f"There is no job {name!r}; there are: {', '.join(self._jobs) or 'none'}.")
        return self._jobs[name]


class _Either(threading.Event):
    """Set by itself, or by the other."""

    def __init__(self, other: threading.Event) -> None:
        super().__init__()
        self._other = other

    def is_set(self) -> bool:
        return super().is_set() or self._other.is_set()


def _at(file: IO[bytes], start: int, end: int) -> str:
    # by its place: the command writes at the file's own
    return os.pread(file.fileno(), end - start, start).decode(errors="replace")

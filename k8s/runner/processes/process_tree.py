"""Find and end every process that belongs to a turn, whatever it did to get away.

On Linux the process that holds a turn is a child subreaper (prctl(2)): whoever loses its parent becomes its child, so
all that a turn ever started stays below it, in whatever session or group and with whatever environment. The marker in
the environment (`GREENLOOP_MARKER`) finds the rest. Elsewhere there is no subreaper and no /proc: processes that left
both the tree and the group get away there (`COMPLETE` is False, and the runner says so when it starts).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

COMPLETE = sys.platform.startswith("linux")
MARKER_NAME = "GREENLOOP_MARKER"
SWEEP_SECONDS = 20.0
_PR_SET_CHILD_SUBREAPER = 36
_PROC = Path("/proc")


@dataclass(frozen=True)
class Process:
    """One line of the process table. `start`, in clock ticks since boot (0 if unknown), tells reused ids apart."""

    pid: int
    parent: int
    group: int
    dead: bool
    start: int


def become_subreaper() -> None:
    """Adopt every descendant that loses its parent. Raises OSError."""
    if COMPLETE:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def look_up(pid: int) -> Process | None:
    """The process with this id, zombies included; None when there is none."""
    if not COMPLETE:
        return table().get(pid)
    try:
        # the command stands in parentheses and may hold anything, spaces and parentheses too
        fields = (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return Process(pid, int(fields[1]), int(fields[2]), fields[0] in (b"Z", b"X"), int(fields[19]))


def table() -> dict[int, Process]:
    """All processes that can be seen."""
    if COMPLETE:
        found = (look_up(int(entry.name)) for entry in _PROC.iterdir() if entry.name.isdigit())
        return {process.pid: process for process in found if process is not None}
    listing = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,pgid=,stat="], capture_output=True, text=True, check=True)
    rows = (line.split(None, 3) for line in listing.stdout.splitlines())
    return {int(row[0]): Process(int(row[0]), int(row[1]), int(row[2]), "Z" in row[3], 0) for row in rows}


def below(processes: dict[int, Process], roots: Iterable[int]) -> set[int]:
    """The ids of all descendants of `roots`, without them."""
    children: dict[int, list[int]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process.pid)
    found: set[int] = set()
    todo = list(roots)
    while todo:
        for child in children.get(todo.pop(), ()):
            if child not in found:
                found.add(child)
                todo.append(child)
    return found


def carries(pid: int, entry: bytes) -> bool:
    """Whether `entry` ("NAME=value") stands in the environment that the process was started with."""
    try:
        return entry in (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def works_in(pid: int, folders: Collection[Path]) -> bool:
    """Whether the process's current directory is one of `folders` or below."""
    try:
        here = (_PROC / str(pid) / "cwd").readlink()
    except OSError:
        return False
    return any(folder == here or folder in here.parents for folder in folders)


def send(pid: int, number: int) -> bool:
    """Send a signal; False when the process is gone or not ours."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def reap(note: Callable[[int, int], None] | None = None) -> None:
    """Collect all children that have ended; `note(pid, wait status)` hears of each."""
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            if note is not None:
                note(pid, status)


def sweep(
    *,
    roots: Collection[int],
    marker: str | None = None,
    spare: Collection[int] = (),
    also: Callable[[Process], bool] | None = None,
    collect: Callable[[], None] = reap,
    seconds: float = SWEEP_SECONDS,
) -> tuple[set[int], set[int]]:
    """Kill all descendants of `roots`, all that carry `marker`, all that `also` picks, and the descendants of these.

    `spare` are processes to leave alone together with everything below them; the caller is spared, not what is below
    it. Freezes first and looks again until nobody new shows up, so that a process that forks as fast as it can is
    caught too. `collect` reaps the caller's children. Answers (killed, still alive after `seconds`).
    """
    entry = f"{MARKER_NAME}={marker}".encode() if marker else None

    def find() -> set[int]:
        processes = table()
        spared = below(processes, spare) | set(spare) | {os.getpid(), 0, 1}
        picked = below(processes, roots)
        for process in processes.values():
            if process.pid not in picked and (
                (entry and carries(process.pid, entry)) or (also is not None and also(process))
            ):
                picked.add(process.pid)
        picked |= below(processes, picked)
        return {pid for pid in picked - spared if pid in processes and not processes[pid].dead}

    killed: set[int] = set()
    found: set[int] = set()
    until = time.monotonic() + seconds
    quiet = 0
    while time.monotonic() < until:
        collect()
        found = find()
        if found:
            quiet = 0
            frozen: set[int] = set()
            while fresh := found - frozen:
                for pid in fresh:
                    send(pid, signal.SIGSTOP)
                frozen |= fresh
                found = find()
            killed.update(pid for pid in frozen if send(pid, signal.SIGKILL))
            time.sleep(0.005)
        elif os.getpid() in roots and _has_children():
            # too quick for a look at the whole table: one that forks and is gone, again and again
            for pid in _children():
                send(pid, signal.SIGSTOP)
        else:
            # a table is read entry by entry: a child born meanwhile of a parent that is gone by then shows in the next
            quiet += 1
            if quiet == 2:
                return killed, set()
    return killed, found


def _has_children() -> bool:
    """Whether the caller has a child. Orphans come to a subreaper: without children it has no descendants."""
    if not COMPLETE:
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _children() -> list[int]:
    """The caller's children, from one quick read."""
    try:
        return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
    except OSError:
        return []

"""The end of a turn: no process of it is left, nor what outlives processes, and the runner can read its files."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import time
from collections.abc import Callable
from pathlib import Path

from ..agent_files import DEEPEST
from ..processes import process_tree
from ..state import remove_tree
from . import kernel

END_SECONDS = 20.0
READABLE = 0o755
SHARED = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue")  # noqa: S108 - they are emptied
_ACLS = ("system.posix_acl_access", "system.posix_acl_default")


def kill_all(reap: Callable[[], int]) -> tuple[int, list[int]]:
    """As process 1 of a PID namespace: end everybody else. `reap` collects children and counts them.

    Answers how many there were, and who is still there after `END_SECONDS`. One signal suffices: the kernel sends it
    while nobody can be born.
    """
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    until = time.monotonic() + END_SECONDS
    count = reap()
    while _anybody() and time.monotonic() < until:
        time.sleep(0.001)
        count += reap()
    return count, sorted(set(process_tree.table()) - {1}) if _anybody() else []


def _anybody() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def empty_shared() -> None:
    """Delete what turns may leave outside of their home, in a container of our own."""
    kernel.remove_ipc()
    for place in SHARED:
        with contextlib.suppress(OSError):
            for entry in os.scandir(place):
                with contextlib.suppress(OSError):
                    remove_tree(Path(entry.path))


def make_readable(folder: Path, *, drop_acls: bool) -> None:
    """Let others read what is below `folder`, and `folder`. Links are left alone; nobody else is at work here any more.

    `drop_acls`: also take access control lists away, which could shut out just the runner.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except PermissionError:
        folder.chmod(0o700)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    with contextlib.suppress(OSError):
        _make_readable(descriptor, drop_acls, DEEPEST)


def _make_readable(descriptor: int, drop_acls: bool, depth: int) -> None:
    """The folder behind `descriptor`, which is closed."""
    try:
        os.fchmod(descriptor, stat.S_IMODE(os.fstat(descriptor).st_mode) | READABLE)
        with os.scandir(descriptor) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    mode = entry.stat(follow_symlinks=False).st_mode
                    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
                        continue
                    if drop_acls:
                        _drop_acls(f"/proc/self/fd/{descriptor}/{entry.name}")
                    if stat.S_ISREG(mode):
                        if mode & 0o444 != 0o444:
                            os.chmod(entry.name, stat.S_IMODE(mode) & 0o777 | 0o444, dir_fd=descriptor)
                    elif depth:
                        if mode & READABLE != READABLE:
                            os.chmod(entry.name, stat.S_IMODE(mode) | READABLE, dir_fd=descriptor)
                        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
                        _make_readable(os.open(entry.name, flags, dir_fd=descriptor), drop_acls, depth - 1)
    finally:
        os.close(descriptor)


def _drop_acls(path: str) -> None:
    for name in _ACLS:
        with contextlib.suppress(OSError):
            os.removexattr(path, name, follow_symlinks=False)

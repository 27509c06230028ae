"""The init of a container: starts the command, hands signals on, reaps orphans, and leaves nothing behind when it ends.

Run as a file with `python -I init.py COMMAND…`, standard library only. It stands for tini and for the pid namespace: as
a child subreaper it inherits every process that outlives its parent, and kills them all when the command has ended.
"""

import contextlib
import ctypes
import os
import signal
import sys
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
NOT_FOUND = 127


def descendants(root: int) -> list[int]:
    """Process ids of all descendants of `root`; empty where there is no /proc."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # The command in parentheses may hold anything; what follows the last one is fixed.
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found, todo = [], [root]
    while todo:
        children = parents.get(todo.pop(), [])
        found += children
        todo += children
    return found


def kill_tree(root: int) -> None:
    """Kill all descendants of `root`, and those that appear meanwhile; not `root` itself."""
    for _ in range(100):
        living = [pid for pid in descendants(root) if not _is_zombie(pid)]
        if not living:
            return
        for pid in living:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return True


def main(argv: list[str]) -> int:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        child = os.posix_spawnp(argv[0], argv, os.environ, setsigmask=[])
    except OSError as error:
        print(f"{argv[0]}: {error.strerror}", file=sys.stderr)
        return NOT_FOUND
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, lambda number, _: os.kill(child, number))
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            kill_tree(os.getpid())
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

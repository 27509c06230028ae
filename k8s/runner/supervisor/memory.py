"""What the kernel says of the memory of this container: its limit, and how many processes it killed for want of it.

By default a cluster on cgroup v2 kills a container whole; on cgroup v1, and where the kubelet's `singleProcessOOMKill`
is set, a single process: the container goes on, and of the reason only the group tells. Facts: `oom_kill` in
memory.events and memory.max in https://docs.kernel.org/admin-guide/cgroup-v2.html#memory-interface-files, and
memory.oom_control and memory.limit_in_bytes in https://docs.kernel.org/admin-guide/cgroup-v1/memory.html
"""

from __future__ import annotations

import contextlib
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")

# cgroup v1 says that there is no limit by the largest number of whole pages.
NO_LIMIT = 1 << 60


def oom_kills(groups: Path = GROUPS, own: Path = OWN) -> int:
    """How many processes of the group the kernel has killed since it was made; 0 where nothing counts them."""
    for name in ("memory.events", "memory.oom_control"):
        for line in _lines(groups, own, name):
            key, _, value = line.partition(" ")
            if key == "oom_kill" and value.isdigit():
                return int(value)
    return 0


def limit(groups: Path = GROUPS, own: Path = OWN) -> int | None:
    """Most bytes that the group may have; None without a limit, or where none is told."""
    for name in ("memory.max", "memory.limit_in_bytes"):
        for line in _lines(groups, own, name):
            if line.isdigit() and int(line) < NO_LIMIT:
                return int(line)
    return None


def _lines(groups: Path, own: Path, name: str) -> list[str]:
    """The lines of a file of our own group, under either version; empty where there is no such file."""
    for folder in _folders(groups, own):
        with contextlib.suppress(OSError):
            return (folder / name).read_text().splitlines()
    return []


def _folders(groups: Path, own: Path) -> list[Path]:
    # In a container a group's folder is mostly mounted as if it were the root, whatever its path outside is.
    found = []
    with contextlib.suppress(OSError):
        for line in own.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers:
                found.append(groups / path.lstrip("/"))
            elif "memory" in controllers.split(","):
                found.append(groups / "memory" / path.lstrip("/"))
    return [*found, groups, groups / "memory"]

"""What keeps the containers of a pod apart on this machine: namespaces by bubblewrap, and users where we are root.

A container sees the system of this machine for its image, and of its pod what it mounts, at the paths of its spec. What
is less than on a cluster is said in `lacks`: pods run all the same, and tests of what keeps containers apart skip.
"""

import functools
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from k8s.runner.processes.walls import BWRAP, Walls

Object = dict[str, Any]

IMAGE_USER = 1000
"""Of an image whose pod names no user."""
INIT = Path(__file__).with_name("init.py")


@dataclass(frozen=True)
class Mount:
    """A folder of this machine and where the container has it."""

    source: Path
    target: str
    read_only: bool


@dataclass(frozen=True)
class Isolation:
    """`works`: each container has processes and mounts of its own; `users`: it runs as the user that its pod names."""

    works: bool
    users: bool
    lacks: str

    @classmethod
    @functools.cache
    def of_this_machine(cls) -> Self:
        """What can be had here, found out by trying."""
        if os.geteuid() == 0 and _runs(cls(works=True, users=True, lacks="")):
            return cls(works=True, users=True, lacks="")
        if os.geteuid() != 0 and _runs(cls(works=True, users=False, lacks="")):
            lacks = "containers have namespaces of their own here, and one user: only root gives each another"
            return cls(works=True, users=False, lacks=lacks)
        lacks = (
            "the containers of a pod are processes side by side here: bubblewrap is missing, or may not make namespaces"
        )
        return cls(works=False, users=False, lacks=lacks)

    def argv(
        self, command: Sequence[str], mounts: Sequence[Mount], pod: Object, container: Object, folder: str
    ) -> list[str]:
        """`command` as the first process of the container, which starts in `folder`."""
        rights = {**(pod.get("securityContext") or {}), **(container.get("securityContext") or {})}
        user = int(rights.get("runAsUser") or IMAGE_USER)
        made = Walls(BWRAP, user if self.users else None, (str(INIT),)).argv([], command)
        at = made.index("--chdir")
        inner = made[at + 2 :]
        if self.users:
            inner[inner.index("--regid") + 1] = str(rights.get("runAsGroup") or user)
            if rights.get("fsGroup"):
                which = inner.index("--clear-groups")
                inner[which : which + 1] = ["--groups", str(rights["fsGroup"])]
        argv = made[:at]
        for mount in sorted(mounts, key=lambda mount: mount.target.count("/")):
            for parent in sorted(set(Path(mount.target).parents) - {Path("/")}):
                argv += ["--perms", "0755", "--dir", str(parent)]
            argv += ["--ro-bind" if mount.read_only else "--bind", str(mount.source), mount.target]
        if rights.get("readOnlyRootFilesystem"):
            argv += ["--remount-ro", "/"]
        return [*argv, "--chdir", folder, *inner]


def _runs(isolation: Isolation) -> bool:
    argv = isolation.argv([sys.executable, "-I", "-c", ""], [], {}, {}, "/")
    try:
        return subprocess.run(argv, capture_output=True, timeout=60, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False

"""What a local box is made of: a supervisor with its agents, behind the walls that this machine allows.

`bwrap` (bubblewrap) gives it a PID, mount, IPC and UTS namespace of its own, in which it sees the system read-only and
of its box only the agent's folder and what the runner gives. `unshare` (util-linux) gives the same where bubblewrap is
missing: the namespaces are its work, what is seen in them is `enclose`'s. `processes` is no wall: a supervisor like any
process of the user.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

BWRAP, UNSHARE, PROCESSES = "bwrap", "unshare", "processes"
KINDS = (BWRAP, UNSHARE, PROCESSES)
"""The better ones first."""

SYSTEM = ("/usr", "/etc", "/opt", "/nix", "/snap")
_SYSTEM_FOLDERS = tuple(f"{each}/" for each in SYSTEM)
_MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
RUNNER = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Walls:
    """How a box is walled in. `user`: the user and group id of its agents, where we are root. `readable`: paths beside
    the system's that its agents may read."""

    kind: str = PROCESSES
    user: int | None = None
    readable: tuple[str, ...] = ()

    def argv(self, binds: Sequence[tuple[Path, bool]], command: Sequence[str]) -> list[str]:
        """`command` behind the walls. `binds` are folders to be had there, and whether they may be written."""
        if self.kind == PROCESSES:
            return list(command)
        if self.kind == UNSHARE:
            return [*self._unshare(), *self._files(binds), "--", *self._without_privileges(command)]
        argv = ["bwrap", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--new-session"]
        argv += ["--cap-drop", "ALL"]
        if self.user is None:
            argv += ["--unshare-user"]
        else:
            argv += [part for name in ("SETUID", "SETGID", "SETPCAP") for part in ("--cap-add", f"CAP_{name}")]
            command = self._without_privileges(command)
        return [*argv, *self._files(binds), "--chdir", "/", "--as-pid-1", "--", *command]

    def _unshare(self) -> list[str]:
        argv = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child=KILL"]
        argv += ["--ipc", "--uts", "--cgroup"]
        if self.user is None:
            # under its own number, with the rights to mount in this namespace until `setpriv` takes them
            argv += ["--user", "--map-current-user", "--keep-caps"]
        return [*argv, "--", sys.executable, "-I", "-S", "-B", str(RUNNER), "enclose"]

    def _without_privileges(self, command: Sequence[str]) -> list[str]:
        """`command` without any; of a runner of root's as another user, as root of the machine may write /proc/sys."""
        user = ["--reuid", str(self.user), "--regid", str(self.user), "--clear-groups"] if self.user is not None else []
        return [
            "setpriv", *user, "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all", "--no-new-privs", "--",
            *command,
        ]  # fmt: skip

    def _files(self, binds: Sequence[tuple[Path, bool]]) -> list[str]:
        """What is to be had of the machine's files, as options of bubblewrap."""
        argv: list[str] = []
        for place in ("/tmp", "/var/tmp"):  # noqa: S108 - of the box
            argv += ["--perms", "1777", "--tmpfs", place]
        argv += ["--dir", "/run", "--proc", "/proc", "--dev", "/dev"]
        argv += ["--perms", "1777", "--tmpfs", "/dev/shm"]  # noqa: S108
        for path in SYSTEM:
            argv += ["--ro-bind-try", path, path]
        for name in _MERGED:
            top = Path("/", name)
            if top.is_symlink():
                argv += ["--symlink", str(top.readlink()), str(top)]
            else:
                argv += ["--ro-bind-try", str(top), str(top)]
        extra = self._extra([folder for folder, _ in binds])
        # by itself bubblewrap makes folders on the way that only their owner may pass
        on_the_way = {each for path in (*map(Path, extra), *(folder for folder, _ in binds)) for each in path.parents}
        for parent in sorted(on_the_way - {Path("/")}):
            argv += ["--perms", "0755", "--dir", str(parent)]
        for path in extra:
            argv += ["--ro-bind-try", path, path]
        for folder, writable in binds:
            argv += ["--bind" if writable else "--ro-bind", str(folder), str(folder)]
        return argv

    def _extra(self, folders: Sequence[Path]) -> list[str]:
        """What else is to be had; nothing in which the box lies, where its neighbours and the service would show."""
        wanted = dict.fromkeys([*_of_python(), *_on_path(os.environ.get("PATH", "")), *self.readable])
        around = {str(each) for folder in folders for each in folder.parents}
        wanted = {path: None for path in wanted if path not in around}
        # what is in a folder that is had is had with it
        within = (*_SYSTEM_FOLDERS, *(f"/{name}/" for name in _MERGED))
        return [path for path in wanted if not f"{path}/".startswith(within) and not wanted.keys() & _above(path)]

    def with_program(self, argv: Sequence[str]) -> Walls:
        """These walls, behind which the program of `argv` can be read: its file, or its package and those beside it.

        Only the first two words count, a program and its script: others may be what people asked for.
        """
        found = []
        for word in (shutil.which(argv[0]) or argv[0], *argv[1:2]):
            path = Path(word)
            if path.is_absolute() and path.is_file():
                before, modules, _ = str(path.resolve()).partition("/node_modules/")
                found += [word, before + modules.rstrip("/") if modules else str(path.resolve())]
        return replace(self, readable=(*self.readable, *found))

    def open(self, agent: Path, given: Path, skeleton: Path | None, held: int) -> socket.socket:
        """Start a supervisor for the box of these folders: our end of its connection. Raises OSError.

        The descriptor `held` stays open for as long as anything of the box runs.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        command = [sys.executable, "-I", "-S", "-B", str(RUNNER), "supervise", "--fd", str(theirs.fileno())]
        command += ["--agent", str(agent), "--given", str(given)]
        command += ["--skeleton", str(skeleton)] if skeleton else []
        command += ["--hold", str(held)]
        with theirs:
            subprocess.Popen(
                self.argv([(agent, True), (given, False)], command),
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=(theirs.fileno(), held),
                env={"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"}, start_new_session=True,
            ).returncode = 0  # whoever is above us reaps it  # fmt: skip
        return ours


def _of_python() -> list[str]:
    # what runs in boxes lies in one package, beside which the service may be installed as it is worked on
    return [str(RUNNER.parent), *{str(Path(each).resolve()) for each in (sys.prefix, sys.base_prefix)}, sys.prefix]


def _on_path(path: str) -> list[str]:
    """The folders of PATH, those above them where their programs only lead elsewhere there: npm's, pyenv's."""
    found = []
    for entry in path.split(os.pathsep):
        if Path(entry).is_absolute() and entry != "/":
            found += [str(Path(entry).parent)] if entry.endswith(("/node_modules/.bin", "/shims")) else [entry]
    return found


def _above(path: str) -> set[str]:
    return {str(parent) for parent in Path(path).parents}


def works(walls: Walls) -> bool:
    """Whether such walls can be put up here: tried with a program that does nothing."""
    if walls.kind == PROCESSES:
        return True
    try:
        tried = subprocess.run(walls.argv([], ["true"]), capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return tried.returncode == 0

"""The supervisor itself: does what the runner asks for over one socket, and nothing that anybody else asks for.

Where it is process 1 of a PID namespace (in a pod's container, in a local box with walls) it ends a turn with one
signal. Elsewhere it is a child subreaper and ends what is below it or carries the turn's marker.

Messages are JSON, a line each. The runner asks `{"id", "op", …}` and hears `{"id", …}`:

    prepare  {files, workdir, checkout}        -> {said} or {error, kind}: a fresh home, filled
    run      {argv, env, folder, marker} + stdin, stdout, stderr as descriptors
                                               -> {pid, seen} or {errno}; later, without an id, {ended, usage}
    signal   {number}                          -> {}: to the agent's process group
    end      {}                                -> {swept, left, oom_kills, memory_limit}: nothing of the turn runs, its
                                                  files can be read
    clear    {}                                -> {}: no file of the turn is left

The end of the connection ends the turn and the supervisor.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import selectors
import signal
import socket
import traceback
from pathlib import Path
from typing import Any, NoReturn

from ..git.checkout import CheckoutFailed, check_out
from ..git.command import GitError
from ..processes import process_tree
from . import ending, fresh_home, kernel, memory

PIECE = 1024 * 1024
PROCESSES = 4096
"""How many processes and threads an agent of a local box may have; a pod's limit is the cluster's affair."""

_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
_HANDED_BACK = (*_IGNORED, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD)


class Supervisor:
    """Serves one connection. `local`: the box shares network and machine with its service."""

    def __init__(
        self, connection: socket.socket, agent: Path, given: Path, skeleton: Path | None, *, local: bool
    ) -> None:
        self._connection = connection
        self._agent = agent
        self._given = given
        self._skeleton = skeleton
        self._local = local
        self._first = os.getpid() == 1
        self._selector = selectors.DefaultSelector()
        self._buffer = b""
        self._descriptors: list[int] = []
        self._process = 0
        self._preparing = 0
        self._oom_kills = 0
        self._marker: str | None = None
        self._open = True

    def run(self) -> list[int]:
        """Serve until the connection ends, then end what there is: who is left all the same."""
        wake_read, wake_write = os.pipe()
        for descriptor in (wake_read, wake_write):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        if not self._first:
            process_tree.become_subreaper()
        self._selector.register(self._connection, selectors.EVENT_READ, self._hear)
        self._selector.register(wake_read, selectors.EVENT_READ, self._woken)
        try:
            while self._open:
                for key, _ in self._selector.select():
                    key.data(key.fd)
        finally:
            _, left = self._kill()
        return left

    def _woken(self, descriptor: int) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(descriptor, 4096)
        self._reap()

    def _reap(self) -> int:
        count = 0
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
                if pid == 0:
                    break
                count += pid != self._process
                if pid == self._process:
                    self._process = 0
                    seconds, size = usage.ru_utime + usage.ru_stime, usage.ru_maxrss
                    self._say({"ended": status, "usage": [round(seconds, 3), size * (1024 if kernel.LINUX else 1)]})
        return count

    def _collect(self) -> None:
        self._reap()

    def _say(self, message: dict[str, Any]) -> None:
        try:
            self._connection.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            self._open = False

    def _hear(self, _: int) -> None:
        try:
            data, descriptors, _flags, _address = socket.recv_fds(self._connection, PIECE, 3)
        except OSError:
            data, descriptors = b"", []
        self._descriptors += descriptors
        if not data:
            self._open = False
            return
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            answer = getattr(self, f"_op_{message['op']}")(message)
            if answer is not None:
                self._say({"id": message["id"], **answer})

    def _op_prepare(self, message: dict[str, Any]) -> None:
        """In a child: it may take long, and we have to notice when nobody wants it any more."""
        read, write = os.pipe()
        self._preparing = os.fork()
        if self._preparing == 0:
            code = 1
            try:
                os.close(read)
                with os.fdopen(write, "w") as told:
                    told.write(json.dumps({"id": message["id"], **self._prepare(message)}))
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(write)
        self._selector.register(read, selectors.EVENT_READ, lambda _: self._prepared(message["id"], read))

    def _prepared(self, number: int, read: int) -> None:
        self._selector.unregister(read)
        with os.fdopen(read) as told:
            answer = told.read()
        self._say(json.loads(answer) if answer else {"id": number, "error": "its preparation died", "kind": "system"})

    def _prepare(self, message: dict[str, Any]) -> dict[str, Any]:
        os.umask(0o077)
        for number in _HANDED_BACK:
            signal.signal(number, signal.SIG_DFL)
        try:
            home = fresh_home.make(self._agent, self._skeleton)
            workdir = home / message["workdir"]
            workdir.mkdir(mode=0o700, parents=True, exist_ok=True)
            about = message["checkout"]
            said = check_out(workdir, self._given / "repos" / about["store"], about) if about else ""
            fresh_home.fill(home, self._given / "turn", message["files"])
        except CheckoutFailed as error:
            return {"error": str(error), "kind": "checkout"}
        except GitError as error:
            return {"error": str(error), "kind": "git"}
        except OSError as error:
            return {"error": str(error), "errno": error.errno, "kind": "system"}
        return {"said": said}

    def _op_run(self, message: dict[str, Any]) -> dict[str, Any]:
        streams, self._descriptors = self._descriptors, []
        self._marker = message["marker"]
        self._oom_kills = memory.oom_kills()
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            self._become_agent(message, streams, write)
        for descriptor in (*streams, write):
            os.close(descriptor)
        with os.fdopen(read) as failed:
            number = failed.read()
        if number:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
            return {"errno": int(number)}
        self._process = pid
        return {"pid": pid, "seen": not self._first}

    def _become_agent(self, message: dict[str, Any], streams: list[int], failed: int) -> NoReturn:
        try:
            signal.set_wakeup_fd(-1)
            for number in _HANDED_BACK:
                # what is ignored stays ignored in a program that is started, and INT has to reach it
                signal.signal(number, signal.SIG_DFL)
            os.setsid()
            for target, descriptor in enumerate(streams):
                os.dup2(descriptor, target)
            failed = os.dup2(failed, 3, inheritable=False)
            os.closerange(4, 65536)
            os.umask(0o077)
            with contextlib.suppress(OSError):
                # where memory runs out, the agent goes before the runner
                Path("/proc/self/oom_score_adj").write_text("500")
            if self._local and self._first:
                hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
                most = PROCESSES if hard == resource.RLIM_INFINITY else min(PROCESSES, hard)
                resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
            os.chdir(message["folder"])
            if self._first:
                kernel.confine(scoped=self._local)
            os.execvpe(message["argv"][0], message["argv"], message["env"])  # noqa: S606
        except OSError as error:
            os.write(failed, str(error.errno or 5).encode())
        except BaseException:
            os.write(failed, b"22")
        os._exit(127)

    def _op_signal(self, message: dict[str, Any]) -> dict[str, Any]:
        if self._process:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process, message["number"])
        return {}

    def _op_end(self, _: dict[str, Any]) -> dict[str, Any]:
        swept, left = self._kill()
        if self._first and not self._local:
            # a local box is gone by itself, and its own folders may well lie below /tmp
            ending.empty_shared()
        ending.make_readable(self._agent / "home", drop_acls=self._first and not self._local)
        if left:
            self._open = False  # what cannot be ended must not see another turn
        killed = memory.oom_kills() - self._oom_kills
        return {"swept": swept, "left": left, "oom_kills": killed, "memory_limit": memory.limit()}

    def _op_clear(self, _: dict[str, Any]) -> dict[str, Any]:
        self._kill()  # a preparation that nobody waits for any more, say
        with contextlib.suppress(OSError):
            fresh_home.clear(self._agent)
        return {}

    def _kill(self) -> tuple[int, list[int]]:
        """End all processes of the turn: how many outlived the agent, and who cannot be killed."""
        agent = self._process
        if self._first:
            return ending.kill_all(self._reap)
        killed, left = process_tree.sweep(roots=[os.getpid()], marker=self._marker, collect=self._collect)
        self._marker = None
        return len(killed - {agent}), sorted(left)


def ignore_signals() -> None:
    """Asked for over the socket, or not at all: what an agent can send must not end its supervisor."""
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)

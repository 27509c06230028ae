"""Keep one agent: have it started in its box, feed it, take what it prints, end it in time, and all of it.

This is a process of its own, with nothing else to do, so that no network and no other turn can hold it up. It goes on
when the rest of the runner is killed. Whoever reports the turn watches its lock and reads `ended.json`. SIGTERM asks it
to end the agent.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import selectors
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..state import TurnState, lock, sign
from . import process_tree
from .agent_box import ANSWER_SECONDS, AgentBox, BoxLost
from .capture import Capture

# from the first signal: INT lets a CLI write its last event, TERM is for those that ignore it (one needs it twice)
STEPS = ((0.0, signal.SIGINT), (1.5, signal.SIGTERM), (2.2, signal.SIGTERM))
GRACE_SECONDS = 3.0
SILENT_SECONDS = 5.0
"""How long a supervisor that answered none of those signals is waited for: it is stopped, or hangs."""
DRAIN_SECONDS = 0.4
"""How long, once the agent has ended, helpers that still hold its output (`tee`) may take to write the rest."""

STDERR_LIMIT = 1_000_000
BALLAST_BYTES = 64 * 1024
PIPE_BYTES = 1024 * 1024

EXITED = "exited"
DEADLINE = "deadline"
ASKED = "asked"
NOT_STARTED = "not_started"
LOST = "lost"
"""Nobody saw it: the keeper was killed, or the supervisor was, or is stopped."""


@dataclass(frozen=True)
class Task:
    """What to run: everything absolute and ready."""

    argv: list[str]
    env: dict[str, str] = field(repr=False)
    folder: Path
    stdin: bytes = field(repr=False)
    marker: str
    seconds: float
    output_bytes: int


def start(state: TurnState, task: Task, box: AgentBox) -> int:
    """Fork a keeper for `task` in `box`: its process id. From here on the turn counts as begun."""
    # taken before the fork, so that there is no moment at which the supervisor lives and the lock is free; waited for,
    # since whoever looks whether it is held has it for that moment
    held = lock(state.supervisor, wait=True)
    # nor one at which a request to end the agent meets the handler of the process we were forked from
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            _become_keeper(held, box.fileno())
            keeper = _Keeper(state, task, box)
            keeper.listen()
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            keeper.run()
            code = 0
        except BoxLost as lost:
            # how the agent ended is not known: whoever reports the turn finds no word of it, and looks for remains
            _note_failure(state, lost)
        except BaseException as error:
            _note_failure(state, error)
        finally:
            os._exit(code)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    os.close(held)
    return pid


def _note_failure(state: TurnState, error: BaseException) -> None:
    with contextlib.suppress(BaseException):
        (state.path / "supervisor.error").write_text(f"{type(error).__name__}: {error}")


def _become_keeper(held: int, box: int) -> None:
    os.setsid()
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        # handled, not ignored: what is ignored stays ignored in the agent, and INT has to reach it
        signal.signal(number, lambda *_: None)
    # locks and connections of the process we were forked from must end with it
    for descriptor in [int(path.name) for path in Path("/dev/fd").iterdir()]:
        if descriptor > 2 and descriptor not in (held, box):
            with contextlib.suppress(OSError):
                os.close(descriptor)
    sign(held)


class _Keeper:
    def __init__(self, state: TurnState, task: Task, box: AgentBox) -> None:
        self._state = state
        self._task = task
        self._box = box
        self._selector = selectors.DefaultSelector()
        self._captures: dict[int, Capture] = {}
        self._status: int | None = None
        self._usage: tuple[float, int] = (0.0, 0)
        self._asked = False
        self._signalled: set[int] = set()
        self._feed = memoryview(task.stdin)

    def run(self) -> None:
        ballast = self._state.path / "ballast"
        with contextlib.suppress(OSError):
            ballast.write_bytes(bytes(BALLAST_BYTES))
        stdout = Capture(self._state.stdout, self._task.output_bytes)
        stderr = Capture(self._state.stderr, STDERR_LIMIT)
        try:
            end = self._run(stdout, stderr)
        finally:
            stdout.finish()
            stderr.finish()
        end["disk_full"] = stdout.disk_full or stderr.disk_full
        # a full disk must not keep us from saying so
        ballast.unlink(missing_ok=True)
        self._state.note_end(end)

    def _run(self, stdout: Capture, stderr: Capture) -> dict[str, Any]:
        try:
            self._begin(stdout, stderr)
        except BoxLost:
            raise
        except (OSError, ValueError) as error:
            return {"how": NOT_STARTED, "message": why_not(error, self._task)}
        return self._keep()

    def listen(self) -> None:
        """Wake up for signals from here on; SIGTERM asks for the end."""
        wake_read, wake_write = os.pipe()
        for descriptor in (wake_read, wake_write):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, self._ask)
        self._selector.register(wake_read, selectors.EVENT_READ, self._woken)

    def _begin(self, stdout: Capture, stderr: Capture) -> None:
        (theirs, stdin), (out, out_end), (err, err_end) = os.pipe(), os.pipe(), os.pipe()
        given = (theirs, out_end, err_end)
        for descriptor in given:
            # a pipe is its maker's, and agents may be another user: without this /dev/stderr would not open for them
            os.fchmod(descriptor, 0o666)
        try:
            answer = self._box.ask(
                "run", descriptors=given, other=self._heard,
                argv=self._task.argv, env=self._task.env, folder=str(self._task.folder), marker=self._task.marker,
            )  # fmt: skip
        finally:
            for descriptor in given:
                os.close(descriptor)
        if "errno" in answer:
            raise OSError(answer["errno"], os.strerror(answer["errno"]))
        if answer["seen"]:
            found = process_tree.look_up(answer["pid"])
            with contextlib.suppress(OSError):
                # on a full disk it goes without: only a runner that finds no keeper asks for it
                self._state.note_agent(answer["pid"], found.start if found else 0)
        for descriptor, capture in ((out, stdout), (err, stderr)):
            os.set_blocking(descriptor, False)
            with contextlib.suppress(OSError, AttributeError):
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            self._captures[descriptor] = capture
            self._selector.register(descriptor, selectors.EVENT_READ, self._take)
        os.set_blocking(stdin, False)
        self._selector.register(stdin, selectors.EVENT_WRITE, self._give)
        self._selector.register(self._box.fileno(), selectors.EVENT_READ, self._listen_to_box)
        # what came together with the answer is here already, and wakes nobody
        self._listen_to_box(self._box.fileno())

    def _listen_to_box(self, _: int) -> None:
        while (said := self._box.receive(0)) is not None:
            self._heard(said)

    def _heard(self, said: dict[str, Any]) -> None:
        if "ended" in said:
            self._status, self._usage = said["ended"], (said["usage"][0], said["usage"][1])
        self._signalled.discard(said.get("id", 0))

    def _ask(self, *_: object) -> None:
        self._asked = True

    def _woken(self, descriptor: int) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(descriptor, 4096)

    def _take(self, descriptor: int) -> None:
        try:
            data = os.read(descriptor, PIPE_BYTES)
        except BlockingIOError:
            return
        if data:
            self._captures[descriptor].write(data)
        else:
            self._drop(descriptor)
            del self._captures[descriptor]

    def _give(self, descriptor: int) -> None:
        try:
            if self._feed:
                self._feed = self._feed[os.write(descriptor, self._feed[:65536]) :]
        except BlockingIOError:
            return
        except OSError:
            # the agent does not want to read it all
            self._feed = self._feed[:0]
        if not self._feed:
            self._drop(descriptor)

    def _drop(self, descriptor: int) -> None:
        self._selector.unregister(descriptor)
        os.close(descriptor)

    def _turn_around(self, until: float) -> None:
        """Handle what happens, up to `until` or the next thing that does."""
        for key, _ in self._selector.select(max(0.0, until - time.monotonic())):
            key.data(key.fd)

    def _keep(self) -> dict[str, Any]:
        deadline = time.monotonic() + self._task.seconds
        while self._status is None and not self._asked and time.monotonic() < deadline:
            self._turn_around(deadline)
        how = EXITED if self._status is not None else ASKED if self._asked else DEADLINE
        if self._status is None:
            self._end_agent()
        settled = time.monotonic() + DRAIN_SECONDS
        while self._captures and time.monotonic() < settled and how == EXITED:
            self._turn_around(settled)
        silent = len(self._signalled) == len(STEPS)
        swept = self._box.ask("end", other=self._heard, seconds=SILENT_SECONDS if silent else ANSWER_SECONDS)
        # nobody is left to write: what is in the pipes is all there is, unless something survived
        settled = time.monotonic() + DRAIN_SECONDS
        while self._captures and time.monotonic() < settled:
            self._turn_around(settled)
        code = None if self._status is None else os.waitstatus_to_exitcode(self._status)
        return {
            "how": how,
            "exit_code": code,
            "swept": swept["swept"],
            "left": swept["left"],
            "oom_kills": swept["oom_kills"],
            "memory_limit": swept["memory_limit"],
            "cpu_seconds": self._usage[0],
            "max_rss": self._usage[1],
        }

    def _end_agent(self) -> None:
        began = time.monotonic()
        for after, number in STEPS:
            while self._status is None and time.monotonic() < began + after:
                self._turn_around(began + after)
            if self._status is None:
                self._signalled.add(self._box.send("signal", number=int(number)))
        while self._status is None and time.monotonic() < began + GRACE_SECONDS:
            self._turn_around(began + GRACE_SECONDS)


def why_not(error: Exception, task: Task) -> str:
    """Why the agent did not start, and what to do, in words."""
    program = task.argv[0]
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.ENOENT and not task.folder.is_dir():
        return f"The working directory {task.folder} is gone."
    if number == errno.ENOENT:
        where = (
            f"PATH is {task.env.get('PATH')}"
            if "/" not in program
            else "nothing is there, or its interpreter is missing"
        )
        return (
            f"The agent {program!r} is not in this box ({where}). Install it in the box's image or name its full path."
        )
    if number == errno.EACCES:
        return f"The agent {program!r} may not be executed: permission denied. Make it executable (chmod +x)."
    if number == errno.ENOEXEC:
        return f"The agent {program!r} is no program for this machine, or a script without a #! line."
    if number == errno.E2BIG:
        return f"The command line or environment of {program!r} is too long for the system; long texts belong on stdin."
    return f"The agent {program!r} could not be started: {error}."

"""What a turn has changed so far, told while its agent works: a box that is lost takes only what came later with it.

A look is a process of its own, which reads the checkout as the report at the end does: it follows no link and waits for
no file, and has so many seconds, bytes of memory and entries. Whatever an agent puts there: its turn, its output and
its end wait for no look.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path

from . import protocol
from .files import Places
from .git.changes import ChangesTooLarge, TooMany
from .git.command import GitError
from .processes import process_tree
from .protocol import AssignedTurn, ProtocolError, Result
from .reporting import Reporter
from .service.link import Gone, Link, Rejected
from .service.shipping import Shipping
from .state import Home, TurnState, remove_tree

LOOK_SECONDS = 60.0
"""How long one look may take, with what it tells."""
LAST_SECONDS = 10.0
"""How long the last look may take, at a box whose agent is gone."""
GRACE_SECONDS = 5.0
SHARE = 20
"""The pause after a look is at least so many times what it took: a large checkout is looked at less often."""
ENTRIES = 500_000
MEMORY_BYTES = 512 * 1024 * 1024
NICE = 10
TOLD, UNTOLD, UNWANTED = 0, 1, 2


class _Over(BaseException):
    """The look is over: its time is, or the turn."""


class WorkSoFar:
    """The looks at one turn's checkout, for whoever follows its agent."""

    def __init__(
        self, home: Home, link: Link, state: TurnState, places: Places, turn: AssignedTurn, log: Callable[[str], None]
    ) -> None:
        self._home, self._link, self._state = home, link, state
        self._places, self._turn, self._log = places, turn, log
        self._wanted = turn.work_seconds > 0 and turn.repository is not None
        self._due = time.monotonic() + turn.work_seconds if self._wanted else math.inf
        self._looking: int | None = None
        self._began = 0.0
        self._vain = 0

    def look(self) -> None:
        """Begin a look that is due, or see how far one is. Waits for nothing."""
        now = time.monotonic()
        if self._looking is None:
            if now >= self._due:
                self._begin(LOOK_SECONDS)
            return
        code = _ended(self._looking)
        if code is not None:
            self._looking = None
            self._vain = self._vain + 1 if code == UNTOLD else 0
            pause = max(self._turn.work_seconds, SHARE * (now - self._began)) * 2 ** min(self._vain, 6)
            self._due = math.inf if code == UNWANTED else now + pause
        elif now > self._began + LOOK_SECONDS + GRACE_SECONDS:
            process_tree.send(self._looking, signal.SIGKILL)

    def end(self) -> None:
        """End the look under way: what the turn comes to is told by its report."""
        self._due = math.inf
        if self._looking is not None:
            process_tree.send(self._looking, signal.SIGTERM)
            self._wait(GRACE_SECONDS)

    def last(self) -> None:
        """Look once more, and wait for it: nobody reports this turn any more."""
        if self._wanted:
            self._begin(LAST_SECONDS)
            self._wait(LAST_SECONDS + GRACE_SECONDS)

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while self._looking is not None and _ended(self._looking) is None:
            if time.monotonic() >= until:
                # one that the system does not let go of is left to it
                process_tree.send(self._looking, signal.SIGKILL)
                break
            time.sleep(0.01)
        self._looking = None

    def _begin(self, seconds: float) -> None:
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
        self._began = time.monotonic()
        pid = os.fork()
        if pid == 0:
            code = UNTOLD
            try:
                _become_looker(seconds)
                signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
                code = self._tell()
            except (TooMany, ChangesTooLarge, GitError, OSError, Rejected, ProtocolError, MemoryError) as error:
                self._log(f"its work so far is not told: {str(error) or type(error).__name__}")
            except _Over as over:
                self._log(f"its work so far is not told: {over}")
            finally:
                os._exit(code)
        self._looking = pid
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def _tell(self) -> int:
        assert self._turn.repository is not None  # noqa: S101 - told to the type checker
        link = self._link.another()
        reporter = Reporter(self._home, link, self._state, Shipping(link, self._state, math.inf))
        try:
            found = reporter.so_far(self._places, self._turn, self._turn.repository, ENTRIES)
            return TOLD if tell(link, self._state, found) else UNWANTED
        except Gone:
            return UNWANTED
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            with contextlib.suppress(OSError):
                remove_tree(self._state.path / f"git.{os.getpid()}")


def tell(link: Link, state: TurnState, result: Result) -> bool:
    """Tell the service what `result` says of the checkout, unless it knows. False where the turn is over.

    Raises `Rejected`, `RefusedByService`.
    """
    work = Result(
        protocol.WORKING, base=result.base, changes=result.changes, diff=result.diff, left_out=result.left_out
    )
    body = protocol.to_json(work)
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    noted = state.noted("work")
    if (noted or {}).get("digest") == digest or (noted is None and not work.changes):
        return True
    try:
        link.call("PUT", f"/turns/{state.id}/work", body)
    except Gone:
        return False
    state.note("work", {"digest": digest})
    return True


def _ended(pid: int) -> int | None:
    """The exit code of a look, None while it goes on."""
    try:
        done, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return UNTOLD  # reaped among others
    if not done:
        return None
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else UNTOLD


def _become_looker(seconds: float) -> None:
    def over(number: int, _: object) -> None:
        raise _Over(f"it took over {seconds:g} s" if number == signal.SIGALRM else "the turn ends")

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
        signal.signal(number, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    # locks and connections of the process we were forked from must end with it
    for descriptor in [int(path.name) for path in Path("/dev/fd").iterdir()]:
        if descriptor > 2:
            with contextlib.suppress(OSError):
                os.close(descriptor)
    with contextlib.suppress(OSError, ValueError):
        os.nice(NICE)
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))

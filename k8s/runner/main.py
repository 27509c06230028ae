"""The runner itself: ask the service for a turn, have it run by a process of its own, ask again.

    python3 -I -B RUNNER --service URL --box NAME --home DIR --token-file FILE

Exit codes: 0 asked to stop, or the service was away too long; 2 misuse; 3 the token is refused; 4 another runner
holds the home; 5 the agent's container is gone, or did not come.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from . import protocol
from .processes import process_tree
from .processes.agent_container import AgentContainer, NoSupervisor, give_folder
from .processes.agent_place import AgentPlace, LocalPlace
from .processes.walls import KINDS, PROCESSES, Walls
from .protocol import AssignedTurn, ProtocolError
from .service.link import FIRST_PAUSE, LONGEST_PAUSE, Link, RefusedByService, Unreachable, jittered
from .state import Held, Home, TurnState, held, lock, sign, signed
from .turn import TurnRun

VERSION = "2"
STOPPED, REFUSED, HOME_HELD, ALONE = 0, 3, 4, 5
CRASHES = 5
"""How often one turn may bring its reporter down before it is given up."""

STOP_SECONDS = 20.0
"""How long turns may take to report when the box is being stopped."""

LOCK_SECONDS = 1.0


@dataclass(frozen=True)
class RunnerOptions:
    """How a runner was started."""

    service: str
    box: str
    home: Path
    token_file: Path
    walls: Walls = field(default_factory=Walls)
    socket: Path | None = None
    agent_user: int | None = None
    skeleton: Path | None = None
    orphan_seconds: float = 900.0
    beat_seconds: float = 2.0
    keep_days: float = 7.0
    detach: bool = False


class _Stop(BaseException):
    """SIGTERM or SIGINT; raised by the handler, so that it ends a long poll too."""


def read_options(arguments: list[str], env: Mapping[str, str]) -> RunnerOptions:
    """Options from the command line, or else from `GREENLOOP_…`. Exits 2 with usage when something is missing."""
    parser = argparse.ArgumentParser(prog="runner", description="Runs the turns of one Greenloop box.")
    for name, variable, about in (
        ("service", "GREENLOOP_SERVICE", "URL of the service"),
        ("box", "GREENLOOP_BOX", "name of this box"),
        ("home", "GREENLOOP_HOME", "where the box keeps what lasts"),
        ("token-file", "GREENLOOP_BOX_TOKEN_FILE", "file with the box token"),
    ):
        preset = env.get(variable)
        parser.add_argument(f"--{name}", default=preset, required=not preset, help=f"{about} (or {variable})")
    parser.add_argument("--walls", choices=KINDS, default=PROCESSES, help="what agents run behind")
    parser.add_argument("--user", type=int, help="the user and group id of agents behind walls, for a runner of root's")
    parser.add_argument("--readable", action="append", default=[], help="a path that agents behind walls may read")
    parser.add_argument(
        "--socket", type=Path, default=env.get("GREENLOOP_AGENT_SOCKET") or None,
        help="where the supervisor of the agent's container connects, in a pod (or GREENLOOP_AGENT_SOCKET)",
    )  # fmt: skip
    parser.add_argument(
        "--agent-user", type=int, default=env.get("GREENLOOP_AGENT_USER") or None,
        help="the user id of that container (or GREENLOOP_AGENT_USER)",
    )  # fmt: skip
    parser.add_argument("--skeleton", type=Path, help="what each turn's home begins with")
    parser.add_argument(
        "--orphan-seconds", type=float, default=900.0,
        help="exit when the service was unreachable this long and no turn runs (default %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--beat-seconds", type=float, default=2.0,
        help="longest silence of a turn, and how long a cancel may go unheard (default %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--keep-days", type=float, default=float(env.get("GREENLOOP_KEEP_DAYS") or 7.0),
        help="delete checkouts that no turn has used for this long (or GREENLOOP_KEEP_DAYS; default %(default)s)",
    )  # fmt: skip
    parser.add_argument("--detach", action="store_true", help="go on in the background once the home is held")
    given = parser.parse_args(arguments)
    return RunnerOptions(
        service=given.service,
        box=given.box,
        home=Path(given.home),
        token_file=Path(given.token_file),
        walls=Walls(given.walls, given.user, tuple(given.readable)),
        socket=given.socket,
        agent_user=given.agent_user,
        skeleton=given.skeleton,
        orphan_seconds=given.orphan_seconds,
        beat_seconds=given.beat_seconds,
        keep_days=given.keep_days,
        detach=given.detach,
    )


def log(box: str, line: str) -> None:
    """One line to stderr."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"{now} runner box={box} {line}\n")
        sys.stderr.flush()


@dataclass
class _Running:
    turn_id: str
    turn: AssignedTurn | None
    crashes: int = 0


class Runner:
    """Holds one home, and the reporters of its turns. One thread, so that it may fork at any time."""

    def __init__(self, options: RunnerOptions) -> None:
        self._options = options
        self._home = Home(options.home)
        self._running: dict[int, _Running] = {}
        self._lock = -1
        self._link = Link(options.service, options.token_file)
        self._place: AgentPlace = LocalPlace(self._home, options.walls, options.skeleton)
        self._refused = False

    def _log(self, line: str) -> None:
        log(self._options.box, line)

    def run(self) -> int:
        """Serve until told to stop: the exit code."""
        self._home.make()
        try:
            self._lock = self._take_home()
            if self._options.detach and (child := os.fork()):
                # the lock stays with the child, and names it before whoever started us looks
                sign(self._lock, child)
                os._exit(STOPPED)
        except Held:
            self._log(f"home={self._home.path} is held by the runner with pid {signed(self._home.root / 'lock')}")
            return HOME_HELD
        sign(self._lock)
        process_tree.become_subreaper()
        if not process_tree.COMPLETE:
            self._log(
                f"platform={sys.platform} has no child subreaper: processes that leave tree and group may survive"
            )
        signal.signal(signal.SIGTERM, self._on_stop)
        signal.signal(signal.SIGINT, self._on_stop)
        self._log(f"version={VERSION} pid={os.getpid()} home={self._home.path} service={self._options.service}")
        try:
            if self._options.socket is not None:
                give_folder(self._home.agent)
                self._place = AgentContainer.accept(self._options.socket, self._options.agent_user, self._log)
            for state in self._home.turn_states():
                self._start(_Running(state.id, None))
            return self._serve()
        except _Stop:
            return self._stop()
        except RefusedByService as refused:
            self._log(f"token refused: {refused}")
            return REFUSED
        except NoSupervisor as nobody:
            self._log(str(nobody))
            return ALONE

    def _take_home(self) -> int:
        # the runner before us may be on its way out
        until = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                return lock(self._home.root / "lock")
            except Held:
                if time.monotonic() >= until:
                    raise
                time.sleep(0.1)

    def _on_stop(self, *_: object) -> None:
        raise _Stop

    def _serve(self) -> int:
        pause, refused = FIRST_PAUSE, None
        while True:
            self._collect(wait=bool(self._running))
            if self._refused:
                return REFUSED
            if self._running:
                continue
            if self._place.lost or not self._place.is_there():
                self._log("the agent's container is gone: this box ends, the next one goes on with its home")
                return ALONE
            try:
                status, answer = self._poll()
            except Unreachable as error:
                away = time.monotonic() - self._link.last_answer
                if away >= self._options.orphan_seconds:
                    self._log(f"the service has been unreachable for {away:.0f} s: {error}")
                    return STOPPED
                pause = self._rest(pause)
                continue
            if status in (401, 403):
                refused = self._link.refused(refused)
                pause = self._rest(pause)
                continue
            refused = None
            if status == 200:
                pause = FIRST_PAUSE if self._take(answer) else self._rest(pause)
            elif status == 204:
                pause = FIRST_PAUSE
            else:
                self._log(f"unexpected answer to next: {status} {answer[:200]!r}")
                pause = self._rest(pause)

    @staticmethod
    def _rest(pause: float) -> float:
        time.sleep(jittered(pause))
        return min(pause * 2, LONGEST_PAUSE)

    def _poll(self) -> tuple[int, bytes]:
        return self._link.once(
            "POST",
            f"/boxes/{self._options.box}/next",
            {"runner": {"version": VERSION, "turn": None, "turns": []}},
            seconds=protocol.POLL_SECONDS + 10,
        )

    def _take(self, answer: bytes) -> bool:
        try:
            turn = protocol.turn_from_json(json.loads(answer))
        except (ProtocolError, ValueError) as error:
            self._log(f"a turn that breaks the protocol: {error}")
            return False
        self._start(_Running(turn.turn, turn))
        return True

    # reporters

    def _start(self, running: _Running) -> None:
        # a fork must share no connection
        self._link.close()
        siblings = set(self._running)
        mother = os.getpid()
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                code = self._report(running, mother, siblings, blocked)
            except BaseException as error:
                self._log(f"turn={running.turn_id} reporter failed: {type(error).__name__}: {error}")
            finally:
                os._exit(code)
        self._running[pid] = running
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def _report(self, running: _Running, mother: int, siblings: set[int], mask: set[int | signal.Signals]) -> int:
        os.close(self._lock)
        process_tree.become_subreaper()
        state = TurnState(self._home, running.turn_id)
        token = running.turn.token if running.turn else state.token()
        link = Link(self._options.service, self._options.token_file, token)
        turn_run = TurnRun(
            self._home,
            link,
            running.turn_id,
            self._place,
            lambda line: self._log(f"turn={running.turn_id} {line}"),
            self._options.beat_seconds,
            self._options.keep_days * 86400,
        )
        signal.signal(signal.SIGTERM, turn_run.stop)
        signal.signal(signal.SIGINT, turn_run.stop)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)

        def strays() -> tuple[set[int], set[int]]:
            others = [state.supervisor for state in self._home.turn_states() if state.id != running.turn_id]
            supervisors = {pid for path in others if held(path) for pid in [signed(path)] if pid}
            return {mother, os.getpid()}, siblings | supervisors

        try:
            turn_run.run(running.turn, strays)
        except RefusedByService as refused:
            self._log(f"turn={running.turn_id} token refused: {refused}")
            return REFUSED
        return ALONE if self._place.lost else 0

    def _collect(self, *, wait: bool) -> None:
        """Reap what has ended; with `wait`, at least one reporter, if there is any."""
        while self._running:
            pid, status = os.waitpid(-1, 0 if wait else os.WNOHANG)
            if pid == 0:
                return
            running = self._running.pop(pid, None)
            if running is None:
                continue
            wait = False
            code = os.waitstatus_to_exitcode(status)
            if code == REFUSED:
                self._refused = True
            elif code == ALONE:
                self._place.lost = True
            elif code != 0:
                self._recover(running, code)
        process_tree.reap()

    def _recover(self, running: _Running, code: int) -> None:
        self._log(f"turn={running.turn_id} reporter ended with {code}")
        running.crashes += 1
        if running.crashes >= CRASHES:
            self._log(f"turn={running.turn_id} is given up after {CRASHES} crashes")
            state = TurnState(self._home, running.turn_id)
            TurnRun.forget(self._home, state, self._place)
            return
        time.sleep(min(0.2 * 2**running.crashes, LONGEST_PAUSE))
        self._start(running)

    def _stop(self) -> int:
        """End the turns, let them report, and go."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._log(f"stops, {len(self._running)} turns running")
        for pid in self._running:
            process_tree.send(pid, signal.SIGTERM)
        until = time.monotonic() + STOP_SECONDS

        # asked of the system: the one that ended as the signal came may have been reaped unnoticed
        while (alive := [pid for pid in self._running if process_tree.look_up(pid)]) and time.monotonic() < until:
            process_tree.reap()
            time.sleep(0.02)
        for pid in alive:
            process_tree.send(pid, signal.SIGKILL)
        return STOPPED


def main(arguments: list[str] | None = None, env: Mapping[str, str] = os.environ) -> int:
    """Run with these arguments (those of the command line by default): the exit code."""
    options = read_options(sys.argv[1:] if arguments is None else arguments, env)
    # what is not for others is in folders that are not; what is given to agents they must be able to read
    os.umask(0o022)
    try:
        return Runner(options).run()
    except (OSError, ValueError) as error:
        log(options.box, f"cannot run: {error}")
        return 2

"""Boxes on this machine, without Kubernetes: each a runner process with a home directory of its own.

    {root}/{name}/home        the box's volume, closed to others: `runner`, `given`, `agent` (see k8s.runner.state)
    {root}/{name}/token       the box token, 0600
    {root}/{name}/box.json    labels and service URL of the last `ensure`
    {root}/{name}/runner.log  what the runner says
    {root}/{name}/lock        held while a box is being made or ended

A runner is never our child: it is found by the lock that it holds in its home, so a service that was killed and
started again adopts it, with the turn it is at. Agents run behind the walls that this machine allows
(`k8s.runner.processes.walls`): where bubblewrap or unshare works they see the system read-only and of the box only what
is theirs, in a PID namespace that ends with the turn. Without, boxes are only as apart as processes of one user are.
"""

import asyncio
import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from k8s.boxes import NAME_PATTERN, BoxesUnavailable, BoxSpec, BoxState, BoxStatus, Known, Reconciled
from k8s.runner.files import PASSED_ON
from k8s.runner.processes import process_tree
from k8s.runner.processes.walls import KINDS, PROCESSES, Walls, works
from k8s.runner.state import Home, held, lock, remove_tree, signed, write_atomically

RUNNER = Path(__file__).resolve().parent / "runner"
START_SECONDS = 30.0
STOP_SECONDS = 25.0
LOG_BYTES = 1_000_000
AUTO = "auto"
FIRST_USER, USERS = 40_000, 20_000
NO_WALLS = (
    "local boxes are only as apart as processes of one user are: neither bubblewrap (bwrap) nor unshare works here"
)


class LocalBoxes:
    """Boxes below `root`, run by the interpreter `python`. Implements `k8s.boxes.Boxes`.

    A runner goes by itself once the service was unreachable for `orphan_seconds` and it has no turn. `walls` is the
    kind to have, "auto" the best that works; `readable` are paths that agents behind walls may read beside the
    system's.
    """

    def __init__(
        self,
        root: Path,
        *,
        python: str = sys.executable,
        orphan_seconds: float = 900.0,
        walls: str = AUTO,
        readable: Sequence[str] = (),
    ) -> None:
        self._root = root.absolute()
        self._python = python
        self._orphan_seconds = orphan_seconds
        self._wanted = walls
        self._readable = tuple(readable)

    @functools.cached_property
    def walls(self) -> str:
        """The kind of walls that agents get here. Raises `BoxesUnavailable` for one that was asked for and fails."""
        user = box_user(self._root) if os.geteuid() == 0 else None
        kinds = KINDS if self._wanted == AUTO else (self._wanted,)
        found = next((kind for kind in kinds if works(Walls(kind, user))), None)
        if found is None:
            raise BoxesUnavailable(f"walls of the kind {self._wanted!r} cannot be put up here: see `greenloop doctor`")
        return found

    async def ensure(self, spec: BoxSpec) -> BoxStatus:
        """Start the box's runner, or adopt the one that runs. Raises `BoxesUnavailable`."""
        return await asyncio.to_thread(self._ensure, spec)

    async def status(self, name: str) -> BoxStatus:
        """Look whether the box's runner runs."""
        return await asyncio.to_thread(self._status, name)

    async def stop(self, name: str) -> None:
        """End the runner, its agents and all their processes. A turn that runs is reported first, if there is time."""
        await asyncio.to_thread(self._stop, name)

    async def delete_home(self, name: str) -> None:
        """End the box, and delete all that is kept of it."""
        await asyncio.to_thread(self._delete, name)

    async def list(self) -> list[BoxStatus]:
        """All boxes that were ever made below `root` and not deleted."""
        return list(await asyncio.to_thread(self._all))

    async def troubles(self) -> AsyncIterator[BoxStatus]:
        """Nobody watches processes: a runner that ended falls silent, and is looked up."""
        await asyncio.Event().wait()
        yield BoxStatus(name="", state=BoxState.UNKNOWN)

    async def reconcile(
        self,
        known: Mapping[str, Known],
        *,
        confirm: Callable[[str], Awaitable[bool]],
        now: float,
        idle_seconds: float,
        home_seconds: float,
    ) -> Reconciled:
        """A folder is never anybody else's, nor made behind our back: nothing to compare."""
        return Reconciled()

    async def close(self) -> None:
        """Nothing to let go of."""

    def _folder(self, name: str) -> Path:
        if not NAME_PATTERN.fullmatch(name):
            raise ValueError(f"box name {name!r} is no DNS label")
        return self._root / name

    @contextlib.contextmanager
    def _alone(self, folder: Path) -> Iterator[None]:
        descriptor = lock(folder / "lock", wait=True)
        try:
            yield
        finally:
            os.close(descriptor)

    def _ensure(self, spec: BoxSpec) -> BoxStatus:
        folder = self._folder(spec.name)
        try:
            for path in (self._root, folder, folder / "home"):
                path.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._alone(folder):
                _write_secret(folder / "token", spec.token)
                before = _about(folder)
                about = {"labels": dict(spec.labels), "owner_key": spec.owner_key, "service_url": spec.service_url}
                write_atomically(folder / "box.json", json.dumps(about))
                if _runs(folder) and before.get("service_url") != spec.service_url:
                    # its agents and their supervisors go on; the runner that comes takes them up
                    _kill_reporters(folder)
                if not _runs(folder):
                    self._give_to_agents(folder)
                    return self._start(folder, spec)
        except OSError as error:
            raise BoxesUnavailable(f"local boxes in {self._root}: {error}") from error
        return self._status(spec.name)

    def _give_to_agents(self, folder: Path) -> None:
        """Let the agents' folder be theirs. What is there of another user, from other walls, is nobody's any more."""
        agent = folder / "home" / "agent"
        if os.geteuid() != 0:
            return
        user = box_user(folder) if self.walls != PROCESSES else 0
        if agent.is_dir() and agent.stat().st_uid != user:
            remove_tree(agent)
        agent.mkdir(mode=0o700, exist_ok=True)
        os.chown(agent, user, user)

    def _start(self, folder: Path, spec: BoxSpec) -> BoxStatus:
        log = folder / "runner.log"
        if log.exists() and log.stat().st_size > LOG_BYTES:
            log.replace(folder / "runner.log.1")
        command = [
            self._python, "-I", "-B", str(RUNNER), "--detach", "--service", spec.service_url, "--box", spec.name,
            "--home", str(folder / "home"), "--token-file", str(folder / "token"),
            "--orphan-seconds", str(self._orphan_seconds), "--walls", self.walls,
        ]  # fmt: skip
        if self.walls != PROCESSES and os.geteuid() == 0:
            command += ["--user", str(box_user(folder))]
        command += [part for path in self._readable for part in ("--readable", path)]
        with log.open("ab") as said:
            try:
                code = subprocess.run(
                    command, cwd=folder / "home", env=_environment(spec.env), stdin=subprocess.DEVNULL,
                    stdout=said, stderr=said, start_new_session=True, timeout=START_SECONDS, check=False,
                ).returncode  # fmt: skip
            except subprocess.TimeoutExpired:
                code = -1
        if code == 0:
            return self._status(spec.name)
        lines = log.read_text("utf-8", "replace").splitlines()
        told = lines[-1] if lines else f"exit code {code}"
        message = f"The runner of box {spec.name} did not start: {told}. Its log is {log}."
        return BoxStatus(name=spec.name, state=BoxState.FAILED, message=message, labels=spec.labels)

    def _status(self, name: str) -> BoxStatus:
        folder = self._folder(name)
        labels = {str(key): str(value) for key, value in _about(folder).get("labels", {}).items()}
        if not _runs(folder):
            return BoxStatus(name=name, state=BoxState.ABSENT, labels=labels)
        try:
            started = datetime.fromtimestamp(_runner_lock(folder).stat().st_mtime, UTC)
        except FileNotFoundError:
            started = None
        return BoxStatus(name=name, state=BoxState.RUNNING, started_at=started, labels=labels)

    def _all(self) -> tuple[BoxStatus, ...]:
        return tuple(self._status(path.parent.name) for path in sorted(self._root.glob("*/box.json")))

    def _stop(self, name: str) -> None:
        folder = self._folder(name)
        if folder.is_dir():
            with self._alone(folder):
                _end(folder)

    def _delete(self, name: str) -> None:
        folder = self._folder(name)
        if folder.is_dir():
            with self._alone(folder):
                _end(folder)
                (folder / "box.json").unlink(missing_ok=True)
                remove_tree(folder)


def box_user(folder: Path) -> int:
    """The user and group id of the agents of one box, for a service of root's: no user of the system, and the same
    for this box each time."""
    return FIRST_USER + zlib.crc32(str(folder).encode()) % USERS


def _runner_lock(folder: Path) -> Path:
    return folder / "home" / "runner" / "lock"


def _runs(folder: Path) -> bool:
    return held(_runner_lock(folder))


def _about(folder: Path) -> dict[str, Any]:
    try:
        about = json.loads((folder / "box.json").read_text())
    except (OSError, ValueError):
        return {}
    return about if isinstance(about, dict) else {}


def _write_secret(path: Path, secret: str) -> None:
    if path.exists() and path.read_text() == secret:
        return
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secret)
    draft.replace(path)


def _environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The runner's environment. The service's own holds secrets, and an agent may read the environment of its
    runner."""
    env = {name: os.environ[name] for name in (*PASSED_ON, "USER", "LOGNAME") if os.environ.get(name)}
    return {**env, **extra}


def _reporters(folder: Path) -> set[int]:
    """The runner and the processes that report its turns, if they run."""
    home = Home(folder / "home")
    locks = [_runner_lock(folder), *(state.path / "lock" for state in home.turn_states())]
    return {pid for path in locks if held(path) for pid in [signed(path)] if pid}


def _kill_reporters(folder: Path) -> None:
    until = time.monotonic() + STOP_SECONDS
    while (pids := _reporters(folder)) and time.monotonic() < until:
        for pid in pids:
            process_tree.send(pid, signal.SIGKILL)
        time.sleep(0.02)


def _end(folder: Path) -> None:
    """Ask the runner to stop, then kill whatever of the box is left."""
    home = Home(folder / "home")
    runner = signed(_runner_lock(folder))
    if runner and _runs(folder):
        process_tree.send(runner, signal.SIGTERM)
        until = time.monotonic() + STOP_SECONDS
        while _runs(folder) and time.monotonic() < until:
            time.sleep(0.02)
    states = home.turn_states()
    supervisors = {pid for state in states if held(state.supervisor) for pid in [signed(state.supervisor)] if pid}
    doomed = supervisors | _reporters(folder)
    turns = [turn for turn in (state.turn() for state in states) if turn]
    places = [home.agent / "home" / turn.workdir for turn in turns]
    entry = f"HOME={home.agent / 'home'}".encode()

    def ours(process: process_tree.Process) -> bool:
        return (
            process.pid in doomed
            or process_tree.carries(process.pid, entry)
            or (bool(places) and process_tree.works_in(process.pid, places))
        )

    _, left = process_tree.sweep(roots=doomed, also=ours, collect=lambda: None)
    until = time.monotonic() + STOP_SECONDS
    while any(held(state.box) for state in states) and time.monotonic() < until:
        time.sleep(0.02)
    if left:
        raise BoxesUnavailable(f"processes {sorted(left)} of box {folder.name} cannot be killed")

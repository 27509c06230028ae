"""The service in processes of its own, each of which can be killed and paused; what is killed comes back."""

import asyncio
import contextlib
import random
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import make_url

from app.process.processes import Supervisor
from app.process.valkey import EmbeddedRedis
from k8s.local import LocalBoxes
from k8s.runner.processes import process_tree
from k8s.runner.state import Home, held, signed
from loops.engine.advance import MOST_DEATHS
from loops.sessions.reasons import Reason
from tests.chaos.schedule import BOX, DATABASE, REDIS, RUNNER, WEB, WORKERS, Act, What
from tests.postgres import PostgresServer


class Service:
    """One web process, two workers, a Redis, a database and local boxes, all below `folder`."""

    def __init__(
        self, folder: Path, environment: Mapping[str, str], redis: EmbeddedRedis, postgres: PostgresServer | None
    ) -> None:
        self.boxes = folder / "data" / "boxes"
        self._killed: Counter[str] = Counter()
        self._redis, self._postgres = redis, postgres
        self._servers: dict[str, asyncio.Lock] = {REDIS: asyncio.Lock(), DATABASE: asyncio.Lock()}  # hit once at a time
        self._database = environment["GREENLOOP_DATABASE_URL"]
        port = environment["GREENLOOP_PUBLIC_URL"].rpartition(":")[2]
        commands = {WEB: ["web", "--port", port], **{name: ["worker"] for name in WORKERS}}
        self._processes = {name: Supervisor(name, command, environment, folder) for name, command in commands.items()}

    def start(self) -> None:
        for process in self._processes.values():
            process.start()

    async def stop(self) -> None:
        """End everything, boxes while the web process still takes their reports."""
        for worker in WORKERS:
            await self._processes[worker].stop()
        boxes = LocalBoxes(self.boxes)
        for box in await boxes.list():
            await boxes.stop(box.name)
        await self._processes[WEB].stop()

    def excused(self) -> list[str]:
        """Reasons for an end without success that are the truth by now: a box that was lost, and a session whose steps
        ended as many processes as make it suspect."""
        lost = [Reason.BOX_LOST] if self._killed[BOX] else []
        suspect = [Reason.PUT_ASIDE] if sum(self._killed[name] for name in WORKERS) >= MOST_DEATHS else []
        return [str(reason.value) for reason in (*lost, *suspect)]

    async def act(self, act: Act, chance: random.Random) -> None:
        """Do it, and have whoever was hit come back. Whom there is not at that moment is left alone."""
        async with self._servers.get(act.whom) or contextlib.nullcontext():
            await self._hit(act, chance)

    async def _hit(self, act: Act, chance: random.Random) -> None:
        if act.whom == DATABASE and self._postgres is None:
            await asyncio.to_thread(self._lock_database, act.seconds)
            return
        pids = self._pids(act.whom, chance)
        if act.what is What.KILL and pids:
            self._killed[act.whom] += 1
        _signal(pids, signal.SIGKILL if act.what is What.KILL else signal.SIGSTOP)
        await asyncio.sleep(act.seconds)
        if act.what is What.PAUSE:
            _signal(pids, signal.SIGCONT)
        elif act.whom == REDIS:
            await asyncio.to_thread(self._redis.stop)
            await asyncio.to_thread(self._redis.start)
        elif act.whom == DATABASE and self._postgres is not None:
            await asyncio.to_thread(self._postgres.start)

    def _pids(self, whom: str, chance: random.Random) -> list[int]:
        """The processes to hit, parents first."""
        if whom in self._processes:
            pid = self._processes[whom].pid
            return [pid] if pid else []
        if whom == REDIS:
            assert self._redis._process is not None
            root = self._redis._process.pid
            return [root, *process_tree.below(process_tree.table(), [root])]
        if whom == DATABASE:
            assert self._postgres is not None
            return sorted(self._postgres.pids())
        return self._of_a_box(whom, chance)

    def _of_a_box(self, whom: str, chance: random.Random) -> list[int]:
        """One of the processes that report for a box, or all that keep it and its agent."""
        names = sorted(path.parent.name for path in self.boxes.glob("*/box.json"))
        if not names:
            return []
        home = Home(self.boxes / chance.choice(names) / "home")
        turns = home.turn_states()
        locks = [home.root / "lock", *(turn.path / "lock" for turn in turns)]
        if whom == BOX:
            locks += [turn.supervisor for turn in turns]
        pids = sorted({pid for lock in locks if held(lock) for pid in [signed(lock)] if pid})
        return [chance.choice(pids)] if whom == RUNNER and pids else pids if turns else []

    def _lock_database(self, seconds: float) -> None:
        """Nobody else can write for so long."""
        with contextlib.closing(sqlite3.connect(str(make_url(self._database).database), timeout=30)) as connection:
            connection.isolation_level = None
            connection.execute("BEGIN IMMEDIATE")
            time.sleep(seconds)
            connection.execute("ROLLBACK")


def _signal(pids: list[int], number: int) -> None:
    for pid in pids:
        process_tree.send(pid, number)

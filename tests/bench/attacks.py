"""The web process under attack: how late are health, webhooks and another tenant's page and its live stream, as a ratio
to the same run's quiet?

Each attack goes on while they are measured; the memory of the process is read at its highest. An attack that did not
happen proves nothing, and fails.
"""

import asyncio
import base64
import contextlib
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import uvloop
from sqlalchemy import select

from app.process.valkey import EmbeddedRedis
from loops.secrets.token_hash import token_hash
from loops.store import journal
from loops.store.database import Database
from loops.store.migrations import upgrade
from loops.store.tables import Box, Session, Turn
from tests.bench.attackers import ATTACKS, BOXES, OPENED, REPORTS, Answers
from tests.bench.load import Load, drive
from tests.bench.receiver import Served, requests, served
from tests.postgres import in_a_thread

SECONDS = float(os.environ.get("BENCH_SECONDS", "6"))
AIM = 2.0
MEMORY_MB = 512
"""What the chart gives the web process."""
FLOOR_MS = 5.0
"""Latencies below are those of the machine: two that are lower count as equal."""
WRITTEN = 50
"""Entries of the watched session that are there already."""
LIVE = "t_live"
"""The turn of the other tenant, whose output somebody watches; its token has the same name."""


def main() -> int:
    """Run each attack and print the figures. 1 when a ratio or the memory is over its aim, or an attack was none."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[0]})
    failed = 0
    with tempfile.TemporaryDirectory(prefix="greenloop-bench-") as name:
        folder = Path(name)
        file = folder / "greenloop.db"
        in_a_thread(_filled(f"sqlite:///{file}"))
        redis = EmbeddedRedis(folder / "redis")
        try:
            url = redis.start()
            with served("greenloop", folder, url, core=cores[-1]) as server:
                watched = _Watched(server)
                quiet = uvloop.run(_measured(server, watched))
                print(f"{'quiet':>26}: " + "   ".join(f"{what} {ms:6.2f} ms" for what, ms in quiet.items()))
                for called, attack in ATTACKS.items():
                    found, answers = uvloop.run(_under(attack.under_way(server), server, watched))
                    ratios = {what: max(ms, FLOOR_MS) / max(quiet[what], FLOOR_MS) for what, ms in found.items()}
                    memory = _peak_mb(server.pid)
                    told = "   ".join(f"{what} {found[what]:6.2f} ms ({ratio:.1f})" for what, ratio in ratios.items())
                    print(f"{called:>26}: {told}   {memory:.0f} MB at most; {_told(answers)}")
                    happened = answers[attack.proof] > 0 and (called != REPORTS or _reported(file) > 0)
                    if not happened:
                        print(f"{called:>26}: it did not happen, so it proves nothing")
                    failed |= not happened or any(ratio > AIM for ratio in ratios.values()) or memory > MEMORY_MB
            print(f"{_reported(file)} reports of eyJ were stored")
        finally:
            redis.stop()
    print(f"attacks: aim {AIM:.0f} times quiet at the median, {MEMORY_MB} MB")
    return int(failed)


def _told(answers: Answers) -> str:
    return ", ".join(f"{'opened' if what == OPENED else what}: {count}" for what, count in sorted(answers.items()))


async def _filled(url: str) -> None:
    """A session that somebody watches, and the running turns of another tenant, whose boxes attack."""
    await upgrade(url)
    database = Database(url)
    async with database.write() as tx:
        for name, installation in (("s_watched", 5), ("s_hostile", 6)):
            tx.add(
                Session(
                    public_id=name, installation_id=installation, repository_id=installation, subject_kind="issue",
                    subject_number=1, surface="github", trigger="mention", title="T", instruction="fix", cap=3,
                    created_at=0,
                )
            )  # fmt: skip
        await tx.flush()
        watched, hostile = (await tx.execute(select(Session.id).order_by(Session.id))).scalars()
        await journal.append(tx, watched, [("status", {"text": "on"})] * WRITTEN, at=0.0)
        turns = [(LIVE, watched, 5, LIVE)]
        turns += [(f"t_{number}", hostile, 6, f"turn-{number}") for number in range(BOXES)]
        for number, (name, session, installation, token) in enumerate(turns):
            box = f"box-{name.replace('_', '-')}"
            about = {"token_hash": token_hash(box), "token_at": time.time()}
            tx.add(Box(name=box, installation_id=installation, used_at=0, created_at=0, **about))
            tx.add(
                Turn(
                    public_id=name, session_id=session, number=number, kind="issue", trigger="mention",
                    status="running", runtime="command", box=box, marker=name, spec={}, created_at=0, limits={},
                    begun_at=time.time(), token_hash=token_hash(token),
                )
            )  # fmt: skip
    await database.close()


def _reported(file: Path) -> int:
    with contextlib.closing(sqlite3.connect(file)) as connection:
        return int(connection.execute("SELECT count(*) FROM turns WHERE status = 'reported'").fetchone()[0])


class _Watched:
    """A session that somebody watches while its box prints: how long a line takes from the box to the page."""

    def __init__(self, server: Served) -> None:
        self._server = server
        self._offset = self._number = 0

    async def lateness(self, seconds: float) -> float:
        """Milliseconds at the median."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._server.port)
        head = f"GET /sessions/s_watched/events?after={WRITTEN} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        writer.write(head.encode())
        times: list[float] = []
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end or not times:
                self._number += 1
                word = f"line-{self._number}-is-here"
                began = time.perf_counter()
                await self._print(f"{word}\n")
                await asyncio.wait_for(reader.readuntil(word.encode()), 60)
                times.append(time.perf_counter() - began)
        finally:
            writer.close()
        return sorted(times)[len(times) // 2] * 1000

    async def _print(self, text: str) -> None:
        sent = {"offset": self._offset, "data": base64.b64encode(text.encode()).decode(), "state": "running"}
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{self._server.boxes}", timeout=60) as box:
            answer = await box.post(f"/turns/{LIVE}/output", json=sent, headers={"Authorization": f"Bearer {LIVE}"})
        answer.raise_for_status()
        self._offset = int(answer.json()["offset"])


async def _under(
    attack: contextlib.AbstractAsyncContextManager[Answers], server: Served, watched: _Watched
) -> tuple[dict[str, float], Answers]:
    async with attack as answers:
        found = await _measured(server, watched)
    return found, answers


async def _measured(server: Served, watched: _Watched) -> dict[str, float]:
    port = server.port
    health = await _load(port, 200, lambda: b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
    webhook = await _load(port, 202, requests())
    page = await _load(port, 200, lambda: b"GET /sessions/s_watched HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    live = await watched.lateness(SECONDS / 4)
    return {
        "healthz": health.percentile(50),
        "webhook": webhook.percentile(50),
        "page": page.percentile(50),
        "live": live,
    }


async def _load(port: int, expected: int, request: Callable[[], bytes]) -> Load:
    load = await drive("127.0.0.1", port, request, connections=1, seconds=SECONDS / 4)
    if set(load.statuses) != {expected}:
        raise RuntimeError(f"{request()[:40]!r} was answered {load.statuses}, and {expected} was expected")
    return load


def _peak_mb(pid: int) -> float:
    """The most memory that the process has held (Linux; 0 elsewhere)."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0.0
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024

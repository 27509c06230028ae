"""The web process under attack: how late are health, webhooks and another tenant's page, as a ratio to the same run's
quiet?

Each attack goes on while both are measured; the memory of the process is read at its highest.
"""

import asyncio
import contextlib
import itertools
import json
import os
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import uvloop
from sqlalchemy import select

from app.process.valkey import EmbeddedRedis
from k8s.runner.protocol import DIFF_BYTES
from loops.protocol.tokens import token_hash
from loops.store.database import Database
from loops.store.migrations import upgrade
from loops.store.tables import Box, Event, Session, Turn
from tests.bench.load import Load, drive
from tests.bench.receiver import Served, requests, served
from tests.postgres import in_a_thread

SECONDS = float(os.environ.get("BENCH_SECONDS", "5"))
AIM = 2.0
BOXES = 400
MEMORY_MB = 512
"""What the chart gives the web process."""
FLOOR_MS = 5.0
"""Latencies below are those of the machine: two that are lower count as equal."""

Attack = Callable[[Served], contextlib.AbstractAsyncContextManager[None]]


def main() -> int:
    """Run each attack and print the figures. 1 when a ratio or the memory is over its aim."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[0]})
    worst = 0
    with tempfile.TemporaryDirectory(prefix="greenloop-bench-") as name:
        folder = Path(name)
        in_a_thread(_filled(f"sqlite:///{folder}/greenloop.db"))
        redis = EmbeddedRedis(folder / "redis")
        try:
            url = redis.start()
            with served("greenloop", folder, url, core=cores[-1]) as server:
                quiet = uvloop.run(_measured(server, _nothing))
                print(f"{'quiet':>24}: " + "   ".join(f"{what} {ms:6.2f} ms" for what, ms in quiet.items()))
                for called, attack in ATTACKS.items():
                    found = uvloop.run(_measured(server, attack))
                    ratios = {what: max(ms, FLOOR_MS) / max(quiet[what], FLOOR_MS) for what, ms in found.items()}
                    memory = _peak_mb(server.pid)
                    told = "   ".join(f"{what} {found[what]:6.2f} ms ({ratio:.1f})" for what, ratio in ratios.items())
                    print(f"{called:>24}: {told}   {memory:.0f} MB at most")
                    worst |= any(ratio > AIM for ratio in ratios.values()) or memory > MEMORY_MB
            print(f"{_reported(folder / 'greenloop.db')} reports of eyJ were stored")
        finally:
            redis.stop()
    print(f"attacks: aim {AIM:.0f} times quiet at the median, {MEMORY_MB} MB")
    return int(worst)


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
        lines = [Event(session_id=watched, seq=seq, kind="status", at=0.0, payload={"text": "on"}) for seq in range(50)]
        tx.add_all(lines)
        for number in range(BOXES):
            name = f"box-{number}"
            tx.add(Box(name=name, installation_id=6, token_hash=token_hash(name), used_at=0, created_at=0))
            tx.add(
                Turn(
                    public_id=f"t_{number}", session_id=hostile, number=number, kind="issue", trigger="mention",
                    status="running", runtime="command", box=name, marker=name, spec={}, created_at=0, limits={},
                )
            )  # fmt: skip
    await database.close()


def _reported(file: Path) -> int:
    with contextlib.closing(sqlite3.connect(file)) as connection:
        return int(connection.execute("SELECT count(*) FROM turns WHERE status = 'reported'").fetchone()[0])


async def _measured(server: Served, attack: Attack) -> dict[str, float]:
    port = server.port
    async with attack(server):
        health = await _load(port, lambda: b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        webhook = await _load(port, requests())
        page = await _load(port, lambda: b"GET /sessions/s_watched HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    if set(page.statuses) != {200}:
        raise RuntimeError(f"the page was answered {page.statuses}")
    return {"healthz": health.percentile(50), "webhook": webhook.percentile(50), "page": page.percentile(50)}


async def _load(port: int, request: Callable[[], bytes]) -> Load:
    return await drive("127.0.0.1", port, request, connections=1, seconds=SECONDS / 3)


@contextlib.asynccontextmanager
async def _nothing(server: Served) -> AsyncIterator[None]:
    yield


def _again_and_again(
    connections: int, pieces: Callable[[], Iterator[bytes]], *, pause: float, as_box: bool = False
) -> Attack:
    """Connections that send `pieces`, one after the other, and are opened again when they are closed."""

    async def one(port: int) -> None:
        while True:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                try:
                    for piece in pieces():
                        if writer.is_closing():
                            break
                        writer.write(piece)
                        await writer.drain()
                        await asyncio.sleep(pause)
                finally:
                    writer.close()
            await asyncio.sleep(0.05)

    @contextlib.asynccontextmanager
    async def attack(server: Served) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(one(server.boxes if as_box else server.port)) for _ in range(connections)]
        await asyncio.sleep(0.5)
        try:
            yield
        finally:
            await _ended(tasks)

    return attack


async def _ended(tasks: list["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()
    waiting: Awaitable[object] = asyncio.gather(*tasks, return_exceptions=True)
    await waiting


def _drops() -> Iterator[bytes]:
    yield b"GET / HTTP/1.1\r\n"
    yield from itertools.repeat(b"x: y\r\n")


_UPLOAD = b"PUT /turns/t/objects/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\nContent-Length: 100000000\r\n\r\n"
_UNSIGNED = (
    b"POST /webhooks/github HTTP/1.1\r\nHost: a\r\nX-Hub-Signature-256: sha256=0\r\nContent-Length: 2000000\r\n\r\n"
    + b"x" * 2_000_000
)

_reporting = itertools.count()


def _reports() -> Iterator[bytes]:
    """The report of one turn after the other, each with a diff that a careless recogniser reads in square time."""
    while True:
        number = next(_reporting) % BOXES
        report = {"reason": "exited", "exit_code": 0, "base": "1" * 40, "tree": "2" * 40, "changes": []}
        body = json.dumps(report | {"diff": "eyJ" * (DIFF_BYTES // 3)}).encode()
        head = f"PUT /turns/t_{number}/result HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer box-{number}\r\n"
        yield f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


ATTACKS: dict[str, Attack] = {
    "150 silent connections": _again_and_again(150, lambda: itertools.repeat(b""), pause=0.2),
    "50 heads, drop by drop": _again_and_again(50, _drops, pause=0.1),
    "50 bodies that do not come": _again_and_again(50, lambda: itertools.repeat(_UPLOAD), pause=0.5, as_box=True),
    "8 unsigned bodies of 2 MB": _again_and_again(8, lambda: itertools.repeat(_UNSIGNED), pause=0.5),
    "2 boxes, reports of eyJ": _again_and_again(2, _reports, pause=0.5, as_box=True),
    "50 times no HTTP": _again_and_again(50, lambda: iter([b"nonsense\r\n\r\n"]), pause=0.05),
}


def _peak_mb(pid: int) -> float:
    """The most memory that the process has held (Linux; 0 elsewhere)."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0.0
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024

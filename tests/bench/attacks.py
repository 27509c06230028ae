"""The web process under attack: how late are health and webhooks, as a ratio to the quiet of the same run?

Each attack goes on while both are measured; the memory of the process is read at its highest.
"""

import asyncio
import contextlib
import itertools
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import uvloop

from app.process.valkey import EmbeddedRedis
from loops.store.migrations import upgrade
from tests.bench.load import Load, drive
from tests.bench.receiver import requests, served
from tests.postgres import in_a_thread

SECONDS = float(os.environ.get("BENCH_SECONDS", "5"))
AIM = 2.0
MEMORY_MB = 512
"""What the chart gives the web process."""
FLOOR_MS = 5.0
"""Latencies below are those of the machine: two that are lower count as equal."""

Attack = Callable[[int], contextlib.AbstractAsyncContextManager[None]]


def main() -> int:
    """Run each attack and print the figures. 1 when a ratio or the memory is over its aim."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[0]})
    worst = 0
    with tempfile.TemporaryDirectory(prefix="greenloop-bench-") as name:
        folder = Path(name)
        in_a_thread(upgrade(f"sqlite:///{folder}/greenloop.db"))
        redis = EmbeddedRedis(folder / "redis")
        try:
            url = redis.start()
            with served("greenloop", folder, url, core=cores[-1]) as (port, pid):
                quiet = uvloop.run(_measured(port, _nothing))
                print(f"{'quiet':>24}: " + "   ".join(f"{what} {ms:6.2f} ms" for what, ms in quiet.items()))
                for called, attack in ATTACKS.items():
                    found = uvloop.run(_measured(port, attack))
                    ratios = {what: max(ms, FLOOR_MS) / max(quiet[what], FLOOR_MS) for what, ms in found.items()}
                    memory = _peak_mb(pid)
                    told = "   ".join(f"{what} {found[what]:6.2f} ms ({ratio:.1f})" for what, ratio in ratios.items())
                    print(f"{called:>24}: {told}   {memory:.0f} MB at most")
                    worst |= any(ratio > AIM for ratio in ratios.values()) or memory > MEMORY_MB
        finally:
            redis.stop()
    print(f"attacks: aim {AIM:.0f} times quiet at the median, {MEMORY_MB} MB")
    return int(worst)


async def _measured(port: int, attack: Attack) -> dict[str, float]:
    async with attack(port):
        health = await _load(port, lambda: b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        webhook = await _load(port, requests())
    return {"healthz": health.percentile(50), "webhook": webhook.percentile(50)}


async def _load(port: int, request: Callable[[], bytes]) -> Load:
    return await drive("127.0.0.1", port, request, connections=1, seconds=SECONDS / 2)


@contextlib.asynccontextmanager
async def _nothing(port: int) -> AsyncIterator[None]:
    yield


def _again_and_again(connections: int, pieces: Callable[[], Iterator[bytes]], *, pause: float) -> Attack:
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
    async def attack(port: int) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(one(port)) for _ in range(connections)]
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

ATTACKS: dict[str, Attack] = {
    "150 silent connections": _again_and_again(150, lambda: itertools.repeat(b""), pause=0.2),
    "50 heads, drop by drop": _again_and_again(50, _drops, pause=0.1),
    "50 bodies that do not come": _again_and_again(50, lambda: itertools.repeat(_UPLOAD), pause=0.5),
    "8 unsigned bodies of 2 MB": _again_and_again(8, lambda: itertools.repeat(_UNSIGNED), pause=0.5),
    "50 times no HTTP": _again_and_again(50, lambda: iter([b"nonsense\r\n\r\n"]), pause=0.05),
}


def _peak_mb(pid: int) -> float:
    """The most memory that the process has held (Linux; 0 elsewhere)."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0.0
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024

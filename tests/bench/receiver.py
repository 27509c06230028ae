"""The receiver beside the bare framework: 10 kB signed bodies, one core for the server, one for the load.

Ours answers 202 when the delivery is committed to SQLite with `synchronous=FULL`; the bare application (Starlette on
the same uvicorn, uvloop and httptools) answers 202 and does nothing else.
"""

import contextlib
import itertools
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import uvloop

from app.process.valkey import EmbeddedRedis
from github.webhooks.signature import sign
from loops.store.migrations import upgrade
from tests.bench.load import Load, drive
from tests.postgres import in_a_thread

SECRET = "a secret for the bench"
BODY_BYTES = 10_000
CONNECTIONS = 32
SECONDS = float(os.environ.get("BENCH_SECONDS", "5"))
ROUNDS = 2
AIM = 0.3


def main() -> int:
    """Run both in turn and print the figures. 1 when the ratio is below the aim."""
    cores = sorted(os.sched_getaffinity(0))
    here, there = cores[0], cores[-1]
    os.sched_setaffinity(0, {here})
    best: dict[str, Load] = {}
    with tempfile.TemporaryDirectory(prefix="greenloop-bench-") as name:
        folder = Path(name)
        in_a_thread(upgrade(f"sqlite:///{folder}/greenloop.db"))
        redis = EmbeddedRedis(folder / "redis")
        try:
            url = redis.start()
            for _, kind in itertools.product(range(ROUNDS), ("bare", "greenloop")):
                with served(kind, folder, url, core=there) as server:
                    before = cpu_seconds(server.pid)
                    load = uvloop.run(
                        drive("127.0.0.1", server.port, requests(), connections=CONNECTIONS, seconds=SECONDS)
                    )
                    spent = cpu_seconds(server.pid) - before
                times = f"p50 {load.percentile(50):6.2f} ms   p99 {load.percentile(99):6.2f} ms"
                print(f"{kind:>10}: {load.rate:8.0f}/s   {times}   {1e6 * spent / len(load.times):5.0f} µs of CPU each")
                if set(load.statuses) != {202}:
                    print(f"unexpected answers: {load.statuses}")
                    return 1
                best[kind] = max(best.get(kind, load), load, key=lambda run: run.rate)
            acknowledged = stored(folder / "greenloop.db")
        finally:
            redis.stop()
    ratio = best["greenloop"].rate / best["bare"].rate
    shared = "" if here != there else " (load and server shared one core)"
    print(f"receiver: {ratio:.2f} of the bare framework, aim {AIM}; {acknowledged} deliveries stored{shared}")
    return 0 if ratio >= AIM else 1


def requests() -> Callable[[], bytes]:
    """Makes requests: one signed body, a new GUID each."""
    links = {f"link_{n}_url": f"https://api.github.com/repos/octo/repo/things/{n}{{/id}}" for n in range(200)}
    payload = {
        "action": "created",
        "issue": {"number": 1, "title": "A title", "body": "text " * 200},
        "comment": {"id": 1, "body": "@greenloop please repair the build", "user": {"id": 3, "login": "ann"}},
        "repository": {"id": 7, "full_name": "octo/repo", "owner": {"id": 3, "login": "octo"}, **links},
        "installation": {"id": 5},
        "sender": {"id": 3, "login": "ann", "type": "User"},
    }
    body = json.dumps(payload).encode()[:-1]
    body += b',"padding":"' + b"x" * (BODY_BYTES - len(body) - 14) + b'"}'
    head = (
        b"POST /webhooks/github HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\nUser-Agent: GitHub-Hookshot/abc1234\r\n"
        b"Content-Type: application/json\r\nX-GitHub-Event: issue_comment\r\nX-GitHub-Hook-ID: 1\r\n"
        b"X-Hub-Signature-256: " + sign(SECRET.encode(), body).encode() + b"\r\n"
        b"Content-Length: " + str(len(body)).encode() + b"\r\nX-GitHub-Delivery: "
    )
    tail = b"\r\n\r\n" + body
    run = uuid.uuid4().hex[:20].encode()
    numbers = itertools.count()
    return lambda: b"%b%b-%015d%b" % (head, run, next(numbers), tail)


@dataclass(frozen=True)
class Served:
    """A server process: its ports for everybody and for boxes (0: it has none), and its id."""

    port: int
    boxes: int
    pid: int


@contextlib.contextmanager
def served(kind: str, folder: Path, redis_url: str, *, core: int) -> Iterator[Served]:
    """A server process pinned to `core`."""
    environment = {
        **os.environ,
        "GREENLOOP_DATA": str(folder),
        "GREENLOOP_REDIS_URL": redis_url,
        "GREENLOOP_WEBHOOK_SECRETS": SECRET,
    }
    command = [sys.executable, "-m", "tests.bench.server", kind, str(core)]
    server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
    try:
        assert server.stdout is not None
        port, boxes = map(int, server.stdout.readline().split())
        _wait_for(f"http://127.0.0.1:{port}/healthz")
        yield Served(port, boxes, server.pid)
    finally:
        server.terminate()
        server.wait(20)


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + 15
    while True:
        try:
            httpx.get(url, timeout=1)
            return
        except httpx.TransportError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def cpu_seconds(pid: int) -> float:
    """CPU time of a process with all its threads, so far (Linux; 0 elsewhere)."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return 0.0
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def stored(file: Path) -> int:
    """Rows in the inbox."""
    with contextlib.closing(sqlite3.connect(file)) as connection:
        return int(connection.execute("SELECT count(*) FROM deliveries").fetchone()[0])

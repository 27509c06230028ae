"""The receiver beside its peers: 10 kB signed bodies, one core for the server, one for the load.

Ours answers 202 when the delivery is committed, to SQLite with `synchronous=FULL` or to PostgreSQL with `fsync`. The
bare application (Starlette on the same uvicorn, uvloop and httptools) answers 202 and does nothing else; apps of
gidgethub and Probot, where `.ci/clients` has installed them, check the signature, read the event and keep nothing.
"""

import contextlib
import itertools
import json
import os
import shutil
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
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from app.process.valkey import EmbeddedRedis
from github.webhooks.signature import sign
from loops.store.migrations import upgrade
from tests.bench.load import Load, drive
from tests.github.contract.clients.foreign import FOLDER, HERE
from tests.postgres import execute, in_a_thread, running_postgres

SECRET = "a secret for the bench"
BODY_BYTES = 10_000
CONNECTIONS = 32
SECONDS = float(os.environ.get("BENCH_SECONDS", "5"))
ROUNDS = 2
AIM = 0.3
"""Of the bare framework's rate."""
PEER_AIM, P99_AIM = 0.95, 15.0
"""Of gidgethub's rate, and milliseconds."""
POSTGRES_AIM, POSTGRES_BEFORE = 5000, 2700
"""Deliveries a second on PostgreSQL, and what it was in November 2026 with one group on its way at a time."""
PEERS = {
    "gidgethub": [str(FOLDER / "python/bin/python"), str(HERE / "gidgethub_app.py")],
    "probot": ["node", "probot_app.mjs"],
}


def main() -> int:
    """Run all in turn and print the figures. 1 when one of ours is below its aim."""
    cores = sorted(os.sched_getaffinity(0))
    here, there = cores[0], cores[-1]
    os.sched_setaffinity(0, {here})
    best: dict[str, Load] = {}
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="greenloop-bench-")))
        redis = EmbeddedRedis(folder / "redis")
        url = redis.start()
        stack.callback(redis.stop)
        databases = {"greenloop": f"sqlite:///{folder}/greenloop.db"}
        if shutil.which("postgres"):
            server = stack.enter_context(running_postgres(durable=True))
            in_a_thread(execute(server, "SELECT 1"))  # once it takes connections
            databases["on PostgreSQL"] = server.render_as_string(hide_password=False)
        for database in databases.values():
            in_a_thread(upgrade(database))
        peers = list(PEERS) if (FOLDER / "done").exists() else []
        for _, kind in itertools.product(range(ROUNDS), ("bare", *peers, *databases)):
            load = _load(kind, folder, url, databases.get(kind, ""), core=there)
            if set(load.statuses) != {200 if kind in PEERS else 202}:
                print(f"unexpected answers of {kind}: {load.statuses}")
                return 1
            best[kind] = max(best.get(kind, load), load, key=lambda run: run.rate)
        acknowledged = stored(folder / "greenloop.db")
    if here == there:
        print("load and server shared one core")
    return _verdict(best, acknowledged)


def _load(kind: str, folder: Path, redis_url: str, database: str, *, core: int) -> Load:
    """One run, and its line."""
    with (
        peer(kind, folder, core=core)
        if kind in PEERS
        else served("greenloop" if database else kind, folder, redis_url, core=core, database=database) as server
    ):
        before = cpu_seconds(server.pid)
        path = "/hook" if kind in PEERS else "/webhooks/github"
        load = uvloop.run(drive("127.0.0.1", server.port, requests(path), connections=CONNECTIONS, seconds=SECONDS))
        spent = cpu_seconds(server.pid) - before
    times = f"p50 {load.percentile(50):6.2f} ms   p99 {load.percentile(99):6.2f} ms"
    print(f"{kind:>13}: {load.rate:8.0f}/s   {times}   {1e6 * spent / len(load.times):5.0f} µs of CPU each")
    return load


def _verdict(best: dict[str, Load], acknowledged: int) -> int:
    ours, p99 = best["greenloop"].rate, best["greenloop"].percentile(99)
    bare = ours / best["bare"].rate
    reached = [bare >= AIM, p99 <= P99_AIM]
    said = [f"{bare:.2f} of the bare framework (aim {AIM})", f"p99 {p99:.1f} ms (aim {P99_AIM:.0f})"]
    if "gidgethub" in best:
        ratio = ours / best["gidgethub"].rate
        reached.append(ratio >= PEER_AIM)
        said.append(f"{ratio:.2f} of gidgethub (aim {PEER_AIM})")
    if "on PostgreSQL" in best:
        rate = best["on PostgreSQL"].rate
        reached.append(rate >= POSTGRES_AIM)
        said.append(f"PostgreSQL {rate / POSTGRES_BEFORE:.2f} of {POSTGRES_BEFORE}/s (aim {POSTGRES_AIM}/s)")
    print(f"receiver: {', '.join(said)}; {acknowledged} deliveries stored")
    return 0 if all(reached) else 1


def requests(path: str = "/webhooks/github") -> Callable[[], bytes]:
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
        b"POST "
        + path.encode()
        + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\nUser-Agent: GitHub-Hookshot/abc1234\r\n"
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
def served(kind: str, folder: Path, redis_url: str, *, core: int, database: str = "") -> Iterator[Served]:
    """A server process pinned to `core`; `database` is the one in `folder` where none is named."""
    environment = {
        **os.environ,
        "GREENLOOP_DATA": str(folder),
        "GREENLOOP_REDIS_URL": redis_url,
        "GREENLOOP_WEBHOOK_SECRETS": SECRET,
        **({"GREENLOOP_DATABASE_URL": database} if database else {}),
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


@contextlib.contextmanager
def peer(kind: str, folder: Path, *, core: int) -> Iterator[Served]:
    """A peer's app pinned to `core`. It is never asked to answer at GitHub."""
    for name in ("node_modules", "probot_app.mjs"):  # node looks for packages beside the file it runs
        with contextlib.suppress(FileExistsError):
            (folder / name).symlink_to((FOLDER if name == "node_modules" else HERE) / name)
    task = {"api": "http://127.0.0.1:9", "secret": SECRET, "app": {"id": 1, "key": private_key()}}
    command = ["taskset", "-c", str(core), *PEERS[kind]]
    environment = {**os.environ, "TASK": json.dumps(task), "NODE_OPTIONS": "--preserve-symlinks-main"}
    server = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE)
    try:
        assert server.stdout is not None
        yield Served(int(server.stdout.readline()), 0, server.pid)
    finally:
        server.terminate()
        server.wait(20)


def private_key() -> str:
    """A key that signs nothing."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = (serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
    return key.private_bytes(*pem).decode()


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

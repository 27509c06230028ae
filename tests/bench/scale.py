"""What growth costs: 10,000 sessions that wait, 1,000,000 events and 100,000 deliveries, beside a page of each.

The aim: a webhook, a batch of output, the pages, a worker's look for what is due, `/metrics` and a round of retention
take at most 1.5 times what they take on the small one, on both databases (PostgreSQL where it is installed).
"""

import asyncio
import contextlib
import itertools
import os
import shutil
import sqlite3
import statistics
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
from asgi_lifespan import LifespanManager
from sqlalchemy import make_url, select, text

from app.process.valkey import EmbeddedRedis
from app.settings import Settings
from app.web.app import create_app
from k8s.runner.protocol import Output
from loops.offload import Offload
from loops.options import LoopOptions
from loops.protocol.output_groups import Outputs
from loops.protocol.store_output import store_output
from loops.secrets.redact import Redactor
from loops.store.arrivals import Arrival, Arrivals, arrivals
from loops.store.claims import Claims, left_behind
from loops.store.database import Database
from loops.store.leases import Leases
from loops.store.migrations import upgrade
from loops.store.retention import forget_old
from loops.store.states import Lane, TurnStatus
from loops.store.tables import Delivery, Session, Turn
from tests.postgres import execute, running_postgres

AIM = 1.5
PAGE = 100  # sessions and deliveries that the small database has, so that its page is full, too
PARTS = float(os.environ.get("BENCH_SCALE", "1"))  # of the sizes below
SESSIONS, EVENTS_EACH, DELIVERIES = int(10_000 * PARTS), 100, int(100_000 * PARTS)
ROUNDS = 40
LINES = b"".join(b"a line of an agent that works, number %d\n" % number for number in range(10))
NOW = 1_790_000_000.0

Act = Callable[[], Awaitable[object]]


@dataclass
class Place:
    """One database with what acts on it, and its running turn."""

    database: Database
    http: httpx.AsyncClient
    arrivals: Arrivals
    offset: int = 0

    def acts(self) -> Mapping[str, Act]:
        leases = Leases(self.database, "bench", 10)
        sessions, deliveries = Claims(leases), Claims(leases, *Lane)

        async def webhook() -> None:
            body = b'{"action": "completed"}' * 200
            await self.arrivals.store([Arrival(uuid.uuid4().hex, "star", None, 1, 1, body, time.time())])

        async def output() -> None:
            async with self.database.read() as tx:
                turn = (await tx.execute(select(Turn).where(Turn.status == TurnStatus.RUNNING))).scalar_one()
            sent = Output(turn.output_offset)
            await store_output(Outputs(self.database), turn, sent, LINES, Redactor(), Offload(), now=time.time())

        async def look() -> None:
            await sessions.claim(20, lambda _: 20)
            await deliveries.claim(0, lambda _: 20)
            await left_behind(leases, Session, 4)
            await left_behind(leases, Delivery, 4)

        return {
            "webhook": webhook,
            "output": output,
            "sessions page": lambda: self.http.get("/"),
            "session page": lambda: self.http.get("/sessions/s_1"),
            "worker's look": look,
            "/metrics": lambda: self.http.get("/metrics"),
            "retention": lambda: forget_old(self.database, LoopOptions()),
        }


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="greenloop-bench-") as name:
        folder = Path(name)
        redis = EmbeddedRedis(folder / "redis")
        redis_url = redis.start()
        try:
            good = [asyncio.run(compare("SQLite", [f"sqlite:///{folder}/{kind}.db" for kind in KINDS], redis_url))]
            if shutil.which("postgres"):
                with running_postgres() as server:
                    urls = []
                    for kind in KINDS:
                        asyncio.run(execute(server, f"CREATE DATABASE {kind}"))
                        urls.append(server.set(database=kind).render_as_string(hide_password=False))
                    good.append(asyncio.run(compare("PostgreSQL", urls, redis_url)))
            else:
                print("scale: PostgreSQL is not on PATH, so it was not measured")
        finally:
            redis.stop()
    return 0 if all(good) else 1


KINDS = ("small", "large")


async def compare(what: str, urls: list[str], redis_url: str) -> bool:
    """Print the table of one database; whether all of it meets the aim."""
    async with contextlib.AsyncExitStack() as stack:
        small, large = [await stack.enter_async_context(opened(url, redis_url)) for url in urls]
        began = time.perf_counter()
        await fill(large.database, SESSIONS, DELIVERIES)
        await settle(large.database)
        print(f"scale: {what} filled in {time.perf_counter() - began:.0f} s")
        good = True
        for name in small.acts():
            one, other = await measured(small.acts()[name], large.acts()[name])
            ratio = other / one
            good = good and ratio <= AIM
            print(f"scale: {what:<10} {name:<14} {one:7.2f} ms  {other:7.2f} ms  x{ratio:.2f} (aim {AIM})")
    return good


async def measured(*acts: Act) -> list[float]:
    """Milliseconds of each, in turn: the median of the quietest quarter."""
    times: list[list[float]] = [[] for _ in acts]
    for number, (act, took) in itertools.product(range(ROUNDS + 3), zip(acts, times, strict=True)):
        began = time.perf_counter()
        await act()
        if number >= 3:  # connections and statements are made in the first ones
            took.append(1000 * (time.perf_counter() - began))
    return [statistics.median(sorted(took)[: ROUNDS // 4]) for took in times]


@contextlib.asynccontextmanager
async def opened(url: str, redis_url: str) -> AsyncIterator[Place]:
    """A database with one running turn, and a web process of it."""
    await upgrade(url)
    database = Database(url)
    await fill(database, PAGE, PAGE)
    async with database.write() as tx:
        running = "UPDATE turns SET status = 'running', box = 'box', runtime = 'command' WHERE id = 1"
        await tx.execute(text(running))
    app = create_app(Settings(database_url=url, redis_url=redis_url, webhook_secrets="bench"))
    store = arrivals(database)
    try:
        async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as http:
                yield Place(database, http, store)
    finally:
        await store.close()
        await database.close()


async def settle(database: Database) -> None:
    """Have done what a database does by the way while it grows for months, and not in one transaction."""
    if database.sqlite:
        with contextlib.closing(sqlite3.connect(make_url(database.url).database or "")) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    else:
        await execute(make_url(database.url).set(drivername="postgresql"), "VACUUM ANALYZE")


async def fill(database: Database, sessions: int, deliveries: int) -> None:
    """Sessions that wait for their checks, each with a turn that is done and its events, and deliveries that were
    decided; those that are there already stay."""
    async with database.write() as tx:
        for statement in statements(database.sqlite, sessions, deliveries):
            await tx.execute(text(statement))


def statements(sqlite: bool, sessions: int, deliveries: int) -> list[str]:
    def numbers(count: int) -> str:
        if sqlite:
            following = f"SELECT i + 1 FROM n WHERE i < {count}"  # noqa: S608
            return f"(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL {following}) SELECT i FROM n) n"  # noqa: S608
        return f"(SELECT i FROM generate_series(1, {count}) AS i) n"  # noqa: S608

    yes, body = ("1", "zeroblob(500)") if sqlite else ("true", "decode(repeat('00', 500), 'hex')")
    session = {
        "id": "i", "public_id": "'s_' || i", "installation_id": "1 + i % 50", "repository_id": "i % 500",
        "subject_kind": "'issue'", "subject_number": "i", "surface": "'github'", "trigger": "'mention'",
        "title": "'A title'", "instruction": "'do it'", "options": "'{}'", "own_branch": yes, "status": "'waiting'",
        "notes": "'[]'", "cap": "3", "changed_files": "'[]'", "resume": "'{}'", "event_seq": str(EVENTS_EACH),
        "wake": "0",
        "failures": "0", "created_at": f"{NOW}", "head_sha": "'sha' || i", "branch": "'greenloop/' || i",
        "pull_number": "i", "due_at": "4000000000 + i",
    }  # fmt: skip
    turn = {
        "id": "i", "public_id": "'t_' || i", "session_id": "i", "number": "1", "kind": "'issue'",
        "trigger": "'mention'", "source": "'{}'", "context": "'{}'", "status": "'done'",
        "marker": "'m' || i", "limits": "'{}'", "lost": "0",
        "retries": "0", "afresh": "false" if not sqlite else "0", "output_offset": "0", "parser_state": "'{}'",
        "changed_files": "'[]'", "input_tokens": "1", "cached_tokens": "1", "output_tokens": "1", "steps": "1",
        "cost": "0.1", "created_at": f"{NOW}", "finished_at": f"{NOW}", "box": "'box' || (i % 300)",
    }  # fmt: skip
    delivery = {
        "guid": "'g' || i", "event": "'check_run'", "installation_id": "1 + i % 50", "repository_id": "i % 500",
        "body": body, "received_at": f"{time.time()} - i", "status": "'done'", "decision": "'hint'", "tries": "0",
        "wake": "0", "handled_at": f"{NOW}",
    }  # fmt: skip

    def rows(table: str, values: Mapping[str, str], count: int) -> str:
        names = ", ".join(f'"{name}"' for name in values)
        chosen = ", ".join(values.values())
        return f"INSERT INTO {table} ({names}) SELECT {chosen} FROM {numbers(count)} WHERE true ON CONFLICT DO NOTHING"  # noqa: S608

    payload = '{"text": "' + "what an agent says while it works " * 4 + '"}'
    events = (
        "INSERT INTO events (session_id, seq, kind, payload, at) "  # noqa: S608
        f"SELECT s.id, n.i, 'assistant_delta', '{payload}', {NOW} FROM sessions s, {numbers(EVENTS_EACH)} "
        "WHERE true ON CONFLICT DO NOTHING"
    )
    return [
        rows("sessions", session, sessions),
        rows("turns", turn, sessions),
        events,
        rows("deliveries", delivery, deliveries),
    ]

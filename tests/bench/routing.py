"""How many hints a second one worker routes, and how long a mention waits behind all of them; SQLite, one core.

The hints are GitHub's own examples of checks, statuses and pushes for commits that no session waits for, in 20
repositories of 4 installations, one in 19 of them red. Looks at red commits have places of their own and are not made.
"""

import asyncio
import json
import os
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import uvloop
from sqlalchemy import select

from app.logging import configure
from github.webhooks.events import is_hint
from github.webhooks.identity import Me
from loops.context import Loop
from loops.engine.parts import Inbox
from loops.store.arrivals import Arrival, Arrivals, arrivals
from loops.store.bus import Bus
from loops.store.database import Database
from loops.store.leases import Leases
from loops.store.migrations import upgrade
from loops.store.states import Lane
from loops.store.tables import Delivery
from tests.github.payloads import examples
from tests.postgres import in_a_thread

HINTS = 30_000
AIM, BEFORE = 1500, 46
"""Hints a second, and what it was in November 2026 with a queue in Redis and a job for each."""
WAIT_AIM, WAIT_BEFORE = 1.0, 62.0
"""Seconds of a mention behind all of them."""
GROUP = 500


def main() -> int:
    configure("warning", json=True)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory(prefix="greenloop-bench-") as name:
        url = f"sqlite:///{Path(name)}/greenloop.db"
        in_a_thread(upgrade(url))
        rate, cpu, waited = uvloop.run(_measured(Database(url)))
    print(
        f"routing: {rate:,.0f} hints/s a worker, {rate / BEFORE:.0f} times {BEFORE}, aim {AIM:,}/s; {cpu:.2f} ms of "
        f"CPU each; a mention behind {HINTS:,} is taken up after {waited:.2f} s, {waited / WAIT_BEFORE:.3f} of "
        f"{WAIT_BEFORE:.0f} s, aim {WAIT_AIM:.0f} s"
    )
    return 0 if rate >= AIM and waited <= WAIT_AIM else 1


async def _measured(database: Database) -> tuple[float, float, float]:
    """Hints a second, milliseconds of CPU for each, and how long the mention waited."""
    inbox = arrivals(database)
    rung = asyncio.Event()
    bus = Bus("redis://127.0.0.1:1/0")
    surroundings = SimpleNamespace(
        database=database, bus=bus, clock=time.time, me=Me(app_id=1, slug="greenloop"), leases=Leases(database, "w", 60)
    )
    part = Inbox(cast(Loop, surroundings), rung)
    await _fill(inbox)
    began, spent = time.perf_counter(), time.process_time()
    working = asyncio.create_task(_all(part, database))
    await asyncio.sleep(0.5)
    waited = await _mention(inbox, database)
    await working
    took, spent = time.perf_counter() - began, time.process_time() - spent
    await inbox.close()
    await bus.close()
    await database.close()
    return HINTS / took, 1e3 * spent / HINTS, waited


async def _all(part: Inbox, database: Database) -> None:
    while await _waiting(database):
        await part.round()


async def _waiting(database: Database) -> bool:
    async with database.read() as tx:
        waits = (Delivery.status == "new", Delivery.lane <= int(Lane.HINTS), Delivery.lease_until.is_(None))
        # the first that there is: a look at all of them would cost as much as the worker's own
        return (await tx.execute(select(Delivery.guid).where(*waits).limit(1))).first() is not None


async def _mention(inbox: Arrivals, database: Database) -> float:
    """Seconds from its commit until it is handed to who answers it."""
    body = json.dumps(
        {
            "action": "created",
            "installation": {"id": 3},
            "repository": {"id": 7, "full_name": "acme/widgets"},
            "sender": {"id": 1, "login": "ann"},
            "issue": {"id": 1, "number": 5, "user": {"id": 1, "login": "ann"}},
            "comment": {"id": 11, "body": "@greenloop fix it", "user": {"id": 1, "login": "ann"}},
        }
    )
    await inbox.store([Arrival("mention", "issue_comment", "created", 3, 7, body.encode(), time.time())])
    began = time.perf_counter()
    while True:
        async with database.read() as tx:
            row = await tx.get_one(Delivery, "mention")
        if row.lane == Lane.REQUEST:
            return time.perf_counter() - began
        await asyncio.sleep(0.01)


async def _fill(inbox: Arrivals) -> None:
    bodies = [(event, json.loads(body)) for event, body in examples()]
    hints = [(event, body) for event, body in bodies if is_hint(event, body.get("action")) and "repository" in body]
    for start in range(0, HINTS, GROUP):
        await inbox.store([_arrival(n, *hints[n % len(hints)]) for n in range(start, start + GROUP)])


def _arrival(number: int, event: str, example: dict[str, Any]) -> Arrival:
    body = {**example, "installation": {"id": number % 4}, "repository": {**example["repository"], "id": number % 20}}
    sha, ended = f"{number:040x}", "failure" if number % 19 == 0 else "success"
    for part in ("check_run", "check_suite", "workflow_run"):
        if part in body:
            body[part] = {**body[part], "head_sha": sha, "conclusion": ended}
    if event == "status":
        body |= {"sha": sha, "state": ended}
    said = json.dumps(body).encode()
    return Arrival(f"hint-{number}", event, body.get("action"), number % 4, number % 20, said, time.time() - 100)

"""One installation cannot take more than its share of the inbox and the workers."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.process.wiring import open_loop
from app.process.worker import run as run_worker
from loops.engine import tasks
from loops.store.arrivals import Arrival, arrivals
from loops.store.queue import QUEUE, connect
from loops.store.tables import Delivery
from tests.e2e.house import House, house

LOUD, QUIET = 1, 2


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    """Without a worker: each test has its own."""
    async with house(tmp_path, run=None, worker_jobs=4) as opened:
        opened.stop.set()
        await asyncio.sleep(1)
        yield opened


def delivery(guid: str, installation: int, event: str = "status", age: float = 100.0) -> Arrival:
    return Arrival(guid, event, "created", installation, 7, b"{}", time.time() - age)


async def stored(home: House, *all_of_them: Arrival) -> None:
    inbox = arrivals(home.database)
    await inbox.store(all_of_them)
    await inbox.close()


async def test_what_a_loud_installation_sends_waits_behind_a_quiet_ones_and_its_people_come_before_its_hints(
    home: House,
) -> None:
    hints = [delivery(f"hint-{number}", LOUD) for number in range(700)]
    asked = delivery("asked", LOUD, "issue_comment", age=1)
    sent = [*hints, asked, delivery("quiet-1", QUIET, age=3), delivery("quiet-2", QUIET, age=2)]
    ours = {each.guid for each in sent}
    await stored(home, *sent)
    redis_url = str(home.settings.redis_url)
    async with open_loop(home.settings, redis_url, "a worker") as loop:
        await tasks.sweep(loop)
    redis = connect(redis_url)
    try:
        queued = [name.decode().split(":")[1] for name in await redis.zrange(QUEUE, 0, -1)]
    finally:
        await redis.aclose(close_connection_pool=True)
    order = [guid for guid in queued if guid in ours]
    assert set(order[:2]) == {"asked", "quiet-1"}
    assert "quiet-2" in order[2:4]
    assert len(queued) >= tasks.SWEEP_LIMIT


async def test_steps_that_last_leave_places_in_the_worker_to_other_installations(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    quiet = asyncio.Event()

    async def lasting(loop: Any, guid: str) -> None:
        async with loop.database.read() as tx:
            loud = (await tx.get_one(Delivery, guid)).installation_id == LOUD
        begun.append(guid)
        if not loud:
            quiet.set()
        await over.wait()

    over = asyncio.Event()
    monkeypatch.setattr(tasks, "route", lasting)
    await stored(home, *(delivery(f"loud-{number}", LOUD) for number in range(30)))
    stop = asyncio.Event()
    working = asyncio.create_task(run_worker(home.settings, str(home.settings.redis_url), stop=stop))
    try:
        while len(begun) < 3:
            await asyncio.sleep(0.05)
        await stored(home, delivery("quiet", QUIET))
        await asyncio.wait_for(quiet.wait(), 60)
        assert len(begun) == 4
    finally:
        over.set()
        stop.set()
        await working

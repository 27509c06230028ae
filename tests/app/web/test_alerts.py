"""Each alert of the chart fires by the fault that it is for: what is scraped then goes into Prometheus' own tool."""

import asyncio
import time
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import httpx
import pytest
from sqlalchemy import update

from app.process.worker import _again
from app.web.ops import Pulse, worker_app
from app.web.state import AppState
from k8s.boxes import BoxState
from loops.context import Loop
from loops.store.tables import Delivery
from tests.app.web.test_webhooks import COMMENT, deliver
from tests.charts.promtool import fires
from tests.databases import on_sqlite

pytestmark = on_sqlite

GONE = ""
"""The scrape of a process that is not there."""


async def scrape(http: httpx.AsyncClient) -> str:
    answer = await http.get("/metrics")
    assert answer.status_code == 200
    return answer.text


class Worker:
    """A worker's port for Prometheus, whose parts run when the test says so."""

    def __init__(self, shared: AppState) -> None:
        self.pulse = Pulse()
        self.pulse.loop = cast(Loop, SimpleNamespace(database=shared.database))
        self.http = httpx.AsyncClient(transport=httpx.ASGITransport(worker_app(self.pulse)), base_url="http://x")

    async def round(self, error: Exception | None = None) -> str:
        """One round of the sweep, as a worker runs it: the scrape after it."""
        stop = asyncio.Event()

        async def work() -> None:
            stop.set()
            if error is not None:
                raise error

        await _again(stop, self.pulse, "sweep", 0.0, work)
        return await scrape(self.http)


@pytest.fixture
def worker(shared: AppState) -> Worker:
    return Worker(shared)


async def test_work_that_nobody_takes_is_told(http: httpx.AsyncClient, shared: AppState, tmp_path: Path) -> None:
    await deliver(http, COMMENT)
    scrapes = []
    for minute in range(15):
        async with shared.database.write() as tx:
            await tx.execute(update(Delivery).values(due_at=time.time() - 60 * minute))
        scrapes.append(await scrape(http))
    fires(tmp_path, "GreenloopQueueOld", scrapes, quiet=5, loud=14)


async def test_deliveries_that_cannot_be_stored_are_told(
    http: httpx.AsyncClient, shared: AppState, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def no_space(group: object) -> None:
        raise OSError(28, "No space left on device")

    scrapes = [await scrape(http) for _ in range(6)]
    monkeypatch.setattr(shared.inbox._arrivals, "store", no_space)
    for minute in range(8):
        assert (await deliver(http, COMMENT, guid=f"g-{minute}")).status_code == 503
        scrapes.append(await scrape(http))
    fires(tmp_path, "GreenloopWebhooksRefused", scrapes, quiet=5, loud=12)


@pytest.mark.parametrize("fault", ["no worker is up", "all that a worker does fails"])
async def test_workers_that_do_nothing_are_told(worker: Worker, tmp_path: Path, fault: str) -> None:
    scrapes = [await worker.round() for _ in range(15)]
    for _ in range(20):
        scrapes.append(GONE if fault == "no worker is up" else await worker.round(RuntimeError("no")))
    fires(tmp_path, "GreenloopWorkerStuck", scrapes, quiet=14, loud=31)


@pytest.mark.parametrize("how", ["vanished", "reported"])
async def test_boxes_that_keep_ending_in_the_middle_of_a_turn_are_told(
    worker: Worker, http: httpx.AsyncClient, shared: AppState, tmp_path: Path, how: str
) -> None:
    async def both() -> str:
        lines = [*(await scrape(http)).splitlines(), *(await scrape(worker.http)).splitlines()]
        return (
            "\n".join(line for line in lines if line.startswith(("greenloop_turn_results", "greenloop_boxes"))) + "\n"
        )

    scrapes = [await both() for _ in range(5)]
    for _ in range(5):
        if how == "vanished":
            worker.pulse.metrics.count_lost_box(BoxState.EVICTED.value)
        else:
            shared.metrics.count_result("runner_restarted")
        scrapes.append(await both())
    fires(tmp_path, "GreenloopBoxesLost", scrapes, quiet=7, loud=9)


async def test_a_github_that_has_gone_silent_is_told(http: httpx.AsyncClient, shared: AppState, tmp_path: Path) -> None:
    await deliver(http, COMMENT)
    scrapes = [await scrape(http) for _ in range(5)]
    for minute in range(10):
        async with shared.database.write() as tx:
            await tx.execute(update(Delivery).values(received_at=time.time() - 3600 - 60 * minute))
        scrapes.append(await scrape(http))
    fires(tmp_path, "GreenloopSilence", scrapes, quiet=4, loud=13)

"""The web process while Redis cannot be reached, or takes connections and never answers."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from sqlalchemy import update

from app.web.boxes import next_turn
from app.web.state import AppState
from k8s.runner import protocol
from loops.store import bus
from loops.store.tables import Turn
from tests.app.boxside import ask, seed
from tests.databases import on_sqlite
from tests.hanging import hanging_server

pytestmark = on_sqlite


@pytest.fixture(params=["away", "hangs"])
async def redis_url(request: pytest.FixtureRequest) -> AsyncIterator[str]:
    if request.param == "away":
        yield "redis://127.0.0.1:1"
        return
    async with hanging_server() as server:
        yield server.url


async def test_a_box_that_waits_gets_its_turn_all_the_same_though_nobody_can_wake_it(
    box: httpx.AsyncClient, shared: AppState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus, "ALONE_SECONDS", 0.05)
    monkeypatch.setattr(protocol, "POLL_SECONDS", 3600)
    monkeypatch.setattr(next_turn, "LOOK_AGAIN", 3600)
    await seed(shared, status="queued")
    waiting = asyncio.create_task(box.post("/boxes/ann/next", json=ask()))
    await asyncio.sleep(0.3)
    async with shared.database.write() as tx:
        await tx.execute(update(Turn).values(status="ready"))
    async with asyncio.timeout(60):
        assert (await waiting).json()["turn"] == "t_1"


async def test_it_is_ready_and_says_what_is_slower(http: httpx.AsyncClient) -> None:
    ready = await http.get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
    assert "half a second later" in ready.json()["redis"]

import httpx
from sqlalchemy import text

from app.web.state import AppState
from loops.store.tables import Delivery
from tests.app.web.pages.seeding import seed
from tests.app.web.test_webhooks import COMMENT, deliver


async def test_a_service_whose_database_is_current_is_ready(http: httpx.AsyncClient) -> None:
    assert (await http.get("/healthz")).json() == {"status": "ok"}
    ready = await http.get("/readyz")
    assert (ready.status_code, ready.json()) == (200, {"status": "ok", "database": "ok", "redis": "ok", "inbox": 0})


async def test_a_database_of_a_newer_version_is_used_as_in_an_upgrade(
    http: httpx.AsyncClient, shared: AppState
) -> None:
    async with shared.database.write() as tx:
        await tx.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    ready = await http.get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (200, "ok")
    assert "newer than this version's" in ready.json()["database"]


async def test_a_database_without_its_tables_is_not_ready_and_says_what_to_do(
    http: httpx.AsyncClient, shared: AppState
) -> None:
    async with shared.database.write() as tx:
        await tx.execute(text("DELETE FROM alembic_version"))
    ready = await http.get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (503, "unavailable")
    assert "greenloop migrate" in ready.json()["database"]
    async with shared.database.write() as tx:
        await tx.execute(text("DROP TABLE alembic_version"))
    assert (await http.get("/readyz")).status_code == 503
    assert (await http.get("/healthz")).status_code == 200


async def test_the_figures_count_what_happened_and_what_waits(http: httpx.AsyncClient, shared: AppState) -> None:
    assert "greenloop_newest_delivery_age_seconds NaN" in (await http.get("/metrics")).text
    await seed(shared, status="waiting", due_at=100.0)
    await deliver(http, COMMENT)
    await deliver(http, COMMENT, event="ping")
    await http.post("/webhooks/github", content=b"x")
    async with shared.database.write() as tx:
        tx.add(Delivery(guid="old", event="issues", received_at=1.0, status="done"))
    figures = (await http.get("/metrics")).text
    for line in (
        'greenloop_webhooks_total{answer="stored"} 1.0',
        'greenloop_webhooks_total{answer="ignored"} 1.0',
        'greenloop_webhooks_total{answer="bad_signature"} 1.0',
        'greenloop_sessions{status="waiting"} 1.0',
        'greenloop_turns{status="done"} 1.0',
        "greenloop_deliveries_waiting 1.0",
        "greenloop_inbox_batch_count 1.0",
    ):
        assert line in figures.splitlines()
    age = next(float(line.split()[1]) for line in figures.splitlines() if line.startswith("greenloop_queue_age"))
    assert age > 1e9

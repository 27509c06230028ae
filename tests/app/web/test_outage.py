"""The database is away, or takes no writes: who asks hears it in words, and the log says it once."""

from collections.abc import AsyncIterator

import httpx
import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from starlette.applications import Starlette
from structlog.testing import capture_logs

from app.web.outage import TELL_SECONDS, handlers, is_outage, until_outage
from app.web.state import AppState
from tests.app.web.pages.seeding import seed
from tests.app.web.test_webhooks import COMMENT, deliver


async def read_only(shared: AppState) -> None:
    """As after a failover of PostgreSQL, or on a disk that was remounted."""
    database = shared.database
    if database.sqlite:
        async with database.write() as tx:
            await tx.execute(text("PRAGMA query_only=ON"))
        return
    async with database.write() as tx:
        name = (await tx.execute(text("SELECT current_database()"))).scalar_one()
        await tx.execute(text(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on'))
    await database.close()  # connections that are open keep what they began with


async def tables_away(shared: AppState) -> None:
    """No question is answered any more."""

    def refuse() -> object:
        raise OperationalError("SELECT 1", {}, OSError("could not connect: connection refused"))

    shared.database.read = shared.database.write = refuse  # type: ignore[method-assign,assignment]


async def test_readiness_notices_that_nothing_can_be_written(http: httpx.AsyncClient, shared: AppState) -> None:
    assert (await http.get("/readyz")).status_code == 200
    await read_only(shared)
    ready = await http.get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (503, "unavailable")
    assert "takes no writes" in ready.json()["database"]
    assert (await http.get("/healthz")).status_code == 200


async def test_pages_the_api_and_boxes_hear_503_in_words_and_the_log_says_it_once(
    http: httpx.AsyncClient, box: httpx.AsyncClient, shared: AppState
) -> None:
    await seed(shared)
    await tables_away(shared)
    with capture_logs() as told:
        page = await http.get("/", headers={"accept": "text/html"})
        again = [await http.get("/sessions/s_1"), await http.get("/metrics"), await http.get("/sessions/s_1/events")]
        report = await box.post("/boxes/gl-box/next", json={}, headers={"authorization": "Bearer x"})
    assert [each.status_code for each in (page, *again, report)] == [503] * 5
    assert "The database does not answer" in page.text and "<h1>" in page.text
    assert {each.json()["error"] for each in (again[0], again[1], report)} == {again[0].json()["error"]}
    assert {each.headers["retry-after"] for each in (page, *again, report)} == {"5"}
    said = [each for each in told if each["log_level"] in ("error", "critical")]
    assert [each["event"] for each in said] == ["database.away"] * 2, "one for the public port, one for that of boxes"
    assert not any("exc_info" in each for each in said)


async def test_a_webhook_that_cannot_be_stored_is_one_that_github_keeps(
    http: httpx.AsyncClient, shared: AppState
) -> None:
    if shared.database.sqlite:
        pytest.skip("the inbox has a connection of its own there: tests/app/web/test_durability.py")
    await read_only(shared)
    assert (await deliver(http, COMMENT)).status_code == 503


async def test_an_outage_is_told_once_a_minute() -> None:
    now = 0.0
    (answer,) = set(handlers(lambda: now).values())
    app = Starlette(exception_handlers=handlers(lambda: now))
    transport = httpx.ASGITransport(app)
    error = ConnectionRefusedError("no")

    async def fails(_: object) -> None:
        raise error

    app.add_route("/", fails)  # type: ignore[arg-type]
    with capture_logs() as told:
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
            for at in (0.0, 1.0, TELL_SECONDS):
                now = at
                assert (await client.get("/")).status_code == 503
    assert len(told) == 2 and callable(answer)


def test_a_mistake_of_ours_is_no_outage() -> None:
    def said(words: str) -> OperationalError:
        return OperationalError("SELECT", {}, Exception(words))

    assert not is_outage(said("no such column: turns.x"))
    assert not is_outage(KeyError("x"))
    for words in ("database or disk is full", "attempt to write a readonly database", "unable to open database file"):
        assert is_outage(said(words))


async def test_a_stream_ends_where_the_database_goes_away_and_not_over_a_mistake() -> None:
    async def stream(error: Exception) -> AsyncIterator[int]:
        yield 1
        raise error

    assert [each async for each in until_outage(stream(ConnectionResetError("gone")))] == [1]
    with pytest.raises(KeyError):
        [each async for each in until_outage(stream(KeyError("x")))]

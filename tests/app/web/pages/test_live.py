import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import httpx
import pytest
from sqlalchemy import update
from starlette.applications import Starlette

from app.settings import Settings
from app.web.app import create_app
from app.web.pages import live
from app.web.state import AppState
from loops.store.tables import Session
from tests.app.serving import serving
from tests.app.web.pages.seeding import happen, seed


@pytest.fixture
def settings(tmp_path: object, sqlite_url: str, redis_url: str) -> Settings:
    return Settings(data=tmp_path, database_url=sqlite_url, redis_url=redis_url, webhook_secrets="s")


@pytest.fixture
async def url(settings: Settings) -> AsyncIterator[tuple[str, AppState]]:
    app: Starlette = create_app(settings)
    async with serving(app) as address:
        yield address, app.state.shared


@contextlib.asynccontextmanager
async def watching(address: str, **headers: str) -> AsyncIterator[AsyncIterator[tuple[str, str, str]]]:
    """(event, id, data) of a live stream."""
    async with (
        httpx.AsyncClient(base_url=address, timeout=60) as http,
        http.stream("GET", "/sessions/s_1/events", headers=headers) as answer,
    ):
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield events(answer)


async def events(answer: httpx.Response) -> AsyncIterator[tuple[str, str, str]]:
    found: dict[str, str] = {}
    async for line in answer.aiter_lines():
        name, _, value = line.partition(": ")
        if line and name:
            found[name] = found[name] + "\n" + value if name in found else value
        elif "event" in found:
            yield found["event"], found.get("id", ""), found.get("data", "")
            found = {}


async def take(stream: AsyncIterator[tuple[str, str, str]], kind: str) -> tuple[str, str, str]:
    async with asyncio.timeout(60):
        async for one in stream:
            if one[0] == kind:
                return one
    raise AssertionError(f"the stream ended without {kind!r}")


def entry(text: str) -> tuple[str, dict[str, str]]:
    return "status", {"text": text}


async def test_events_arrive_as_they_happen_and_end_with_the_session(
    url: tuple[str, AppState], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "LOOK_AGAIN", 1000)
    address, shared = url
    session_id = await seed(shared)
    await happen(shared, session_id, entry("before"))
    async with watching(address) as stream:
        assert (await take(stream, "entry"))[1] == "1"
        assert "Working" in (await take(stream, "state"))[2]
        await happen(shared, session_id, entry("while watching"))
        new = await take(stream, "entry")
        assert new[1] == "2" and "while watching" in new[2]
        async with shared.database.write() as tx:
            await tx.execute(update(Session).values(status="completed", outcome="green"))
        shared.bus.notify(f"session:{session_id}")
        assert "Green" in (await take(stream, "state"))[2]
        await take(stream, "end")


async def test_a_broken_stream_goes_on_behind_the_last_event_seen(url: tuple[str, AppState]) -> None:
    address, shared = url
    session_id = await seed(shared, status="failed")
    await happen(shared, session_id, *(entry(f"no. {n}") for n in range(1, 1203)))
    async with watching(address, **{"Last-Event-ID": "3"}) as stream:
        ids = [int(one[1]) async for one in stream if one[0] == "entry"]
    assert ids == list(range(4, 1203))


async def test_without_a_wake_the_stream_looks_by_itself(
    url: tuple[str, AppState], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "LOOK_AGAIN", 0.2)
    address, shared = url
    session_id = await seed(shared)
    async with watching(address) as stream:
        await take(stream, "state")
        await happen(shared, session_id, entry("unannounced"), notify=False)
        assert "unannounced" in (await take(stream, "entry"))[2]


async def test_open_streams_do_not_hold_up_the_end_of_the_server(settings: Settings) -> None:
    app = create_app(settings)
    async with contextlib.AsyncExitStack() as stack:
        async with serving(app) as address:
            await seed(app.state.shared)
            stream = await stack.enter_async_context(watching(address))
            await take(stream, "state")
            began = time.monotonic()
        assert time.monotonic() - began < 4

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from asgi_lifespan import LifespanManager

from app.settings import Settings
from app.web.app import create_app
from app.web.state import AppState
from github.webhooks.outcomes import Actor, Repo
from loops.sessions.known_accounts import remember_installation, remember_person, remember_repository
from tests.databases import on_sqlite

TOKEN = "a-long-random-token"
ASKED = {"repository": "acme/widgets", "instruction": "fix the login", "person": "ann", "max_steps": 20}


async def client_of(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(settings)
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        shared: AppState = app.state.shared
        async with shared.database.write() as tx:
            await remember_installation(tx, 3, Actor(30, "acme"), 1000)
            await remember_repository(tx, Repo(7, "acme/widgets", 3, "main"), 1000)
            await remember_person(tx, Actor(1, "ann"), 1000)
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://greenloop.test", headers=headers
        ) as client:
            yield client


@pytest.fixture
async def api(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async for client in client_of(settings.model_copy(update={"api_token_file": _file(settings.data)})):
        yield client


def _file(folder: Path) -> Path:
    file = folder / "token"
    file.write_text(TOKEN + "\n")
    return file


async def test_a_session_is_started_seen_listed_and_cancelled(api: httpx.AsyncClient) -> None:
    started = await api.post("/api/v1/sessions", json=ASKED)
    assert started.status_code == 201
    assert started.json()["status"] == "pending" and set(started.json()) == {"session", "status"}
    where = started.headers["location"]
    shown = (await api.get(where)).json()
    assert (shown["instruction"], shown["surface"], shown["repository_id"]) == ("fix the login", "api", 7)
    assert [event["seq"] for event in shown["events"]] == [1]
    assert (await api.get(where, params={"after": 1})).json()["events"] == []
    listed = (await api.get("/api/v1/sessions", params={"installation": 3})).json()["sessions"]
    assert [each["session"] for each in listed] == [started.json()["session"]]
    cancelled = await api.post(f"{where}/cancel")
    assert (cancelled.status_code, cancelled.json()["was_open"]) == (200, True)


@on_sqlite
@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        (b"", 400, None),
        (b"[1]", 400, None),
        (b"[" * 100_000, 400, None),
        (b"x" * 300_000, 400, None),
        ({**ASKED, "instruction": ""}, 400, "instruction"),
        ({**ASKED, "instruction": None}, 400, "instruction"),
        ({**ASKED, "max_steps": 201}, 400, "max_steps"),
        ({**ASKED, "max_steps": "9"}, 400, "max_steps"),
        ({**ASKED, "max_steps": True}, 400, "max_steps"),
        ({**ASKED, "base": "a b"}, 400, "base"),
        ({**ASKED, "cap": 3}, 400, "cap"),
        ({**ASKED, "repository": "acme/other"}, 404, None),
        ({**ASKED, "installation": 4}, 404, None),
        ({**ASKED, "person": "bob"}, 404, None),
    ],
)
async def test_input_that_cannot_be_used_is_named(
    api: httpx.AsyncClient, body: Any, status: int, field: str | None
) -> None:
    given: dict[str, Any] = {"content": body} if isinstance(body, bytes) else {"json": body}
    answer = await api.post("/api/v1/sessions", **given)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json" and answer.json()["detail"]
    assert answer.json().get("field") == field


@on_sqlite
@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer \u00fc"]
)
async def test_without_the_token_nothing_is_told(api: httpx.AsyncClient, header: str) -> None:
    for method, path in (
        ("POST", "/api/v1/sessions"),
        ("GET", "/api/v1/sessions/s_1"),
        ("POST", "/api/v1/sessions/s_1/cancel"),
    ):
        answer = await api.request(method, path, headers={b"authorization": header.encode()})
        assert answer.status_code == 401


@on_sqlite
async def test_unknown_sessions_and_odd_numbers_are_answered(api: httpx.AsyncClient) -> None:
    assert (await api.get("/api/v1/sessions/s_nothing")).status_code == 404
    assert (await api.post("/api/v1/sessions/s_nothing/cancel")).status_code == 404
    assert (await api.get("/api/v1/sessions", params={"limit": "-1"})).status_code == 400
    assert (await api.get("/api/v1/sessions", params={"installation": "99999999999999999999"})).status_code == 400


@on_sqlite
async def test_without_a_token_in_the_settings_there_is_no_api(settings: Settings) -> None:
    async for client in client_of(settings):
        assert (await client.get("/api/v1/sessions")).status_code == 404

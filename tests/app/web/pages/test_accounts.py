"""Accounts on the page of the service's own machine, where nobody signs in."""

from pathlib import Path
from typing import Any

import httpx
from asgi_lifespan import LifespanManager
from cryptography.fernet import Fernet
from sqlalchemy import select

from app.settings import Settings
from app.web.app import create_app
from app.web.state import AppState
from github.webhooks.outcomes import Actor
from loops.runtimes.scripted.brain import Script
from loops.runtimes.scripted.server import ModelServer
from loops.sessions.known_accounts import remember_installation
from loops.store.tables import Profile

HOME = "http://127.0.0.1:8080"
FORM = {"installation": "acme", "name": "main", "provider": "own", "kind": "api_key", "secret": "sk-x", "model": "m"}


def settings(folder: Path, sqlite_url: str, redis_url: str, **more: str) -> Settings:
    known: dict[str, Any] = {"database_url": sqlite_url, "redis_url": redis_url, "webhook_secrets": "s"}
    return Settings(**{**known, **more}, data=folder, encryption_keys=Fernet.generate_key().decode())


async def test_an_account_is_added_and_tried_from_the_page(tmp_path: Path, sqlite_url: str, redis_url: str) -> None:
    app = create_app(settings(tmp_path, sqlite_url, redis_url))
    shared: AppState = app.state.shared
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        async with shared.database.write() as tx:
            await remember_installation(tx, 3, Actor(9, "acme"), 1000)
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 4000))
        async with httpx.AsyncClient(transport=transport, base_url=HOME, headers={"origin": HOME}) as http:
            assert "No account yet" in (await http.get("/accounts")).text
            with ModelServer({"x": Script()}) as server:
                kept = await http.post("/accounts", data=FORM | {"base_url": server.base_url("x", "chat")})
                assert kept.status_code == 303, kept.text
                shown = (await http.get("/accounts")).text
                assert "everybody" in shown and "opencode" in shown and "sk-x" not in shown
                tried = await http.post("/accounts/1/test")
                assert 'class="state good">main: ok: m, asked as opencode does, answered in' in tried.text
            tried = await http.post("/accounts/1/test")
            assert 'class="state bad">main: model_unreachable: The model could not be reached.' in tried.text
            assert "doctor --network" in tried.text and "is tried again later by itself" in tried.text
            assert (await http.post("/accounts/2/test")).status_code == 404
            assert (await http.post("/accounts/1/remove")).status_code == 303
            assert "No account yet" in (await http.get("/accounts")).text


async def test_pages_that_are_open_to_everybody_are_for_looking_only(
    tmp_path: Path, sqlite_url: str, redis_url: str
) -> None:
    app = create_app(settings(tmp_path, sqlite_url, redis_url, pages="open"))
    shared: AppState = app.state.shared
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        async with shared.database.write() as tx:
            await remember_installation(tx, 3, Actor(9, "acme"), 1000)
        transport = httpx.ASGITransport(app, client=("10.0.0.9", 4000))
        async with httpx.AsyncClient(transport=transport, base_url=HOME, headers={"origin": HOME}) as http:
            assert 'action="/accounts"' not in (await http.get("/accounts")).text
            assert (await http.post("/accounts", data=FORM)).status_code == 403
        async with shared.database.read() as tx:
            assert (await tx.execute(select(Profile))).first() is None

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import pytest
from asgi_lifespan import LifespanManager
from starlette.applications import Starlette

from app.settings import Settings
from app.web.app import create_app
from app.web.state import AppState
from tests.app.boxside import BoxAuth
from tests.app.command_line import greenloop

__all__ = ["greenloop"]

SECRET = b"It's a Secret to Everybody"

Configure = Callable[..., Settings]


@pytest.fixture
def settings(tmp_path: Path, database_url: str, redis_url: str) -> Settings:
    return Settings(
        data=tmp_path,
        database_url=database_url,
        redis_url=redis_url,
        webhook_secrets=SECRET.decode(),
    )


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[Starlette]:
    app = create_app(settings)
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        yield app


@pytest.fixture
def shared(app: Starlette) -> AppState:
    found: AppState = app.state.shared
    return found


@pytest.fixture
async def http(app: Starlette) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as client:
        yield client


@pytest.fixture
async def box(app: Starlette) -> AsyncIterator[httpx.AsyncClient]:
    """A box at the port of boxes: it shows its token, and of a turn that turn's own, unless the test sets another."""
    transport, auth = httpx.ASGITransport(app.state.boxes), BoxAuth(app.state.shared)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8081", auth=auth) as client:
        yield client

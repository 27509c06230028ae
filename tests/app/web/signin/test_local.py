"""Without sign-in the pages are for this machine only."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from asgi_lifespan import LifespanManager

from app.settings import Settings
from app.web.app import create_app

HOME = "http://127.0.0.1:8080"


async def asked(tmp_path: Path, redis_url: str, sqlite_url: str, *, url: str = HOME, **more: Any) -> httpx.Response:
    client, headers = more.pop("client", ("127.0.0.1", 4000)), more.pop("headers", {})
    settings = Settings(data=tmp_path, database_url=sqlite_url, redis_url=redis_url, webhook_secrets="s", **more)
    app = create_app(settings)
    transport = httpx.ASGITransport(app, client=client)
    async with (
        LifespanManager(app, startup_timeout=60, shutdown_timeout=60),
        httpx.AsyncClient(transport=transport, base_url=url) as http,
    ):
        return await http.get("/", headers=headers)


@pytest.mark.parametrize("url", [HOME, "http://localhost:8080", "http://[::1]:8080"])
async def test_this_machine_needs_no_sign_in(tmp_path: Path, redis_url: str, sqlite_url: str, url: str) -> None:
    assert (await asked(tmp_path, redis_url, sqlite_url, url=url)).status_code == 200


@pytest.mark.parametrize(
    "more",
    [
        {"url": "http://10.0.0.7:8080"},
        {"client": ("10.0.0.9", 4000)},
        {"headers": {"host": "greenloop.example.com"}},
        {"headers": {"host": "127.0.0.1.evil.example"}},
        {"headers": {"x-forwarded-for": "203.0.113.9"}},
        {"headers": {"forwarded": "for=203.0.113.9"}},
        {"public_url": "https://greenloop.example.com"},
    ],
    ids=str,
)
async def test_anybody_else_finds_the_pages_closed_and_reads_how_to_open_them(
    tmp_path: Path, redis_url: str, sqlite_url: str, more: dict[str, Any]
) -> None:
    answer = await asked(tmp_path, redis_url, sqlite_url, **more)
    assert answer.status_code == 403
    assert "GREENLOOP_SIGN_IN_SECRET_FILE" in answer.text


async def test_who_opens_the_pages_on_purpose_has_them_open(tmp_path: Path, redis_url: str, sqlite_url: str) -> None:
    answer = await asked(tmp_path, redis_url, sqlite_url, url="http://10.0.0.7:8080", pages="open")
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("half", "missing"),
    [
        ({"client_id": "Iv1"}, "GREENLOOP_SIGN_IN_SECRET_FILE"),
        ({"sign_in_secret": "x"}, "GREENLOOP_CLIENT_ID"),
        ({"client_id": "Iv1", "sign_in_secret": "x"}, "GREENLOOP_ENCRYPTION_KEYS_FILE"),
    ],
)
def test_half_a_sign_in_is_refused_at_the_start(tmp_path: Path, half: dict[str, Any], missing: str) -> None:
    settings = Settings(data=tmp_path, redis_url="redis://nowhere", webhook_secrets="s", **half)
    with pytest.raises(ValueError, match=missing):
        create_app(settings)

"""A service with sign-in at a local GitHub: Bob has a role in `acme/widgets`, Dave in none, `acme/open` is public."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from asgi_lifespan import LifespanManager
from cryptography.fernet import Fernet
from starlette.applications import Starlette

from app.settings import Settings
from app.web.app import create_app
from app.web.state import AppState
from github.emulator import LocalGitHub
from loops.store.tables import Repository, Session

PUBLIC = "https://greenloop.example.com"


@dataclass
class Service:
    """`sessions`: public id by repository."""

    app: Starlette
    local: LocalGitHub
    sessions: dict[str, str]

    @property
    def shared(self) -> AppState:
        found: AppState = self.app.state.shared
        return found

    def browser(self, **headers: str) -> httpx.AsyncClient:
        """A browser of its own, with its own cookies."""
        return httpx.AsyncClient(transport=httpx.ASGITransport(self.app), base_url=PUBLIC, headers=headers)


async def agree(address: str, login: str, answer: str = "authorize") -> str:
    """At GitHub, the person answers; the address that their browser is sent back to."""
    form = dict(parse_qsl(urlsplit(address).query)) | {"user": login, "answer": answer}
    async with httpx.AsyncClient() as http:
        return (await http.post(address.partition("?")[0], data=form)).headers["location"]


async def sign_in(browser: httpx.AsyncClient, login: str, path: str = "/") -> httpx.Response:
    """From a page over GitHub back to it; the last answer."""
    first = await browser.get(path)
    assert first.status_code == 303
    second = await browser.get(first.headers["location"])
    return await browser.get(await agree(second.headers["location"], login))


@pytest.fixture
async def local() -> AsyncIterator[LocalGitHub]:
    async with LocalGitHub() as local:
        for login in ("bob", "dave"):
            local.add_user(login)
        local.add_organization("acme")
        local.add_repository("acme/widgets")
        local.add_repository("acme/open", private=False)
        local.set_permission("acme/widgets", "bob", "read")
        local.install("acme")
        local.set_callback(f"{PUBLIC}/signin/callback")
        yield local


@pytest.fixture
async def service(local: LocalGitHub, tmp_path: Path, sqlite_url: str, redis_url: str) -> AsyncIterator[Service]:
    settings = options(local, tmp_path, sqlite_url, redis_url)
    app = create_app(settings)
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        made = Service(app, local, {"acme/widgets": "s_widgets", "acme/open": "s_open"})
        async with made.shared.database.write() as tx:
            for name, public_id in made.sessions.items():
                row = local.repository(name)
                tx.add(
                    Repository(
                        id=row.id, installation_id=5, full_name=name, default_branch="main", private=row.private,
                        updated_at=0,
                    )
                )  # fmt: skip
                tx.add(
                    Session(
                        public_id=public_id, installation_id=5, repository_id=row.id, subject_kind="issue",
                        subject_number=4, surface="github", trigger="mention", instruction="fix it", cap=3,
                        title=f"Work on {name}", status="running", created_at=1_790_000_000.0,
                    )
                )  # fmt: skip
        yield made


def options(local: LocalGitHub, folder: Path, database_url: str, redis_url: str, **more: Any) -> Settings:
    given: dict[str, Any] = {
        "data": folder,
        "database_url": database_url,
        "redis_url": redis_url,
        "webhook_secrets": "s",
        "encryption_keys": Fernet.generate_key().decode(),
        "github_api_url": local.api_url,
        "github_web_url": local.web_url,
        "public_url": PUBLIC,
        "client_id": local.app.client_id,
        "sign_in_secret": local.app.client_secret,
    }
    return Settings(**{**given, **more})

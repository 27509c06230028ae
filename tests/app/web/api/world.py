"""Two installations at a local GitHub, a service that asks it, and people with tokens: Alice writes in `acme/widgets`,
Bob reads there, Dave writes in `other/things`."""

import contextlib
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from asgi_lifespan import LifespanManager
from cryptography.fernet import Fernet
from starlette.applications import Starlette

from app.process.wiring import open_github
from app.settings import Settings
from app.web.app import create_app
from app.web.state import AppState
from github.emulator import LocalGitHub
from github.webhooks.outcomes import Actor, Repo
from loops.accounts.personal_tokens import SCOPES, create
from loops.sessions.known_accounts import remember_installation, remember_person, remember_repository
from loops.store.tables import Person
from tests.app.web.api.described import Described

URL = "https://greenloop.example.com"
OPERATOR = "the-operators-own-token"
PLACES = {"acme/widgets": "alice", "other/things": "dave"}


@dataclass
class World:
    """`installations`: ids by account."""

    app: Starlette
    local: LocalGitHub
    described: Described
    installations: dict[str, int] = field(default_factory=dict)

    @property
    def shared(self) -> AppState:
        found: AppState = self.app.state.shared
        return found

    async def token(self, login: str, scopes: Collection[str] = tuple(SCOPES), days: int = 30) -> str:
        """A new token of that person."""
        person, now = Actor(self.local.user(login).id, login), self.shared.clock()
        async with self.shared.database.write() as tx:
            await remember_person(tx, person, now)
            owner = await tx.get_one(Person, person.id)
            return await create(tx, owner, name="test", scopes=scopes, days=days, surface="page", now=now)

    def client(self, token: str, **headers: str) -> httpx.AsyncClient:
        """A client with that token, whose answers are held against the description."""
        return httpx.AsyncClient(
            transport=httpx.ASGITransport(self.app),
            base_url=URL,
            headers={"authorization": f"Bearer {token}", **headers},
            event_hooks={"response": [self.described.check]},
        )

    async def of(self, login: str, scopes: Collection[str] = tuple(SCOPES)) -> httpx.AsyncClient:
        return self.client(await self.token(login, scopes))


async def started(client: httpx.AsyncClient, repository: str, **more: Any) -> str:
    """A new session there."""
    answer = await client.post("/api/v1/sessions", json={"repository": repository, "instruction": "fix it", **more})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["session"])


@contextlib.asynccontextmanager
async def world(folder: Path, database_url: str, redis_url: str) -> AsyncIterator[World]:
    async with LocalGitHub() as local:
        for login in ("alice", "bob", "dave"):
            local.add_user(login)
        for name, writer in PLACES.items():
            local.add_organization(name.partition("/")[0])
            local.add_repository(name)
            local.set_permission(name, writer, "write")
        local.set_permission("acme/widgets", "bob", "read")
        local.set_callback(f"{URL}/signin/callback")
        settings = Settings(
            data=folder,
            runtime="command",
            command="true",
            database_url=database_url,
            redis_url=redis_url,
            webhook_secrets="s",
            api_token=OPERATOR,
            encryption_keys=Fernet.generate_key().decode(),
            app_id=local.app.id,
            app_private_key=local.app.private_key,
            github_api_url=local.api_url,
            github_web_url=local.web_url,
            public_url=URL,
            client_id=local.app.client_id,
            sign_in_secret=local.app.client_secret,
        )
        async with contextlib.AsyncExitStack() as owned:
            github = open_github(settings)
            owned.push_async_callback(github.aclose)
            app = create_app(settings, github=github)
            async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
                async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=URL) as anybody:
                    described = Described((await anybody.get("/api/v1/openapi.json")).json())
                made = World(app, local, described)
                async with made.shared.database.write() as tx:
                    for name in PLACES:
                        account = name.partition("/")[0]
                        number = made.installations[account] = local.install(account, [name]).id
                        row = local.repository(name)
                        await remember_installation(tx, number, Actor(row.id + 1000, account), 1000)
                        await remember_repository(tx, Repo(row.id, name, number, "main"), 1000)
                yield made

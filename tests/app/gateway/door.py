"""A service with a turn that runs, its account's provider, and an agent's way between them."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
from aiohttp import web
from cryptography.fernet import Fernet
from sqlalchemy import select

from app.gateway.gateway import GatewaySettings, ModelGateway
from app.settings import Settings
from app.web.app import create_app
from loops.secrets.token_hash import token_hash
from loops.secrets.vault import Vault
from loops.store.database import Database
from loops.store.migrations import upgrade
from loops.store.tables import Profile, Turn
from tests.app.boxside import seed
from tests.app.serving import serving_both

KEY = "sk-planted-provider-key-0123456789"
TURN_TOKEN = "glm_of-turn-one-0123456789"
MODEL = "model-1"

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Asked:
    """A request as the provider saw it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    raw: bytes


@dataclass
class Provider:
    """The provider's end: answers by `answer`, notes what it was asked."""

    answer: Answer
    asked: list[Asked] = field(default_factory=list)
    gone: int = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        headers = {name.lower(): value for name, value in request.headers.items()}
        told = json.loads(raw) if raw.startswith(b"{") else {}
        self.asked.append(Asked(request.path_qs, headers, told, raw))
        try:
            return await self.answer(request)
        except (ConnectionResetError, asyncio.CancelledError):
            self.gone += 1
            raise


def events(*told: dict[str, Any] | str) -> bytes:
    return b"".join(f"data: {one if isinstance(one, str) else json.dumps(one)}\n\n".encode() for one in told)


async def streamed(request: web.Request, *pieces: bytes, **headers: str) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "text/event-stream", **headers})
    await response.prepare(request)
    for piece in pieces:
        await response.write(piece)
    await response.write_eof()
    return response


CHAT = events(
    {"choices": [{"index": 0, "delta": {"content": "Hello"}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    {
        "choices": [],
        "usage": {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 40}},
    },
    "[DONE]",
)


async def chat(request: web.Request) -> web.StreamResponse:
    return await streamed(request, CHAT)


@dataclass
class Door:
    """`agent` asks as the box of turn `t_1` does; `url` is the port of boxes, `public` everybody's."""

    url: str
    public: str
    agent: httpx.AsyncClient
    provider: Provider
    database: Database
    vault: Vault

    async def turn(self) -> Turn:
        async with self.database.read() as tx:
            return (await tx.execute(select(Turn).where(Turn.public_id == "t_1"))).scalar_one()

    async def change(self, **values: Any) -> None:
        async with self.database.write() as tx:
            row = (await tx.execute(select(Turn).where(Turn.public_id == "t_1"))).scalar_one()
            for name, value in values.items():
                setattr(row, name, value)

    async def move_account(self, host: str) -> None:
        """Its provider is at another name of this machine."""
        async with self.database.write() as tx:
            row = (await tx.execute(select(Profile))).scalar_one()
            row.base_url = (row.base_url or "").replace("127.0.0.1", host)

    async def account(self) -> Profile:
        async with self.database.read() as tx:
            return (await tx.execute(select(Profile))).scalar_one()

    async def chat(self, **body: Any) -> httpx.Response:
        return await self.agent.post("v1/chat/completions", json={"model": MODEL, "stream": True, **body})


@contextlib.asynccontextmanager
async def door(
    settings: Settings,
    answer: Answer = chat,
    *,
    runtime: str = "opencode",
    profile: dict[str, Any] | None = None,
    secret: str = KEY,
    limits: dict[str, Any] | None = None,
    gateway: GatewaySettings | None = None,
) -> AsyncIterator[Door]:
    """Serve the application with its model gateway, and one turn that may ask."""
    await upgrade(settings.database)
    provider = Provider(answer)
    application = web.Application(client_max_size=64 * 1024 * 1024)
    application.router.add_route("*", "/{rest:.*}", provider.handle)
    runner = web.AppRunner(application, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    base = f"http://127.0.0.1:{runner.addresses[0][1]}/base"
    vault = Vault([Fernet.generate_key().decode()])
    database = Database(settings.database)
    models = ModelGateway(database, vault, settings.price_of, gateway)
    app = create_app(settings, models=models)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(runner.cleanup)
        stack.push_async_callback(database.close)
        served = await stack.enter_async_context(serving_both(app))
        url = served.boxes
        known = {"installation_id": 5, "name": "main", "provider": "custom", "credential_kind": "api_key"}
        row = Profile(**{**known, "base_url": base, "created_at": 0, "updated_at": 0, **(profile or {})})
        row.secret = vault.encrypt(secret)
        async with database.write() as tx:
            tx.add(row)
            await tx.flush()
            number = row.id
        await seed(app.state.shared, status="running")
        opened = Door(url, served.url, httpx.AsyncClient(timeout=60), provider, database, vault)
        stack.push_async_callback(opened.agent.aclose)
        opened.agent.base_url = httpx.URL(f"{url}/models/t_1/")
        opened.agent.headers["authorization"] = f"Bearer {TURN_TOKEN}"
        about = {"runtime": runtime, "model": MODEL, "profile_id": number, "model_token": token_hash(TURN_TOKEN)}
        await opened.change(**about, limits=limits or {"seconds": 60})
        yield opened

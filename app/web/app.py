"""The web process: one Starlette application, and the server that runs it."""

import asyncio
import contextlib
import gc
import secrets
import socket
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from app.gateway.gateway import ModelGateway
from app.gateway.git.gateway import GitGateway
from app.settings import Settings
from app.web import health, metrics, outage
from app.web.api.device import routes as device_routes
from app.web.api.rights import Rights
from app.web.api.routes import routes as api_routes
from app.web.boxes.port import box_app
from app.web.boxes.turns import former_routes
from app.web.connections import ConnectionLimits, bounded
from app.web.inbox import Inbox
from app.web.ops import web_app
from app.web.pages import accounts, device, live, sessions, tokens, unfinished
from app.web.pages.render import STATIC
from app.web.side_server import SideServer
from app.web.signin.gate import Gate
from app.web.signin.routes import people
from app.web.signin.routes import routes as signin_routes
from app.web.state import AppState
from app.web.webhooks import Receiver
from github.client.app import GitHubApp
from loops.accounts.box_secrets import Credentials, FetchTokens, NoCredentials, NoFetchTokens
from loops.protocol.output_groups import Outputs
from loops.protocol.tokens import box_key
from loops.secrets.redact import Redactor
from loops.secrets.turn_redactors import TurnRedactors
from loops.store.arrivals import arrivals
from loops.store.bus import Bus
from loops.store.database import Database

if TYPE_CHECKING:
    from app.web.mcp import McpSurface

WEBHOOKS = "/webhooks/github"
DRAIN_SECONDS = 10
"""How long an end may take: half of it for what boxes have under way, and then half for everybody else."""
BOXES_SHARE = 0.25
"""The part of the file descriptors that are left for the connections of boxes, where the process has few."""


def create_app(
    settings: Settings,
    *,
    redis_url: str = "",
    fetch_tokens: FetchTokens | None = None,
    credentials: Credentials | None = None,
    models: ModelGateway | None = None,
    git: GitGateway | None = None,
    github: GitHubApp | None = None,
    owned: contextlib.AsyncExitStack | None = None,
) -> Starlette:
    """The application. Raises ValueError when a setting that it cannot do without is missing.

    `redis_url` is where workers are told of what is due; by default `settings.redis_url`. `models` and `git` are the
    gateways of boxes, `github` is asked what people may who call the API.
    `owned` is closed when the application ends.
    """
    redis_url = redis_url or settings.redis_url
    if not redis_url:
        raise ValueError("no Redis: set GREENLOOP_REDIS_URL, or run everything in one process with `greenloop up`")
    database = Database(settings.database, info=settings.told_of)
    bus = Bus(redis_url)
    figures = metrics.Metrics()
    inbox = Inbox(arrivals(database), bus, figures, limit=settings.inbox_queue)
    receiver = Receiver(settings.webhook_secret_list(), inbox, figures, body_limit=settings.body_limit)
    shared = AppState(
        settings=settings,
        database=database,
        bus=bus,
        inbox=inbox,
        outputs=Outputs(database),
        metrics=figures,
        gate=Gate(settings),
        fetch_tokens=fetch_tokens or NoFetchTokens(),
        credentials=credentials or NoCredentials(),
        box_key=_box_key(settings),
        redactors=TurnRedactors(Redactor(settings.secret_values())),
        rights=Rights(github, time.time),
    )

    agents = _mcp(shared)
    gateways = [each for each in (models, git) if each is not None]

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await shared.bus.start()
        for gateway in gateways:
            gateway.start(figures.gateways)
        try:
            async with agents.running() if agents else contextlib.nullcontext():
                yield
        finally:
            await shared.inbox.close()
            await shared.outputs.close()
            for gateway in gateways:
                await gateway.close()
            await shared.gate.aclose()
            await shared.bus.close()
            await shared.database.close()
            if owned:
                await owned.aclose()

    app = Application(
        receiver,
        routes=_routes(agents),
        lifespan=lifespan,
        exception_handlers=outage.handlers(),
    )
    app.state.shared = shared
    app.state.boxes = box_app(shared, [route for gateway in gateways for route in gateway.routes()])
    return app


def _box_key(settings: Settings) -> bytes:
    """Without an encryption key no worker starts, and there is no box: then any secret will do."""
    keys = settings.encryption_key_list()
    return box_key(keys) if keys else secrets.token_bytes(32)


def _routes(agents: "McpSurface | None") -> list[BaseRoute]:
    return [
        *device_routes(),
        *api_routes(),
        *([Route("/mcp", agents)] if agents else []),
        Route("/healthz", health.healthz),
        Route("/readyz", health.readyz),
        Route("/metrics", metrics.metrics),
        *former_routes(),
        *signin_routes(),
        Route("/", people(sessions.index)),
        Route("/sessions/{session}", people(sessions.session)),
        Route("/sessions/{session}/events", people(live.events, stream=True)),
        Route("/sessions/{session}/turns/{number:int}/patch", people(unfinished.patch)),
        *accounts.routes(),
        *tokens.routes(),
        *device.routes(),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]


def _mcp(shared: AppState) -> "McpSurface | None":
    if not shared.settings.api_token_text() and shared.gate.signin is None:
        return None
    # its imports cost a second of a start
    from app.web.mcp import McpSurface

    return McpSurface(shared)


class Application(Starlette):
    """Starlette with a short cut: webhooks pass no router and no middleware, which would cost more than their storage.

    `receiver` answers everything at `WEBHOOKS`; what it lets through, uvicorn answers with 500.
    """

    def __init__(self, receiver: Receiver, **options: Any) -> None:
        super().__init__(**options)
        self._receiver = receiver

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == WEBHOOKS:
            await self._receiver(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


class Server(uvicorn.Server):
    """uvicorn, telling the surface as soon as it is to stop, so that long polls and live streams end at once."""

    def __init__(
        self,
        config: uvicorn.Config,
        shared: AppState,
        *,
        signals: bool,
        beside: Sequence[tuple[SideServer, socket.socket]] = (),
    ) -> None:
        """`beside` are the process's other ports, which are served from its start to its end."""
        super().__init__(config)
        self._shared = shared
        self._signals = signals
        self._beside = beside
        self._serving: list[asyncio.Task[None]] = []

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Beside other parts in one process, signals are not ours: uvicorn would raise them again before they end."""
        with super().capture_signals() if self._signals else contextlib.nullcontext():
            yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then take all that was loaded out of the garbage collector's sight: it will not go away."""
        await super().startup(sockets)
        if self.should_exit:
            return
        self._serving = [asyncio.create_task(side.serve([listening])) for side, listening in self._beside]
        gc.collect()
        gc.freeze()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let what waits answer, then wait for the rest up to `DRAIN_SECONDS`."""
        gc.unfreeze()
        self._shared.stopping.set()
        for side, _ in self._beside:
            side.should_exit = True
        await asyncio.gather(*self._serving)
        await super().shutdown(sockets)


def server(
    app: Starlette,
    *,
    signals: bool = True,
    ops: socket.socket | None = None,
    boxes: socket.socket | None = None,
    limits: ConnectionLimits | None = None,
) -> Server:
    """The server for `app`: `await server(app).serve([listening])`. On `boxes` it serves boxes, on `ops` its figures.

    Without `signals` it ends only by `should_exit`.
    """
    shared: AppState = app.state.shared
    settings = shared.settings
    beside = []
    if ops is not None:
        beside.append((SideServer(web_app(shared)), ops))
    if boxes is not None:
        http = bounded(ConnectionLimits(settings.box_connections, settings.box_connections, share=BOXES_SHARE))
        drained = DRAIN_SECONDS // 2
        beside.append((SideServer(app.state.boxes, drain_seconds=drained, http=http, date_header=False), boxes))
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http=bounded(limits or _limits(settings)),
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=DRAIN_SECONDS // 2,
    )
    return Server(config, shared, signals=signals, beside=beside)


def _limits(settings: Settings) -> ConnectionLimits:
    return ConnectionLimits(
        settings.connections, settings.peer_connections, proxies=settings.trusted_proxies, share=1 - BOXES_SHARE
    )

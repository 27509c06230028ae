"""The gateway's door: who asks, and what. What passes is taken on by `app.gateway.relay`."""

import contextlib
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from app.bodies import BodyTooLarge, body_of, declared
from app.gateway.figures import GatewayFigures, Watched
from app.gateway.relay import Call, answer, relay
from app.gateway.room import NoRoom, Room
from app.gateway.waiting import Bookings
from app.gateway.whole import NotWhole, whole
from loops.accounts.box_secrets import CannotPrepare
from loops.gateway import headers
from loops.gateway.access import REFUSED, Caller, NotItsToken, account_of, caller_of
from loops.gateway.endpoints import ROOT, Endpoint, ModelRequest, NotAsked, endpoint_of, protocol_at, request_of
from loops.gateway.minting import Minter
from loops.gateway.refreshing import LoginRefused, LoginUnreachable, Refresher
from loops.gateway.refusals import Refusal, ending, refuse, spent
from loops.gateway.upstreams import Account, Upstream, upstream_of
from loops.runtimes.spec import Price, Wire
from loops.secrets.vault import Vault
from loops.store.database import Database

log = structlog.get_logger(__name__)

BODY: Final = 32 * 1024 * 1024
"""Bytes of one request: Anthropic takes no more."""
HELD: Final = 128 * 1024 * 1024
"""Bytes of all requests that are being read or sent."""
AT_ONCE: Final = 32
"""Requests of one turn at a time: its agent, and sub-agents."""
CONNECT_SECONDS, ANSWER_SECONDS = 15.0, 900.0
SILENCE: Final = 15.0
"""Seconds of the model's silence after which the agent is told that it lives; Gemini CLI waits for 60 in all."""

LOGIN_BYTES: Final = 64 * 1024
"""What the answer to a refreshed login may hold."""


Callers = Callable[[str, str], Awaitable[Caller]]
"""Who asks, by what stands in the path and the token: raises NotItsToken."""


@dataclass(frozen=True)
class GatewaySettings:
    """Sizes in bytes, times in seconds."""

    body: int = BODY
    held: int = HELD
    at_once: int = AT_ONCE
    silence: float = SILENCE


class ModelGateway:
    """An ASGI application. Open while `start` was called and `close` was not."""

    def __init__(
        self,
        database: Database,
        vault: Vault,
        price_of: Callable[[str | None], Price | None],
        settings: GatewaySettings | None = None,
        clock: Callable[[], float] = time.time,
        callers: Callers | None = None,
    ) -> None:
        """`callers`: who may ask; by default turns that run."""
        self._database = database
        self._vault = vault
        self._settings = settings or GatewaySettings()
        self._callers = callers or self._turn
        self._room = Room(self._settings.at_once, self._settings.held)
        self._figures: GatewayFigures | None = None
        self._session: aiohttp.ClientSession | None = None
        self._refresher = Refresher(database, vault, self._post, clock)
        self._minter = Minter(self._post_form, clock)
        self._bookings = Bookings(database, price_of)
        self._refused = 0

    def start(self, figures: GatewayFigures) -> None:
        """Inside the event loop that serves."""
        self._figures = figures
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=ANSWER_SECONDS)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=15),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=timeout,
            trust_env=True,
        )

    async def close(self) -> None:
        """Once nobody asks any more; what was used is booked first."""
        await self._bookings.close()
        await self._refresher.close()
        if self._session is not None:
            await self._session.close()

    def routes(self) -> list[Route]:
        """Where boxes reach it."""
        return [Route(f"{ROOT}/{{turn}}/{{path:path}}", self)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if self._figures is None:
            raise RuntimeError("the model gateway is not started")
        with self._figures.watching("models", send) as watched:
            try:
                await self._answer(request, watched)
            except Refusal as refusal:
                watched.refused = True
                self._refused += 1
                if self._refused & (self._refused - 1) == 0:
                    # the first, the second, the fourth …: boxes do not write our log
                    turn, path = request.path_params["turn"][:40], request.path_params["path"][:80]
                    log.info("gateway.refused", turn=turn, path=path, status=refusal.status, so_far=self._refused)
                await answer(watched.send, refusal)
            except ClientDisconnect:
                return

    async def _answer(self, request: Request, watched: Watched) -> None:
        path = request.path_params["path"]
        wire = protocol_at(path)
        endpoint = _endpoint(request, path, wire)
        caller = await self._caller(request.path_params["turn"], _token(request), wire)
        watched.provider = caller.profile.provider
        try:
            with self._room.place(caller.turn):
                await self._ask(request, caller, endpoint, watched)
        except BodyTooLarge as error:
            raise refuse(wire, 413, str(error)) from None
        except NoRoom as error:
            raise refuse(wire, error.status, str(error)) from None

    async def _ask(self, request: Request, caller: Caller, endpoint: Endpoint, watched: Watched) -> None:
        wire, settings = endpoint.wire, self._settings
        size = declared(request, settings.body)
        with contextlib.ExitStack() as held:
            held.enter_context(self._room.bytes(caller.turn, size))
            body = await body_of(request, size)
            watched.asked = len(body)
            asked = _asked(request, caller, endpoint, body)
            del body
            account = await self._account(caller, wire)
            passing = headers.asked(request.scope["headers"])
            call = Call(caller, asked, account, _upstream(account, wire, passing), passing, held.close)
            await relay(
                self._session_open, self._refresher, self._bookings, call, request, watched.send, settings.silence
            )

    async def _caller(self, turn: str, token: str, wire: Wire) -> Caller:
        try:
            caller = await self._callers(turn, token)
        except NotItsToken:
            raise refuse(wire, 401, REFUSED) from None
        if caller.stopped is not None:
            raise spent(wire, caller.calls, ending(caller.stopped))
        return caller

    async def _turn(self, turn: str, token: str) -> Caller:
        async with self._database.read() as tx:
            return await caller_of(tx, turn, token)

    async def _account(self, caller: Caller, wire: Wire) -> Account:
        try:
            account = account_of(caller, self._vault)
            if wire not in caller.calls.wires(account.provider, bool(account.base_url)):
                raise refuse(wire, 404, "This turn's agent asks its model in another protocol.")
            return await self._minter.current(await self._refresher.current(account))
        except (LoginRefused, ValueError) as error:
            raise refuse(wire, 401, str(error)) from None
        except (LoginUnreachable, CannotPrepare) as error:
            raise refuse(wire, 503, str(error)) from None

    @property
    def _session_open(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("the model gateway is not started")
        return self._session

    async def _post(self, url: str, body: Mapping[str, str]) -> tuple[int, Any]:
        return await self._posted(url, json=body)

    async def _post_form(self, url: str, body: Mapping[str, str]) -> tuple[int, Any]:
        return await self._posted(url, data=body)

    async def _posted(self, url: str, **body: Any) -> tuple[int, Any]:
        timeout = aiohttp.ClientTimeout(total=30)
        try:
            async with self._session_open.post(url, **body, timeout=timeout, allow_redirects=False) as told:
                return told.status, await _json(told)
        except aiohttp.ClientError as error:
            raise OSError(type(error).__name__) from None


def _endpoint(request: Request, path: str, wire: Wire) -> Endpoint:
    endpoint = endpoint_of(path)
    if endpoint is None:
        raise refuse(
            wire, 404, "The model gateway has no such path: it takes what a turn asks its model, nothing else."
        )
    if request.headers.get("upgrade"):
        raise refuse(wire, 426, "The model gateway speaks HTTP only.")
    if request.method != "POST":
        raise refuse(wire, 405, f"{request.method} is none of the model gateway's methods.")
    if request.headers.get("content-encoding", "identity") != "identity":
        raise refuse(wire, 415, "The model gateway reads no packed bodies.")
    return endpoint


def _token(request: Request) -> str:
    """The turn's token, in the header in which the CLI sends a key."""
    for name in ("x-api-key", "x-goog-api-key"):
        if found := request.headers.get(name):
            return found
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    return value.strip() if kind.lower() == "bearer" else ""


def _asked(request: Request, caller: Caller, endpoint: Endpoint, body: bytes) -> ModelRequest:
    def may_ask(model: str) -> bool:
        return not caller.model or caller.calls.may_ask(caller.model, model)

    try:
        beta = request.query_params.get("beta") == "true"
        return request_of(endpoint, body, beta, may_ask, caller.model)
    except NotAsked as error:
        raise refuse(endpoint.wire, error.status, str(error), error.kind) from None


def _upstream(account: Account, wire: Wire, passing: Mapping[str, str]) -> Upstream:
    try:
        return upstream_of(account, wire, passing)
    except ValueError as error:
        raise refuse(wire, 401, str(error)) from None


async def _json(told: aiohttp.ClientResponse) -> Any:
    try:
        return json.loads(await whole(told, LOGIN_BYTES))
    except (NotWhole, ValueError):
        return None

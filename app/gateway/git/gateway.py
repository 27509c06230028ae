"""The git gateway's door: who asks, for which repository, and what passes. Nothing of a stream is held back.

Where it goes is GitHub's answer for a repository's id, never what a box wrote; the App's token is put in here.
"""

import base64
import binascii
import contextlib
import json
import time
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

import aiohttp
import structlog
from sqlalchemy import func, select
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from app.bodies import BodyTooLarge, body_of, declared
from app.gateway.figures import GatewayFigures, Watched
from app.gateway.git import requests
from app.gateway.git.requests import ROOT, GitRequest, NotServed, What
from app.gateway.git.upstream import Origins, Place, Upstream, document, pass_on
from app.gateway.room import NoRoom, Room
from loops.protocol.access import TokenRefused, turn_with
from loops.secrets.vault import Vault, VaultError
from loops.store.database import Database
from loops.store.states import TurnStatus
from loops.store.tables import Repository, Session, Turn

log = structlog.get_logger(__name__)

BODY: Final = 8 * 1024 * 1024
"""Bytes of what a box asks: what it has and what it wants, a line each."""
HELD: Final = 64 * 1024 * 1024
"""Bytes of all requests that are being read or sent."""
AT_ONCE: Final = 8
"""Requests of one turn at a time."""
CONNECT_SECONDS, SILENCE_SECONDS = 15.0, 120.0
LFS_SECONDS = 3600.0
"""How long the address of an object of Git LFS is good at most."""


class GitGateway:
    """An ASGI application. Open while `start` was called and `close` was not."""

    def __init__(self, database: Database, vault: Vault, origins: Origins, also: Sequence[str] = ()) -> None:
        """`also`: patterns of the names of repositories that every turn of the same installation may read."""
        self._database = database
        self._vault = vault
        self._origins = origins
        self._also = [each.lower() for each in also]
        self._session: aiohttp.ClientSession | None = None
        self._room = Room(AT_ONCE, HELD)
        self._figures: GatewayFigures | None = None
        self._refused = 0

    def start(self, figures: GatewayFigures) -> None:
        """Inside the event loop that serves."""
        self._figures = figures
        self._session = aiohttp.ClientSession(
            auto_decompress=False,
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=15),
            cookie_jar=aiohttp.DummyCookieJar(),
            read_bufsize=1024 * 1024,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=SILENCE_SECONDS),
            trust_env=True,
        )

    async def close(self) -> None:
        """Once nobody asks any more."""
        if self._session is not None:
            await self._session.close()

    def routes(self) -> list[Route]:
        """Where boxes reach it."""
        return [Route(f"{ROOT}/{{path:path}}", self)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if self._figures is None:
            raise RuntimeError("the git gateway is not started")
        with self._figures.watching("git", send) as watched:
            watched.provider = "github"
            try:
                await self._answer(request, watched)
            except (NotServed, NoRoom, BodyTooLarge) as error:
                watched.refused = True
                self._refused += 1
                status = 413 if isinstance(error, BodyTooLarge) else error.status
                if self._refused & (self._refused - 1) == 0:
                    # the first, the second, the fourth …: boxes do not write our log
                    turn, why = request.path_params["turn"][:40], str(error)
                    log.info("git.refused", turn=turn, status=status, why=why, so_far=self._refused)
                ask = {"www-authenticate": 'Basic realm="Greenloop"'} if status == 401 else {}
                await PlainTextResponse(f"{error}\n", status, headers=ask)(scope, receive, watched.send)
            except ClientDisconnect:
                return

    async def _answer(self, request: Request, watched: Watched) -> None:
        asked = requests.read(request.method, request.scope.get("raw_path", b""), request.scope["query_string"])
        turn, installation = await self._caller(request)
        place = Place(self._origins, installation, await self._repository(turn, installation, asked.repository))
        # neither of these two has a body, whatever a box sends
        size = 0 if asked.what in (What.REFS, What.LFS_OBJECT) else declared(request, BODY)
        with self._room.place(turn.id), self._room.bytes(turn.id, size):
            body = await body_of(request, size)
            watched.asked = len(body)
            await self._serve(request, watched.send, asked, turn, place, body)

    async def _caller(self, request: Request) -> tuple[Turn, int]:
        try:
            async with self._database.read() as tx:
                turn = (await turn_with(tx, request.path_params["turn"], _token(request))).turn
                session = await tx.get_one(Session, turn.session_id)
        except TokenRefused:
            raise NotServed(401, "The git gateway does not know this turn, or not by this token.") from None
        if turn.status != TurnStatus.RUNNING:
            raise NotServed(403, f"The turn is {turn.status}: it reads nothing any more.")
        return turn, session.installation_id

    async def _repository(self, turn: Turn, installation: int, asked: str) -> int:
        """The id of the repository: the turn's own, or one of the same installation that every turn may read."""
        own: Mapping[str, Any] = (turn.spec or {}).get("repository") or {}
        name = asked.lower()
        if "id" in own and name == str(own.get("full_name", "")).lower():
            return int(own["id"])
        if any(fnmatchcase(name, pattern) for pattern in self._also):
            there = select(Repository.id).where(
                func.lower(Repository.full_name) == name,
                Repository.installation_id == installation,
                Repository.removed_at.is_(None),
            )
            async with self._database.read() as tx:
                if (found := (await tx.execute(there)).scalars().first()) is not None:
                    return found
        raise NotServed(403, f"This turn reads {own.get('full_name', 'no repository')}, and not {asked}.")

    async def _serve(
        self, request: Request, send: Send, asked: GitRequest, turn: Turn, place: Place, body: bytes
    ) -> None:
        upstream = Upstream(self._session_open, place)
        headers = requests.passing(request.scope["headers"])
        if asked.what is What.LFS_OBJECT:
            href, proof = self._unsealed(asked.sealed, turn)
            async with upstream.elsewhere(href, headers | proof) as answer:
                await pass_on(answer, request, send)
        elif asked.what is What.LFS_BATCH:
            told = await self._batch(request, upstream, body, turn)
            await JSONResponse(told, media_type="application/vnd.git-lfs+json")(request.scope, request.receive, send)
        else:
            path = f"{asked.what.value}?{request.url.query}" if asked.what is What.REFS else asked.what.value
            async with upstream.at_github(request.method, path, headers, body) as answer:
                await pass_on(answer, request, send)

    async def _batch(self, request: Request, upstream: Upstream, body: bytes, turn: Turn) -> Any:
        """The answer to a batch of Git LFS, with the way to each object through us."""
        headers = {"accept": "application/vnd.git-lfs+json", "content-type": "application/vnd.git-lfs+json"}
        asked = json.dumps(requests.batch(body)).encode()
        async with upstream.at_github("POST", What.LFS_BATCH.value, headers, asked) as answer:
            told = await document(answer, BODY)
        here = str(request.url).removesuffix(What.LFS_BATCH.value)
        for action, href, proof in requests.downloads(told):
            sealed = {"turn": turn.id, "href": href, "header": dict(proof), "until": time.time() + LFS_SECONDS}
            action["href"] = f"{here}lfs/{self._vault.encrypt(json.dumps(sealed)).decode()}"
            action["header"] = {"Authorization": f"Bearer {_token(request)}"}
        return told

    def _unsealed(self, sealed: str, turn: Turn) -> tuple[str, dict[str, str]]:
        """Address and headers of an object, as we gave them out. Raises NotServed."""
        known: dict[str, Any] = {}
        with contextlib.suppress(VaultError, ValueError):
            known = json.loads(self._vault.decrypt(sealed.encode()))
        if known.get("turn") != turn.id or known["until"] < time.time():
            raise NotServed(404, "The git gateway gave out no such address, not to this turn, or long ago.")
        return known["href"], known["header"]

    @property
    def _session_open(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("the git gateway is not started")
        return self._session


def _token(request: Request) -> str:
    """The turn's token: as a bearer, or as the password of a login, which is what git sends."""
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "basic":
        with contextlib.suppress(binascii.Error, UnicodeDecodeError):
            return base64.b64decode(value.strip(), validate=True).decode().partition(":")[2]
        return ""
    return value.strip() if kind.lower() == "bearer" else ""

"""One request to a model, and its answer passed on as it comes."""

import asyncio
import io
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import aiohttp
import structlog
from starlette.requests import Request
from starlette.types import Send
from yarl import URL

from app.gateway.waiting import Bookings
from app.gateway.whole import NotWhole, whole
from loops.gateway import headers
from loops.gateway.access import Caller
from loops.gateway.carriers.carrier import Unpacker
from loops.gateway.carriers.event_stream import BrokenStream
from loops.gateway.endpoints import ModelRequest
from loops.gateway.refreshing import LoginRefused, LoginUnreachable, Refresher
from loops.gateway.refusals import Refusal, broken_off, refuse
from loops.gateway.upstreams import Account, Upstream, upstream_of
from loops.gateway.usage import UsageReader
from loops.runtimes import waits
from loops.runtimes.classify import classify
from loops.runtimes.failures import Told
from loops.runtimes.login import Tokens
from loops.runtimes.profiles import login_of
from loops.store.background import end

log = structlog.get_logger(__name__)

EVENTS: Final = "text/event-stream"
ERROR_BYTES: Final = 64 * 1024
"""What a refusal of the provider's may hold; of a longer one its status is passed on."""
UNREACHABLE: Final = "Greenloop cannot reach the model's endpoint"


@dataclass(frozen=True)
class Call:
    """A request that passes: whose, what, and where to. `passing` are the headers of the agent's that go on; `sent` is
    called once its body is needed no more.
    """

    caller: Caller
    asked: ModelRequest
    account: Account
    upstream: Upstream
    passing: Mapping[str, str] = field(repr=False)
    sent: Callable[[], None]


async def relay(
    session: aiohttp.ClientSession,
    refresher: Refresher,
    bookings: Bookings,
    call: Call,
    request: Request,
    send: Send,
    silence: float,
) -> None:
    """Ask the model, pass its answer on, book what it used. Raises Refusal as long as nothing was answered."""
    passing = _Passing(session, refresher, bookings, call, send, silence)
    work, gone = asyncio.create_task(passing.run()), asyncio.create_task(_left(request))
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            work.result()
    finally:
        gone.cancel()
        await end(work)


async def answer(send: Send, refusal: Refusal) -> None:
    """Send a whole answer. What is left of the request is thrown away: who is still sending would not see it else."""
    fields = [(b"content-type", refusal.media.encode()), (b"content-length", str(len(refusal.body)).encode())]
    await send({"type": "http.response.start", "status": refusal.status, "headers": fields})
    await send({"type": "http.response.body", "body": refusal.body})


async def _left(request: Request) -> None:
    """Return when the agent closes its connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


class _Passing:
    """One answer on its way."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        refresher: Refresher,
        bookings: Bookings,
        call: Call,
        send: Send,
        silence: float,
    ) -> None:
        self._session = session
        self._refresher = refresher
        self._bookings = bookings
        self._call = call
        self._send = send
        self._silence = silence
        self._begun = False

    async def run(self) -> None:
        try:
            response = await self._opened()
            try:
                if response.status >= 300:
                    await self._refused(response)
                else:
                    await self._pass(response)
            finally:
                response.close()
        except Refusal as refusal:
            if not self._begun:
                raise
            # the stream was begun to bridge a silence: what went wrong is told inside it
            await self._tell_failure(refusal)

    async def _opened(self) -> aiohttp.ClientResponse:
        """The answer's beginning; a login that was refused is refreshed, once."""
        response = await self._patiently(self._call)
        login = login_of(self._call.account.kind)
        if response.status != 401 or login is None:
            return response
        tokens: Tokens = login.read(self._call.account.secret)
        wire = self._call.asked.wire
        try:
            account = await self._refresher.current(self._call.account, tokens.access or "none")
        except LoginRefused as error:
            response.close()
            raise refuse(wire, 401, str(error)) from None
        except LoginUnreachable as error:
            response.close()
            raise refuse(wire, 503, str(error)) from None
        if account.secret == self._call.account.secret:
            return response
        response.close()
        upstream = upstream_of(account, wire, self._call.passing)
        self._call = replace(self._call, account=account, upstream=upstream)
        return await self._patiently(self._call)

    async def _patiently(self, call: Call) -> aiohttp.ClientResponse:
        """The response, while the agent is told now and then that it is waited for."""
        asking = asyncio.create_task(self._ask(call))
        try:
            while not (await asyncio.wait({asking}, timeout=self._silence))[0]:
                if call.asked.stream:
                    await self._begin(200, [(b"content-type", EVENTS.encode())])
                    await self._more(call.caller.calls.keep_alive)
            return asking.result()
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            log.warning("gateway.unreachable", turn=call.caller.public_id, error=type(error).__name__)
            raise refuse(call.asked.wire, 502, f"{UNREACHABLE}: {type(error).__name__}.") from None
        finally:
            if not asking.done():
                await end(asking)

    async def _ask(self, call: Call) -> aiohttp.ClientResponse:
        sent = call.upstream.request(call.asked, call.passing, time.time())
        url = URL(sent.url, encoded=True)

        async def post() -> aiohttp.ClientResponse:
            body = io.BytesIO(sent.body)
            return await self._session.post(url, data=body, headers=sent.headers, allow_redirects=False)

        try:
            return await post()
        except (aiohttp.ServerDisconnectedError, ConnectionResetError):
            # a server may close an idle connection while we write on it: vLLM and LiteLLM do so after 5 s
            return await post()

    async def _refused(self, response: aiohttp.ClientResponse) -> None:
        wire = self._call.asked.wire
        if response.status < 400:
            raise refuse(wire, 502, "The model's endpoint sends elsewhere: the account has to name where it is.")
        try:
            body = await whole(response, ERROR_BYTES)
        except NotWhole:
            # cut, it could end in half a key, which nobody finds
            body = b""
        await self._spare(response, body)
        for secret in self._call.upstream.secrets:
            # some quote the key that they refuse
            body = body.replace(secret.encode(), b"[redacted]")
        if self._begun or self._call.upstream.carrier is not None:
            raise refuse(wire, response.status, _said(body) or f"The model's endpoint answered {response.status}.")
        told = [*headers.answered(response.headers.items()), (b"content-length", str(len(body)).encode())]
        await self._send({"type": "http.response.start", "status": response.status, "headers": told})
        await self._send({"type": "http.response.body", "body": body})

    async def _spare(self, response: aiohttp.ClientResponse, body: bytes) -> None:
        """Keep how long the provider wants to be left alone, where it says so."""
        now = time.time()
        wait = waits.of_headers(response.headers, now)
        if wait is None:
            told = Told(body.decode("utf-8", "replace"), status=response.status, now=now)
            wait = classify((), told).retry_after
        if wait is not None and self._call.caller.turn:
            await self._bookings.spare(self._call.caller.turn, now + wait)

    async def _pass(self, response: aiohttp.ClientResponse) -> None:
        call = self._call
        call.asked.sent()
        call.sent()
        fields, unpacker = headers.answered(response.headers.items()), self._unpacker(response)
        if unpacker is not None:
            fields = [*(each for each in fields if each[0] != b"content-type"), (b"content-type", EVENTS.encode())]
        stream = unpacker is not None or response.content_type == EVENTS
        reader = UsageReader(call.asked.wire, call.asked.size, stream=stream)
        await self._begin(response.status, fields)
        booked = False
        try:
            async for piece in self._pieces(response, unpacker, stream=stream):
                reader.feed(piece)
                if reader.whole and not booked:
                    # before its end is passed on: the next request finds it booked
                    booked = True
                    await self._book(reader)
                await self._more(piece)
            reader.end()
            if not booked:
                booked = True
                await self._book(reader)
        except (aiohttp.ClientError, OSError, TimeoutError, BrokenStream) as error:
            # no end is sent: uvicorn closes the connection, and the agent sees that the stream was cut
            log.warning("gateway.cut", turn=call.caller.public_id, error=type(error).__name__)
            return
        finally:
            if not booked:
                await self._book(reader)
        await self._send({"type": "http.response.body", "body": b""})

    def _unpacker(self, response: aiohttp.ClientResponse) -> Unpacker | None:
        carrier = self._call.upstream.carrier
        if carrier is None or carrier.unpacker is None or response.content_type != carrier.packed:
            return None
        return carrier.unpacker()

    async def _pieces(
        self, response: aiohttp.ClientResponse, unpacker: Unpacker | None, *, stream: bool
    ) -> AsyncIterator[bytes]:
        """The answer as it comes; where it is silent between two events, what keeps the agent waiting."""
        whole = True
        while True:
            try:
                async with asyncio.timeout(self._silence if stream and whole else None):
                    piece = await response.content.readany()
            except aiohttp.ServerTimeoutError:
                raise
            except TimeoutError:
                await self._more(self._call.caller.calls.keep_alive)
                continue
            if not piece:
                if unpacker is not None:
                    unpacker.end()
                return
            if unpacker is not None and not (piece := unpacker.feed(piece)):
                continue
            whole = piece.endswith((b"\n\n", b"\r\n\r\n"))
            yield piece

    async def _book(self, reader: UsageReader) -> None:
        if not self._call.caller.turn:
            return
        used = reader.used
        if used.estimated:
            log.info("gateway.estimated", turn=self._call.caller.public_id, input=used.input, output=used.output)
        await self._bookings.book(self._call.caller.turn, self._call.asked.model, used)

    async def _begin(self, status: int, fields: list[tuple[bytes, bytes]]) -> None:
        if not self._begun:
            self._begun = True
            fields = [*fields, (b"cache-control", b"no-store"), (b"x-accel-buffering", b"no")]
            await self._send({"type": "http.response.start", "status": status, "headers": fields})

    async def _more(self, piece: bytes) -> None:
        await self._send({"type": "http.response.body", "body": piece, "more_body": True})

    async def _tell_failure(self, refusal: Refusal) -> None:
        message = _said(refusal.body) or f"The model's endpoint answered {refusal.status}."
        await self._more(broken_off(self._call.asked.wire, refusal.status, message))
        await self._send({"type": "http.response.body", "body": b""})


def _said(body: bytes) -> str:
    """The sentence of a provider's refusal, or of ours."""
    try:
        told = json.loads(body)
        error = told.get("error", told)
        return str(error.get("message") if isinstance(error, dict) else error or "")
    except (ValueError, AttributeError):
        return body.decode("utf-8", "replace")[:500]

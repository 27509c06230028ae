"""The runner's protocol (`k8s.runner.protocol`), service side: a box can do nothing but its own turns."""

import asyncio
import contextlib
import tempfile
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict
from typing import Any

import msgspec
import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from app.web.held_bodies import RETRY_SECONDS, NoRoom
from app.web.state import AppState, app_state
from k8s.runner import protocol
from loops.accounts.box_secrets import CannotPrepare
from loops.protocol import assign_turn
from loops.protocol.access import TokenRefused, UnknownTurn, box_with, has_news, turn_with
from loops.protocol.results import ReportTooLarge, WrongObject, log_of, most_bytes, store_object, store_result
from loops.protocol.store_output import TurnOver, store_output
from loops.secrets.redact import Redactor
from loops.store.bus import wait
from loops.store.leases import make_due
from loops.store.states import TurnStatus
from loops.store.tables import Session, Turn

log = structlog.get_logger(__name__)

LOOK_AGAIN = 3.0
"""Seconds between looks at the database while a box waits: a wake over Redis comes at once, unless Redis is down."""
OUTPUT_BODY = 8 * 1024 * 1024  # the longest line, in base64, and the rest
RESULT_BODY = 32 * 1024 * 1024  # a diff, 10,000 paths, credential files
SMALL_BODY = 64 * 1024
OBJECT_BODY = 100 * 1024 * 1024  # GitHub takes no larger file
COPIES = 2
"""A body is in memory this often while it is taken apart."""
PIECE = 256 * 1024

Handler = Callable[[Request], Awaitable[Response]]


class BadRequest(ValueError):
    """What the box sent breaks the protocol."""


class BodyTooLarge(ValueError):
    """More than any such request may hold."""


def answers(handler: Handler) -> Handler:
    """`handler`, with the protocol's answers for what may go wrong."""

    async def answering(request: Request) -> Response:
        try:
            return await handler(request)
        except TokenRefused as error:
            return _error(401, error)
        except UnknownTurn as error:
            return _error(404, error)
        except TurnOver as error:
            return _error(409, error)
        except (BodyTooLarge, ReportTooLarge) as error:
            # the rest of the body is not read
            return _error(413, error, connection="close")
        except NoRoom as error:
            return _error(503, error, connection="close", **{"retry-after": str(RETRY_SECONDS)})
        except CannotPrepare as error:
            # without its secrets nothing that a turn prints may be stored; the box asks again until they are back
            log.error("box.no_secrets", path=request.url.path, error=str(error))
            return _error(503, error)
        except (BadRequest, protocol.ProtocolError, WrongObject) as error:
            log.warning("box.bad_request", path=request.url.path, error=str(error))
            return _error(422, error)
        except ClientDisconnect:
            return Response(status_code=204)

    return answering


@answers
async def next_turn(request: Request) -> Response:
    """POST /boxes/{box}/next: the box's turn, as soon as there is one; 204 after `POLL_SECONDS`."""
    here = app_state(request)
    name = request.path_params["box"]
    token = _token(request)
    holding = _holding(await _json(request, SMALL_BODY))
    async with here.database.read() as tx:
        box = await box_with(tx, name, token, here.clock())
    if has_news(box, token):
        async with here.database.write() as tx:
            await assign_turn.forget_former_token(tx, name)
    deadline = asyncio.get_running_loop().time() + protocol.POLL_SECONDS
    with here.bus.listening(f"box:{name}") as event:
        first = True
        while True:
            # the first look also tells that the box lives
            if first or await _is_waiting(here, name):
                answer = await _hand_out(here, name, holding)
                if answer is not None:
                    return answer
            first = False
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0 or here.stopping.is_set() or not await _wait(here, request, event, min(left, LOOK_AGAIN)):
                return Response(status_code=204)


async def _is_waiting(here: AppState, box: str) -> bool:
    async with here.database.read() as tx:
        return await assign_turn.is_waiting(tx, box)


async def _hand_out(here: AppState, box: str, holding: str | None) -> Response | None:
    async with here.database.write() as tx:
        found = await assign_turn.take(tx, box, holding=holding, now=here.clock())
        if found.turn is not None:
            # its box is looked up as soon as it falls silent, no later
            await make_due(tx, found.turn.session_id, here.clock() + here.settings.box_silence)
    if found.forgotten is not None:
        lost = "The box started again and knows nothing of this turn any more."
        result = protocol.Result(protocol.RUNNER_RESTARTED, message=lost)
        await _report(here, found.forgotten, result, {})
    if found.turn is None:
        return None
    try:
        env, files = await here.credentials.materialise(found.turn)
    except CannotPrepare as error:
        await _report(here, found.turn, protocol.Result("credentials", message=str(error)), {})
        return None
    here.metrics.assignments.inc()
    await here.bus.notify(f"session:{found.turn.session_id}")
    return JSONResponse(assign_turn.as_told(found.turn, env, files))


async def _wait(here: AppState, request: Request, event: asyncio.Event, seconds: float) -> bool:
    """Wait for a wake, `seconds`, or the server's end. False when the client is gone."""
    tasks = [
        asyncio.ensure_future(wait(event, seconds)),
        asyncio.ensure_future(here.stopping.wait()),
        asyncio.ensure_future(request.receive()),
    ]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return not tasks[2].done()
    finally:
        for task in tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


@answers
async def token(request: Request) -> Response:
    """POST /turns/{turn}/token: a token for this one fetch, as long as the agent has not started."""
    here = app_state(request)
    turn = await _turn(request)
    repository = (turn.spec or {}).get("repository") or {}
    if turn.status != TurnStatus.RUNNING or turn.begun_at is not None or "id" not in repository:
        state = "past its fetch" if turn.status == TurnStatus.RUNNING else turn.status
        raise TurnOver(f"turn {turn.public_id} is {state}: it fetches nothing")
    await _end_tokens(here, turn)
    async with here.database.read() as tx:
        session = await tx.get_one(Session, turn.session_id)
    minted = await here.fetch_tokens.mint(session.installation_id, int(repository["id"]))
    await here.credentials.lend(turn, minted.token)
    return JSONResponse({"url": minted.url, "token": minted.token, "username": minted.username})


async def _end_tokens(here: AppState, turn: Turn) -> None:
    """Revoke what a runner that was killed in the middle of a fetch has left."""
    for token in await here.credentials.lent(turn):
        await here.fetch_tokens.revoke(token)
        await here.credentials.returned(turn, token)


@answers
async def revoke(request: Request) -> Response:
    """DELETE /turns/{turn}/token."""
    here = app_state(request)
    turn = await _turn(request)
    body = await _json(request, SMALL_BODY)
    if not isinstance(body.get("token"), str):
        raise BadRequest("`token` is missing: the token to revoke")
    await here.fetch_tokens.revoke(body["token"])
    await here.credentials.returned(turn, body["token"])
    return Response(status_code=204)


@answers
async def evidence(request: Request) -> Response:
    """GET /turns/{turn}/evidence/{name}: a whole log."""
    turn = await _turn(request)
    name = request.path_params["name"]
    async with app_state(request).database.read() as tx:
        content = await log_of(tx, turn, name)
    if content is None:
        raise UnknownTurn(f"turn {turn.public_id} has no evidence {name!r}")
    return StreamingResponse(_inflated(content), media_type="text/plain; charset=utf-8")


async def _inflated(content: bytes) -> AsyncIterator[bytes]:
    inflate = zlib.decompressobj()
    piece = inflate.decompress(content, PIECE)
    while piece:
        yield piece
        piece = inflate.decompress(inflate.unconsumed_tail, PIECE)


@answers
async def output(request: Request) -> Response:
    """POST /turns/{turn}/output."""
    here = app_state(request)
    turn = await _turn(request)
    async with here.bodies.room(turn.box or "", COPIES * _declared(request, OUTPUT_BODY)):
        return await _output(request, here, turn)


async def _output(request: Request, here: AppState, turn: Turn) -> Response:
    sent = protocol.output_from_json(await _json(request, OUTPUT_BODY))
    data = protocol.decode(sent.data, "output.data")
    if turn.begun_at is None and sent.state != protocol.FETCHING:
        await _end_tokens(here, turn)
    redactor = await here.redactors.of(turn, here.credentials.secrets, [_token(request)]) if data else Redactor()
    price = here.settings.price_of(turn.model)
    taken = await store_output(here.database, turn, sent, data, redactor, here.offload, now=here.clock(), price=price)
    if taken.events:
        here.metrics.output.inc(taken.answer.offset - turn.output_offset)
        await here.bus.notify(f"session:{turn.session_id}")
    return JSONResponse(asdict(taken.answer))


@answers
async def store(request: Request) -> Response:
    """PUT /turns/{turn}/objects/{sha}."""
    here = app_state(request)
    turn = await _turn(request)
    limit = min(OBJECT_BODY, most_bytes(turn) or OBJECT_BODY)
    size = _declared(request, limit)
    async with here.uploads.room(turn.box or "", size):
        with tempfile.TemporaryFile() as file:
            async for part in _parts(request, size):
                file.write(part)
            size = file.tell()
            file.seek(0)
            async with here.bodies.room(turn.box or "", COPIES * size):
                await store_object(here.database, turn, request.path_params["sha"], file.read())
    return Response(status_code=204)


@answers
async def secrets(request: Request) -> Response:
    """GET /turns/{turn}/secrets: what the box was handed with the turn, in every spelling, to be taken out of files."""
    turn = await _turn(request)
    known = [*await app_state(request).credentials.handed(turn), _token(request)]
    return JSONResponse({"spellings": Redactor(known).spellings})


@answers
async def edited(request: Request) -> Response:
    """GET /turns/{turn}/edited: the files of the checkout that the agent wrote by its edit tools, as its CLI told."""
    return JSONResponse({"paths": list((await _turn(request)).changed_files)})


@answers
async def result(request: Request) -> Response:
    """PUT /turns/{turn}/result."""
    here = app_state(request)
    turn = await _turn(request)
    async with here.bodies.room(turn.box or "", COPIES * _declared(request, RESULT_BODY)):
        sent = protocol.result_from_json(await _json(request, RESULT_BODY))
        files = {file.path: protocol.decode(file.content, f"files[{file.path!r}]") for file in sent.files}
        await _report(here, turn, sent, files)
    return Response(status_code=204)


async def _report(here: AppState, turn: Turn, sent: protocol.Result, files: dict[str, bytes]) -> None:
    written = await here.credentials.read_back(turn, files) if files and turn.result is None else ()
    await _end_tokens(here, turn)
    wake = await store_result(
        here.database,
        turn,
        sent,
        files,
        await here.redactors.of(turn, here.credentials.secrets, written),
        here.offload,
        now=here.clock(),
        price=here.settings.price_of(turn.model),
    )
    if wake is None:
        return
    here.metrics.results.labels(sent.reason[:32]).inc()
    log.info("turn.reported", turn=turn.public_id, reason=sent.reason, exit_code=sent.exit_code)
    await here.queue.send("advance", turn.session_id, job=f"advance:{turn.session_id}:{wake}")
    await here.bus.notify(f"session:{turn.session_id}")


async def _turn(request: Request) -> Turn:
    async with app_state(request).database.read() as tx:
        return await turn_with(tx, request.path_params["turn"], _token(request), app_state(request).clock())


def _token(request: Request) -> str:
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not value.strip():
        raise TokenRefused("send the box's token: Authorization: Bearer …")
    return value.strip()


def _holding(body: dict[str, Any]) -> str | None:
    runner = body.get("runner")
    held = runner.get("turn") if isinstance(runner, dict) else None
    return held if isinstance(held, str) else None


def _declared(request: Request, limit: int) -> int:
    """The size of the body, known before a byte of it is read; `limit` where the request does not say. Raises
    BodyTooLarge."""
    told = request.headers.get("content-length", "")
    size = int(told) if told.isascii() and told.isdigit() and len(told) <= 18 else limit
    if size > limit:
        raise BodyTooLarge(f"{request.url.path}: the body has {size} bytes; {limit} are allowed")
    return size


async def _parts(request: Request, limit: int) -> AsyncIterator[bytes]:
    read = 0
    async for part in request.stream():
        read += len(part)
        if read > limit:
            raise BodyTooLarge(f"{request.url.path}: the body is longer than {limit} bytes")
        yield part


async def _json(request: Request, limit: int) -> dict[str, Any]:
    size = _declared(request, limit)
    body = b"".join([part async for part in _parts(request, size)])
    try:
        value = msgspec.json.decode(body) if body else {}
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"{request.url.path}: the body is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadRequest(f"{request.url.path}: the body is a {type(value).__name__}, not an object")
    return value


def _error(status: int, error: Exception, **headers: str) -> Response:
    return JSONResponse({"error": str(error)}, status_code=status, headers=headers)


def routes() -> list[Route]:
    """The routes of the protocol."""
    return [
        Route("/boxes/{box}/next", next_turn, methods=["POST"]),
        Route("/turns/{turn}/token", token, methods=["POST"]),
        Route("/turns/{turn}/token", revoke, methods=["DELETE"]),
        Route("/turns/{turn}/evidence/{name:path}", evidence, methods=["GET"]),
        Route("/turns/{turn}/output", output, methods=["POST"]),
        Route("/turns/{turn}/objects/{sha}", store, methods=["PUT"]),
        Route("/turns/{turn}/secrets", secrets, methods=["GET"]),
        Route("/turns/{turn}/edited", edited, methods=["GET"]),
        Route("/turns/{turn}/result", result, methods=["PUT"]),
    ]

"""What a turn's runner asks and reports: its fetch, its evidence, output, changed files, and the result."""

import tempfile
import zlib
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict

import structlog
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from app.bodies import declared, parts
from app.web.boxes.requests import (
    SMALL_BODY,
    BadRequest,
    Handler,
    answers,
    asking,
    bearer,
    json_of,
    of_former,
    tokens_held,
    turn_of,
)
from app.web.state import AppState, app_state
from k8s.runner import protocol
from loops.prompts import description
from loops.protocol.access import Asking, NoSuchEvidence, TurnOver
from loops.protocol.results import log_of, most_bytes, object_of, store_object, store_result
from loops.protocol.store_output import store_output
from loops.protocol.store_work import store_work
from loops.secrets.redact import Redactor
from loops.store.bus import WORK
from loops.store.states import TurnStatus
from loops.store.tables import Session, Turn

log = structlog.get_logger(__name__)

OUTPUT_BODY = 8 * 1024 * 1024  # the longest line, in base64, and the rest
WORK_BODY = 8 * 1024 * 1024  # a diff in JSON, 10,000 paths
RESULT_BODY = 32 * 1024 * 1024  # a diff, 10,000 paths, credential files
OBJECT_BODY = 100 * 1024 * 1024  # GitHub takes no larger file
COPIES = 2
"""A body is in memory this often while it is taken apart."""
PIECE = 256 * 1024


@answers
async def token(request: Request) -> Response:
    """POST /turns/{turn}/token: where to fetch and what to show there: our gateway, and the turn's own token.

    A turn of the former release's has none, and gets a token of GitHub's for this one fetch.
    """
    here = app_state(request)
    turn = await turn_of(request)
    repository = (turn.spec or {}).get("repository") or {}
    if turn.status != TurnStatus.RUNNING or turn.begun_at is not None or "id" not in repository:
        state = "past its fetch" if turn.status == TurnStatus.RUNNING else turn.status
        raise TurnOver(f"turn {turn.public_id} is {state}: it fetches nothing")
    if turn.token_hash is not None:
        url = f"{here.settings.box_service_url.rstrip('/')}/turns/{turn.public_id}/git/{repository['full_name']}.git"
        return JSONResponse({"url": url, "token": bearer(request)})
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
    turn = await turn_of(request)
    body = await json_of(request, SMALL_BODY)
    if not isinstance(body.get("token"), str):
        raise BadRequest("`token` is missing: the token to revoke")
    if turn.token_hash is None:
        await here.fetch_tokens.revoke(body["token"])
        await here.credentials.returned(turn, body["token"])
    return Response(status_code=204)


@answers
async def evidence(request: Request) -> Response:
    """GET /turns/{turn}/evidence/{name}: a whole log."""
    turn = await turn_of(request)
    name = request.path_params["name"]
    async with app_state(request).database.read() as tx:
        content = await log_of(tx, turn, name)
    if content is None:
        raise NoSuchEvidence(f"turn {turn.public_id} has no evidence {name!r}")
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
    asked = await asking(request)
    async with here.bodies.room(asked.turn.box or "", COPIES * declared(request, OUTPUT_BODY)):
        return await _output(request, here, asked)


async def _output(request: Request, here: AppState, asked: Asking) -> Response:
    turn = asked.turn
    sent = protocol.output_from_json(await json_of(request, OUTPUT_BODY))
    data = protocol.decode(sent.data, "output.data")
    if turn.begun_at is None and sent.state != protocol.FETCHING:
        await _end_tokens(here, turn)
    redactor = (
        await here.redactors.of(turn, here.credentials.secrets, tokens_held(request, asked)) if data else Redactor()
    )
    price = here.settings.price_of(turn.model)
    taken = await store_output(here.outputs, turn, sent, data, redactor, here.offload, now=here.clock(), price=price)
    if taken.events:
        here.metrics.output.inc(taken.answer.offset - turn.output_offset)
        here.bus.notify(f"session:{turn.session_id}")
    if taken.planned:
        here.bus.notify(WORK)
    return JSONResponse(asdict(taken.answer))


@answers
async def stored(request: Request) -> Response:
    """GET /turns/{turn}/objects/{sha}: what an earlier round of the turn had stored."""
    here = app_state(request)
    turn = await turn_of(request)
    async with here.database.read() as tx:
        content = await object_of(tx, turn, request.path_params["sha"])
    if turn.status != TurnStatus.RUNNING or content is None:
        raise TurnOver(f"turn {turn.public_id} is {turn.status} and holds no object {request.path_params['sha']}")
    return Response(content, media_type="application/octet-stream")


@answers
async def store(request: Request) -> Response:
    """PUT /turns/{turn}/objects/{sha}."""
    here = app_state(request)
    turn = await turn_of(request)
    limit = min(OBJECT_BODY, most_bytes(turn) or OBJECT_BODY)
    size = declared(request, limit)
    async with here.uploads.room(turn.box or "", size):
        with tempfile.TemporaryFile() as file:
            async for part in parts(request, size):
                file.write(part)
            size = file.tell()
            file.seek(0)
            async with here.bodies.room(turn.box or "", COPIES * size):
                await store_object(here.database, turn, request.path_params["sha"], file.read())
    return Response(status_code=204)


@answers
async def secrets(request: Request) -> Response:
    """GET /turns/{turn}/secrets: what the box was handed with the turn, in every spelling, to be taken out of files."""
    asked = await asking(request)
    known = [*await app_state(request).credentials.handed(asked.turn), *tokens_held(request, asked)]
    return JSONResponse({"spellings": Redactor(known).spellings})


@answers
async def edited(request: Request) -> Response:
    """GET /turns/{turn}/edited: the files of the checkout that the agent wrote by its edit tools, as its CLI told."""
    return JSONResponse({"paths": list((await turn_of(request)).changed_files)})


@answers
async def work(request: Request) -> Response:
    """PUT /turns/{turn}/work: what the turn has changed so far."""
    here = app_state(request)
    asked = await asking(request)
    async with here.bodies.room(asked.turn.box or "", COPIES * declared(request, WORK_BODY)):
        sent = protocol.result_from_json(await json_of(request, WORK_BODY))
        redactor = await here.redactors.of(asked.turn, here.credentials.secrets, tokens_held(request, asked))
        await store_work(here.database, asked.turn, sent, redactor, here.offload, now=here.clock())
    here.bus.notify(f"session:{asked.turn.session_id}")
    return Response(status_code=204)


@answers
async def result(request: Request) -> Response:
    """PUT /turns/{turn}/result."""
    here = app_state(request)
    turn = await turn_of(request)
    async with here.bodies.room(turn.box or "", COPIES * declared(request, RESULT_BODY)):
        sent = protocol.result_from_json(await json_of(request, RESULT_BODY))
        files = {file.path: protocol.decode(file.content, f"files[{file.path!r}]") for file in sent.files}
        await store_report(here, turn, sent, files)
    return Response(status_code=204)


async def store_report(here: AppState, turn: Turn, sent: protocol.Result, files: dict[str, bytes]) -> None:
    """Store how the turn ended, once, and have its session go on."""
    # what the agent tells of its work is read back too, and is no secret
    logins = {path: content for path, content in files.items() if path != description.PATH}
    written = await here.credentials.read_back(turn, logins) if logins and turn.result is None else ()
    await _end_tokens(here, turn)
    new = await store_result(
        here.database,
        turn,
        sent,
        files,
        await here.redactors.of(turn, here.credentials.secrets, written),
        here.offload,
        now=here.clock(),
        price=here.settings.price_of(turn.model),
    )
    if not new:
        return
    here.metrics.count_result(sent.reason)
    log.info("turn.reported", turn=turn.public_id, reason=sent.reason, exit_code=sent.exit_code)
    here.bus.notify(WORK)
    here.bus.notify(f"session:{turn.session_id}")


def routes() -> list[Route]:
    """For whoever has the turn's own token."""
    return _routes(lambda handler: handler)


def former_routes() -> list[Route]:
    """The public port's routes for turns that the former release handed out: their runners know no other address.

    They are such turns' only, which lasts as long as the last of them: to everything else the answer is 404.
    """
    return _routes(of_former)


def _routes(dressed: Callable[[Handler], Handler]) -> list[Route]:
    return [
        Route("/turns/{turn}/token", dressed(token), methods=["POST"]),
        Route("/turns/{turn}/token", dressed(revoke), methods=["DELETE"]),
        Route("/turns/{turn}/evidence/{name:path}", dressed(evidence), methods=["GET"]),
        Route("/turns/{turn}/output", dressed(output), methods=["POST"]),
        Route("/turns/{turn}/objects/{sha}", dressed(stored), methods=["GET"]),
        Route("/turns/{turn}/objects/{sha}", dressed(store), methods=["PUT"]),
        Route("/turns/{turn}/secrets", dressed(secrets), methods=["GET"]),
        Route("/turns/{turn}/edited", dressed(edited), methods=["GET"]),
        Route("/turns/{turn}/work", dressed(work), methods=["PUT"]),
        Route("/turns/{turn}/result", dressed(result), methods=["PUT"]),
    ]

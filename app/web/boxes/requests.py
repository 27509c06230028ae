"""A request of a box: who asks, the body within bounds, and the protocol's answers for what may go wrong."""

import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import structlog
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from app.bodies import BodyTooLarge, body_of, declared
from app.web.held_bodies import RETRY_SECONDS, NoRoom
from app.web.state import app_state
from k8s.runner import protocol
from loops.accounts.box_secrets import CannotPrepare
from loops.protocol.access import Asking, NoSuchEvidence, TokenRefused, TurnOver, former_turn_with, told_over
from loops.protocol.results import ReportTooLarge, WrongObject
from loops.protocol.tokens import tokens_of
from loops.store.tables import Turn

log = structlog.get_logger(__name__)

SMALL_BODY = 64 * 1024

Handler = Callable[[Request], Awaitable[Response]]


class BadRequest(ValueError):
    """What the box sent breaks the protocol."""


def answers(handler: Handler) -> Handler:
    """`handler`, with the protocol's answers for what may go wrong."""

    async def answering(request: Request) -> Response:
        try:
            return await handler(request)
        except TokenRefused as error:
            if _is_former(request):
                raise HTTPException(404) from error
            return _error(401, error)
        except NoSuchEvidence as error:
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


async def turn_of(request: Request) -> Turn:
    return (await asking(request)).turn


async def asking(request: Request) -> Asking:
    here, name, shown = app_state(request), request.path_params["turn"], bearer(request)
    if not _is_former(request):
        with contextlib.suppress(TokenRefused):
            return await here.outputs.turn_with(name, shown)
    async with here.database.read() as tx:
        if not _is_former(request):
            await told_over(tx, name, shown, here.box_key)
        return await former_turn_with(tx, name, shown, here.clock())


def tokens_held(request: Request, asked: Asking) -> list[str]:
    """The tokens that this box holds: an agent that came by one may print it."""
    own = tokens_of(app_state(request).box_key, asked.box) if asked.box is not None else []
    return list(dict.fromkeys((bearer(request), *own)))


def bearer(request: Request) -> str:
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not value.strip():
        raise TokenRefused("send the token: Authorization: Bearer …")
    return value.strip()


async def json_of(request: Request, limit: int) -> dict[str, Any]:
    size = declared(request, limit)
    body = await body_of(request, size)
    try:
        value = msgspec.json.decode(body) if body else {}
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"{request.url.path}: the body is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadRequest(f"{request.url.path}: the body is a {type(value).__name__}, not an object")
    return value


def _error(status: int, error: Exception, **headers: str) -> Response:
    return JSONResponse({"error": str(error)}, status_code=status, headers=headers)


def of_former(handler: Handler) -> Handler:
    """`handler` for turns alone that the former release handed out; for all others there is nothing here."""

    async def handling(request: Request) -> Response:
        request.state.former = True
        return await handler(request)

    return handling


def _is_former(request: Request) -> bool:
    return getattr(request.state, "former", False)

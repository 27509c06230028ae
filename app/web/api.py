"""/api/v1/sessions: start, look at, cancel. JSON, for whoever holds `GREENLOOP_API_TOKEN`; without one, 404.

`installation` (in the query, or in the body of a start) names the tenant; it may be left out while there is only one.
Errors are `{"error": "…", "field": "…"}` with 400 for input, 401 for the token, 404 for what is not there.
"""

import hmac
import json
from collections.abc import Awaitable, Callable
from dataclasses import fields
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from app.web import session_operations
from app.web.state import app_state
from loops import operations

SURFACE = "api"
BODY_LIMIT = 256 * 1024

Handler = Callable[[Request], Awaitable[Response]]


def routes() -> list[Route]:
    """The routes of the JSON API."""
    return [
        Route("/api/v1/sessions", _guarded(_start), methods=["POST"]),
        Route("/api/v1/sessions", _guarded(_list), methods=["GET"]),
        Route("/api/v1/sessions/{session}", _guarded(_get), methods=["GET"]),
        Route("/api/v1/sessions/{session}/cancel", _guarded(_cancel), methods=["POST"]),
    ]


def refusal(request: Request) -> Response | None:
    """The answer to a request without the API's token; None for one that may pass."""
    token = app_state(request).settings.api_token_text()
    if not token:
        return _error(404, "the API is off: set GREENLOOP_API_TOKEN")
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode()):
        return None
    answer = _error(401, "the bearer token is missing or wrong")
    answer.headers["www-authenticate"] = "Bearer"
    return answer


def _guarded(handler: Handler) -> Handler:
    async def guarded(request: Request) -> Response:
        if (refused := refusal(request)) is not None:
            return refused
        try:
            return await handler(request)
        except operations.Invalid as error:
            return _error(400, str(error), error.field)
        except operations.Unknown as error:
            return _error(404, str(error.args[0]))

    return guarded


async def _start(request: Request) -> Response:
    given = await _body(request)
    known = {field.name for field in fields(operations.StartRequest)} | {"installation"}
    if strange := sorted(set(given) - known):
        raise operations.Invalid(strange[0], f"there is no {strange[0]!r}; known are {', '.join(sorted(known))}")
    wish = operations.StartRequest(
        repository=_value(given, "repository", (int, str), needed=True),
        instruction=_value(given, "instruction", (str,), needed=True),
        base=_value(given, "base", (str,)),
        max_steps=_value(given, "max_steps", (int,)),
        person=_value(given, "person", (str,)),
        runtime=_value(given, "runtime", (str,)),
        model=_value(given, "model", (str,)),
    )
    done = await session_operations.start(app_state(request), _value(given, "installation", (int,)), wish, SURFACE)
    return JSONResponse(session_operations.plain(done), 201, headers={"location": f"/api/v1/sessions/{done.session}"})


async def _list(request: Request) -> Response:
    status, limit = request.query_params.get("status"), _number(request, "limit") or 50
    found = await session_operations.list_sessions(app_state(request), _number(request, "installation"), status, limit)
    return JSONResponse({"sessions": [session_operations.plain(each) for each in found]})


async def _get(request: Request) -> Response:
    session, after = request.path_params["session"], _number(request, "after") or 0
    found = await session_operations.get(app_state(request), _number(request, "installation"), session, after)
    return JSONResponse(session_operations.plain(found))


async def _cancel(request: Request) -> Response:
    session = request.path_params["session"]
    done = await session_operations.cancel(app_state(request), _number(request, "installation"), session, SURFACE)
    return JSONResponse(session_operations.plain(done))


async def _body(request: Request) -> dict[str, Any]:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_LIMIT:
            raise operations.Invalid("", f"the body is larger than {BODY_LIMIT} bytes")
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise operations.Invalid("", f"the body is no JSON: {error}") from None
    if not isinstance(given, dict):
        raise operations.Invalid("", "the body has to be a JSON object")
    return given


def _value(given: dict[str, Any], name: str, kinds: tuple[type, ...], *, needed: bool = False) -> Any:
    value = given.get(name)
    if value is None and not needed:
        return None
    if not isinstance(value, kinds) or isinstance(value, bool):
        expected = " or ".join({"int": "a number", "str": "a text"}[kind.__name__] for kind in kinds)
        raise operations.Invalid(name, f"{name} has to be {expected}")
    return value


def _number(request: Request, name: str) -> int | None:
    text = request.query_params.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise operations.Invalid(name, f"{name} has to be a whole number")
    return int(text)


def _error(status: int, message: str, field: str = "") -> JSONResponse:
    return JSONResponse({"error": message, **({"field": field} if field else {})}, status)

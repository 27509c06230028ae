"""/api/v1 as Starlette serves it: each path with its methods, and everything that goes wrong as a problem."""

from itertools import groupby

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from app.web.api.callers import caller_of
from app.web.api.inputs import check_text, query_of
from app.web.api.openapi import document
from app.web.api.operations import OPERATIONS, Call, Operation
from app.web.api.problems import Problem, answer
from app.web.state import app_state
from loops.operations import Invalid, NotAgain, Unknown

ROOT = "/api/v1"


def routes() -> list[BaseRoute]:
    """The routes of the API; what is none of them is answered in its way as well."""
    paths = groupby(sorted(OPERATIONS, key=lambda each: each.path), key=lambda each: each.path)
    return [
        *(Route(path, Resource({each.method: each for each in operations})) for path, operations in paths),
        Route(f"{ROOT}/openapi.json", Described()),
        Route(ROOT, Missing()),
        Route(f"{ROOT}/{{rest:path}}", Missing()),
    ]


class Resource:
    """One path with its operations, by their methods."""

    def __init__(self, operations: dict[str, Operation]) -> None:
        self._operations = operations

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            response = await self._answer(request)
        except ClientDisconnect:
            response = Response(status_code=400)
        except Exception as error:
            if (found := problem_of(error)) is None:
                raise
            response = answer(found)
        response.headers.setdefault("cache-control", "no-store")
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        caller = await caller_of(request)
        operation = self._operations.get(request.method)
        if operation is None:
            allowed = ", ".join(sorted(self._operations))
            raise Problem(405, f"{request.method} is not for this: {allowed}", headers={"allow": allowed})
        if operation.scope is not None:
            caller.needs(operation.scope)
        for name, value in request.path_params.items():
            check_text(name, value)
        call = Call(request, app_state(request), caller, query_of(request, operation.query))
        return await operation.perform(call)


class Described:
    """The description of the API, for whoever asks: nothing in it is anybody's."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            response = answer(Problem(405, f"{scope['method']} is not for this: GET", headers={"allow": "GET"}))
        else:
            response = JSONResponse(document())
        await response(scope, receive, send)


class Missing:
    """A path below /api/v1 that is nothing."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = answer(Problem(404, f"there is nothing here: {ROOT}/openapi.json says what there is"))
        await response(scope, receive, send)


def problem_of(error: Exception) -> Problem | None:
    """How the caller hears of it; None for a fault of ours."""
    match error:
        case Problem():
            return error
        case Invalid():
            return Problem(400, str(error), field=error.field or None)
        case Unknown():
            return Problem(404, str(error.args[0]))
        case NotAgain():
            return Problem(409, str(error))
    return None

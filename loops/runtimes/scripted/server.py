"""The scripted model server: an ASGI application, and a thread that serves it."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from loops.runtimes.scripted import encode
from loops.runtimes.scripted.brain import Brain
from loops.runtimes.scripted.conversation import Conversation, Wire, read
from loops.runtimes.scripted.replies import Drop, Refusal, Reply, Wait

_ROUTES: Mapping[str, Wire] = {"responses": "responses", "chat/completions": "chat", "messages": "messages"}
_TITLE = Reply("A small repair", input=10, cached=0, output=3)


class ModelServer:
    """Serves each of `brains` under its own base URL, on a free port of 127.0.0.1, while it is entered.

    `requests(name)` are the conversations that were asked for, oldest first, side calls left out.
    """

    def __init__(self, brains: Mapping[str, Brain]) -> None:
        self._brains = dict(brains)
        self._requests: dict[str, list[Conversation]] = {name: [] for name in brains}
        config = uvicorn.Config(self.app(), port=0, log_level="error", lifespan="off", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, name="model-server", daemon=True)
        self.port = 0

    def __enter__(self) -> Self:
        self._thread.start()
        until = time.monotonic() + 10
        while not self._server.started:
            if time.monotonic() > until or not self._thread.is_alive():
                raise RuntimeError("The scripted model server did not start within 10 s.")
            time.sleep(0.005)
        self.port = self._server.servers[0].sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=10)

    def base_url(self, name: str, *, version: bool = True) -> str:
        """The base URL of one brain: with `/v1` for OpenAI's protocols, without for Anthropic's."""
        return f"http://127.0.0.1:{self.port}/{name}" + ("/v1" if version else "")

    def requests(self, name: str) -> list[Conversation]:
        """What was asked of one brain so far."""
        return list(self._requests[name])

    def app(self) -> Starlette:
        """The application itself, for a server of one's own."""
        routes = [
            Route(f"/{{name}}/v1/{path}", self._answer, methods=["POST"], name=wire) for path, wire in _ROUTES.items()
        ]
        return Starlette(routes=[*routes, Route("/{name}/{rest:path}", _nothing, methods=["GET", "POST", "HEAD"])])

    async def _answer(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._brains:
            return JSONResponse({"error": {"message": f"no script {name!r}"}}, 404)
        key = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        wire = _ROUTES[request.url.path.split("/v1/", 1)[1]]
        encoding = request.headers.get("content-encoding", "identity")
        if encoding != "identity":
            # Codex on a ChatGPT login compresses what it sends.
            return JSONResponse({"error": {"message": f"this server reads no {encoding}"}}, 415)
        try:
            conversation = read(wire, json.loads(await request.body()), key)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return JSONResponse({"error": {"message": f"the request is not understood: {error!r}"}}, 400)
        if conversation.is_side_call:
            return _send(conversation, _TITLE)
        self._requests[name].append(conversation)
        step = self._brains[name].next(conversation)
        if isinstance(step, Wait):
            await asyncio.sleep(step.seconds)
            step = step.then
        if isinstance(step, Refusal):
            headers = {} if step.retry_after is None else {"retry-after": str(step.retry_after)}
            return JSONResponse(encode.error(conversation, step.status, step.message), step.status, headers)
        if isinstance(step, Drop):
            return StreamingResponse(_dropped(conversation), media_type="text/event-stream")
        return _send(conversation, step)


async def _nothing(request: Request) -> Response:
    return JSONResponse({"error": {"message": f"no such path: {request.url.path}"}}, 404)


def _send(conversation: Conversation, reply: Reply) -> Response:
    if not conversation.stream:
        return JSONResponse(encode.whole(conversation, reply))
    return StreamingResponse(encode.stream(conversation, reply), media_type="text/event-stream")


async def _dropped(conversation: Conversation) -> AsyncIterator[Any]:
    yield next(encode.stream(conversation, Reply("cut off")))
    raise ConnectionResetError("the script drops the connection here")

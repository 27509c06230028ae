"""The scripted model server: an ASGI application, and a thread that serves it."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from itertools import islice
from typing import Any, Final, Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from loops.runtimes.scripted.brain import Brain
from loops.runtimes.scripted.conversation import Conversation
from loops.runtimes.scripted.replies import Drop, Refusal, Reply, Wait
from loops.runtimes.scripted.tools import call
from loops.runtimes.scripted.wires.chat import CHAT
from loops.runtimes.scripted.wires.generate_content import GENERATE_CONTENT
from loops.runtimes.scripted.wires.messages import MESSAGES
from loops.runtimes.scripted.wires.responses import RESPONSES
from loops.runtimes.scripted.wires.wire import BadRequest, Event, WireFormat
from loops.runtimes.spec import Wire

_ROUTES: Mapping[str, Wire] = {"responses": "responses", "chat/completions": "chat", "messages": "messages"}
_WIRES: Mapping[Wire, WireFormat] = {
    "responses": RESPONSES,
    "chat": CHAT,
    "messages": MESSAGES,
    "generate_content": GENERATE_CONTENT,
}
_VERSIONED: Final = ("responses", "chat")
"""Protocols whose base URLs end with the version; a CLI adds it to those of the others."""
TOO_LONG = "context_length_exceeded"
_TITLE = Reply("A small repair", input=10, cached=0, output=3)


class ModelServer:
    """Serves each of `brains` under its own base URL, on a free port of 127.0.0.1, while it is entered.

    `requests(name)` are the conversations that were asked for, oldest first, side calls left out.
    """

    def __init__(self, brains: Mapping[str, Brain]) -> None:
        self._brains = dict(brains)
        self._requests: dict[str, list[Conversation]] = {name: [] for name in brains}
        self._too_long: dict[str, Refusal] = {}
        config = uvicorn.Config(
            self.app(),
            port=0,
            log_level="error",
            lifespan="off",
            timeout_graceful_shutdown=1,
            timeout_keep_alive=60,  # longer than an agent keeps a connection: none writes on one that is being closed
        )
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

    def base_url(self, name: str, wire: Wire) -> str:
        """The base URL of one brain, for a CLI that speaks `wire`."""
        return f"http://127.0.0.1:{self.port}/{name}" + ("/v1" if wire in _VERSIONED else "")

    def requests(self, name: str) -> list[Conversation]:
        """What was asked of one brain so far."""
        return list(self._requests[name])

    def app(self) -> Starlette:
        """The application itself, for a server of one's own."""
        routes = [
            Route(f"/{{name}}/v1/{path}", self._openai, methods=["POST"], name=wire) for path, wire in _ROUTES.items()
        ]
        routes.append(Route("/{name}/v1beta/models/{model}:{method}", self._google, methods=["POST"]))
        return Starlette(routes=[*routes, Route("/{name}/{rest:path}", _nothing, methods=["GET", "POST", "HEAD"])])

    async def _openai(self, request: Request) -> Response:
        """OpenAI's protocols, and Anthropic's, which says model and streaming in the body too."""
        wire = _ROUTES[request.url.path.split("/v1/", 1)[1]]
        key = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        return await self._answer(request, wire, key)

    async def _google(self, request: Request) -> Response:
        """Google's, whose model and streaming are in the path. Without `alt=sse` it streams a JSON array: not here."""
        model, method = request.path_params["model"], request.path_params["method"]
        key = request.headers.get("x-goog-api-key", "")
        if method not in ("generateContent", "streamGenerateContent"):
            return await _nothing(request)
        if not key:
            return _refuse(
                GENERATE_CONTENT, Refusal(403, "Method doesn't allow unregistered callers (callers without identity).")
            )
        stream = method == "streamGenerateContent"
        if stream and request.query_params.get("alt") != "sse":
            return _refuse(
                GENERATE_CONTENT, Refusal(501, "this server streams with alt=sse only", kind="UNIMPLEMENTED")
            )
        return await self._answer(request, "generate_content", key, model=model, stream=stream)

    async def _answer(
        self, request: Request, wire: Wire, key: str, *, model: str | None = None, stream: bool | None = None
    ) -> Response:
        name, told = request.path_params["name"], _WIRES[wire]
        if name not in self._brains:
            return _refuse(told, Refusal(404, f"no script {name!r}"))
        encoding = request.headers.get("content-encoding", "identity")
        if encoding != "identity":
            # Codex on a ChatGPT login compresses what it sends.
            return _refuse(told, Refusal(415, f"this server reads no {encoding}"))
        try:
            body = json.loads(await request.body())
            conversation = _read(wire, body, key, model=model, stream=stream)
        except BadRequest as error:
            return _refuse(told, Refusal(400, str(error)))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return _refuse(told, Refusal(400, f"the request is not understood: {error!r}"))
        if conversation.is_side_call:
            refused = self._too_long.get(name)
            return _refuse(told, refused) if refused else _send(conversation, _TITLE)
        self._requests[name].append(conversation)
        step = self._brains[name].next(conversation)
        if isinstance(step, Refusal) and step.kind == TOO_LONG:
            self._too_long[name] = step  # a summary of a conversation that is too long holds all of it
        else:
            self._too_long.pop(name, None)
        if isinstance(step, Wait):
            await asyncio.sleep(step.seconds)
            step = step.then
        if isinstance(step, Refusal):
            return _refuse(told, step)
        if isinstance(step, Drop):
            return StreamingResponse(_dropped(conversation, step), media_type="text/event-stream")
        try:
            return _send(conversation, step)
        except LookupError as error:
            return _refuse(told, Refusal(501, str(error)))


def _read(wire: Wire, body: Any, key: str, *, model: str | None, stream: bool | None) -> Conversation:
    """`body` as it came. Unknown parts are passed over. Raises BadRequest, or whatever an odd body causes."""
    told = _WIRES[wire]
    return Conversation(
        wire=wire,
        model=str(body.get("model", "")) if model is None else model,
        said=tuple(told.said(body)),
        tools={tool.name: tool for tool in told.tools(body)},
        system=told.system(body),
        stream=bool(body.get("stream")) if stream is None else stream,
        key=key,
        body=body,
    )


async def _nothing(request: Request) -> Response:
    return JSONResponse({"error": {"message": f"no such path: {request.url.path}"}}, 404)


def _refuse(wire: WireFormat, refusal: Refusal) -> Response:
    # Google says it in the body only.
    told = wire is not GENERATE_CONTENT and refusal.retry_after is not None
    headers = {"retry-after": str(refusal.retry_after)} if told else {}
    return JSONResponse(wire.error(refusal), refusal.status, headers)


def _send(conversation: Conversation, reply: Reply) -> Response:
    """Raises LookupError where the CLI offers no tool for what the script wants."""
    wire, made = _WIRES[conversation.wire], tuple(call(action, conversation) for action in reply.actions)
    if not conversation.stream:
        return JSONResponse(wire.whole(conversation, reply, made))
    return StreamingResponse(_events(wire.stream(conversation, reply, made)), media_type="text/event-stream")


def _events(told: Iterator[Event]) -> Iterator[bytes]:
    for name, data in told:
        text = data if isinstance(data, str) else json.dumps(data)
        yield (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()


async def _dropped(conversation: Conversation, drop: Drop) -> AsyncIterator[Any]:
    made = tuple(call(action, conversation) for action in drop.reply.actions)
    for event in islice(_events(_WIRES[conversation.wire].stream(conversation, drop.reply, made)), drop.events):
        yield event
    raise ConnectionResetError("the script drops the connection here")

"""What a box may ask: one endpoint for each protocol, one model, no address of its own. Pure."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import msgspec

from loops.runtimes.spec import Wire

ROOT: Final = "/models"
"""The gateway's paths are `{ROOT}/{turn}/{endpoint}`."""
_FIXED: Final[dict[str, Wire]] = {
    "v1/messages": "messages",
    "v1/chat/completions": "chat",
    "v1/responses": "responses",
}
_GOOGLE = re.compile(r"v1beta/models/([\w.-]+):(generateContent|streamGenerateContent)")
_VERSIONED: Final = ("responses", "chat")
_STREAM: Final = "streamGenerateContent"
_THE_ACCOUNTS: Final = (
    *("models", "fallbacks", "route", "preset", "provider", "custom_llm_provider"),
    *("api_base", "base_url", "api_key", "api_version", "organization", "user_config"),
)
"""Keys of a body by which proxies in front of models (OpenRouter, LiteLLM) are told of other models, another endpoint
or another key than the account's."""


class NotAsked(ValueError):
    """The request is none that a turn may make; `status` is HTTP's. The message is for the agent."""

    def __init__(self, status: int, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


@dataclass(frozen=True)
class Endpoint:
    """One of the endpoints: its protocol, and what stands in its path where that is not fixed."""

    wire: Wire
    model: str = ""
    method: str = ""


@dataclass
class ModelRequest:
    """What goes to the provider: `path` behind its base URL, the `body` as it is sent on, until it was `sent`."""

    wire: Wire
    model: str
    stream: bool
    path: str
    body: bytes = field(repr=False)
    size: int

    def sent(self) -> None:
        """The model has begun to answer: the body is needed no more, and an answer may take minutes."""
        self.body = b""


def base_url(service_url: str, turn: str, wire: Wire) -> str:
    """What a CLI is told: with the version for OpenAI's protocols, as their base URLs have it."""
    return f"{service_url.rstrip('/')}{ROOT}/{turn}" + ("/v1" if wire in _VERSIONED else "")


def endpoint_of(path: str) -> Endpoint | None:
    """The endpoint at `path`, which is what follows the turn in it; None: there is none."""
    if wire := _FIXED.get(path):
        return Endpoint(wire)
    if found := _GOOGLE.fullmatch(path):
        return Endpoint("generate_content", found.group(1), found.group(2))
    return None


def protocol_at(path: str) -> Wire:
    """In whose shape to refuse what was asked at `path`, whether there is such an endpoint or not."""
    if endpoint := endpoint_of(path):
        return endpoint.wire
    if path.startswith("v1beta"):
        return "generate_content"
    return "messages" if path.startswith("v1/messages") else "chat"


def request_of(endpoint: Endpoint, body: bytes, beta: bool, may_ask: Callable[[str], bool], given: str) -> ModelRequest:
    """The request as it is sent on. Raises NotAsked for a model that is not the turn's, and for what is no request.

    The top level of the body is written anew, so that a key that stands there twice means the same to us and to the
    provider. Usage is asked for; an answer that comes later, out of our sight, is not, nor is what the account decides.
    """
    parts = parts_of(body)
    for name in _THE_ACCOUNTS:
        parts.pop(name, None)
    if endpoint.model:
        parts.pop("model", None)
    model = endpoint.model or _text(parts, "model")
    if not may_ask(model):
        raise NotAsked(404, f"The model {model[:100]!r} is not this turn's: its account allows {given!r}.", "model")
    stream = endpoint.method == _STREAM if endpoint.method else _flag(parts, "stream")
    if endpoint.wire == "chat" and stream:
        options = _object(parts, "stream_options")
        parts["stream_options"] = msgspec.Raw(msgspec.json.encode({**options, "include_usage": True}))
    if endpoint.wire == "responses":
        parts.pop("background", None)
    written = joined(parts)
    return ModelRequest(endpoint.wire, model, stream, _path(endpoint, beta=beta), written, len(written))


def _path(endpoint: Endpoint, *, beta: bool) -> str:
    match endpoint.wire:
        case "messages":
            return "/v1/messages?beta=true" if beta else "/v1/messages"
        case "chat":
            return "/chat/completions"
        case "responses":
            return "/responses"
        case "generate_content":
            stream = "?alt=sse" if endpoint.method == _STREAM else ""
            return f"/v1beta/models/{endpoint.model}:{endpoint.method}{stream}"


def upstream_url(base: str, wire: Wire, path: str) -> str:
    """The address of the request. Bases of Anthropic's and Google's protocols may hold the version or not."""
    version = {"messages": "/v1", "generate_content": "/v1beta"}.get(wire, "")
    bare = base.rstrip("/")
    return (bare.removesuffix(version) if version else bare) + path


def parts_of(body: bytes) -> dict[str, msgspec.Raw]:
    """The top level of a JSON object, each value as it is written. Raises NotAsked."""
    try:
        return msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except (ValueError, RecursionError):
        raise NotAsked(400, "The body of the request is no JSON object.") from None


def joined(parts: dict[str, msgspec.Raw]) -> bytes:
    """The object with these parts."""
    return b"{" + b",".join(msgspec.json.encode(name) + b":" + bytes(raw) for name, raw in parts.items()) + b"}"


def _text(parts: dict[str, msgspec.Raw], name: str) -> str:
    try:
        return msgspec.json.decode(parts[name], type=str)
    except (KeyError, ValueError):
        raise NotAsked(400, f"The request names no {name}.") from None


def _flag(parts: dict[str, msgspec.Raw], name: str) -> bool:
    try:
        return msgspec.json.decode(parts[name], type=bool | None) or False
    except KeyError:
        return False
    except ValueError:
        raise NotAsked(400, f"`{name}` is neither true nor false.") from None


def _object(parts: dict[str, msgspec.Raw], name: str) -> dict[str, object]:
    try:
        return msgspec.json.decode(parts[name], type=dict[str, object] | None) or {}
    except (KeyError, ValueError):
        return {}

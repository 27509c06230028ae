"""The gateway's own answers, in the shape of each provider: an agent shows people what it understands. Pure."""

import json
from typing import Any, Final

from loops.runtimes.spec import ModelCalls, Wire

_ANTHROPIC: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_OPENAI: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "insufficient_quota",
    403: "permission_error",
    404: "invalid_request_error",
    413: "request_too_large",
    429: "rate_limit_error",
}
_GOOGLE: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    402: "RESOURCE_EXHAUSTED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


class Refusal(Exception):
    """An answer of ours in place of the provider's."""

    def __init__(self, status: int, body: bytes, media: str = "application/json") -> None:
        super().__init__(status)
        self.status = status
        self.body = body
        self.media = media


def refuse(wire: Wire, status: int, message: str, kind: str = "") -> Refusal:
    """`kind` "model": the model is not to be had."""
    return Refusal(status, json.dumps(_error(wire, status, message, kind)).encode())


def spent(wire: Wire, calls: ModelCalls, message: str) -> Refusal:
    """The refusal after which the agent does not ask again, and says what it was told."""
    if calls.spent_plain:
        return Refusal(calls.spent_status, message.encode(), "text/plain; charset=utf-8")
    return refuse(wire, calls.spent_status, message)


def ending(stopped: str) -> str:
    """The sentence for an agent whose turn is being ended. How a cap is raised is no affair of its."""
    why = stopped.removeprefix("limit_exceeded: ").partition(". To raise it")[0]
    return f"Greenloop ends this turn: {why}."


def broken_off(wire: Wire, status: int, message: str) -> bytes:
    """The same inside a stream that has begun: the event by which the protocol tells of a failure."""
    told = _error(wire, status, message, "")
    if wire == "messages":
        return b"event: error\ndata: " + json.dumps(told).encode() + b"\n\n"
    if wire == "responses":
        code = "rate_limit_exceeded" if status == 429 else "server_error"
        failed = {"object": "response", "status": "failed", "error": {"code": code, "message": message}}
        return b"event: response.failed\ndata: " + _json({"type": "response.failed", "response": failed}) + b"\n\n"
    return b"data: " + _json(told) + b"\n\n"


def _error(wire: Wire, status: int, message: str, kind: str) -> dict[str, Any]:
    if wire == "messages":
        return {"type": "error", "error": {"type": _ANTHROPIC.get(status, "api_error"), "message": message}}
    if wire == "generate_content":
        return {"error": {"code": status, "message": message, "status": _GOOGLE.get(status, "UNKNOWN")}}
    named = _OPENAI.get(status, "api_error")
    return {"error": {"message": message, "type": named, "param": None, "code": "model_not_found" if kind else named}}


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()

"""OpenAI's chat completions. Only what the CLIs need to see (observed with OpenCode 1.18)."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

from loops.runtimes.scripted.conversation import Conversation, Said, Tool
from loops.runtimes.scripted.replies import Refusal, Reply
from loops.runtimes.scripted.tools import Call
from loops.runtimes.scripted.wires.chat_rules import check
from loops.runtimes.scripted.wires.wire import (
    JSON,
    Calls,
    Event,
    WireFormat,
    identity,
    named,
    parameters,
    pieces,
    text_of,
)

_KINDS = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


def error(refusal: Refusal) -> JSON:
    """The body of a refusal, in OpenAI's shape."""
    kind = refusal.kind or _KINDS.get(refusal.status, "api_error")
    return {"error": {"type": kind, "message": refusal.message, "code": refusal.kind or refusal.status}}


def _said(body: Mapping[str, Any]) -> Iterator[Said]:
    check(body)
    for message in body.get("messages") or []:
        calls = tuple(str(call["function"]["name"]) for call in message.get("tool_calls") or [])
        role = message.get("role")
        if role in ("user", "assistant", "tool"):
            yield Said(role, text_of(message.get("content")), calls)


def _tools(body: Mapping[str, Any]) -> Iterator[Tool]:
    for tool in body.get("tools") or []:
        inner = tool.get("function") or {}
        if inner.get("name"):
            yield Tool(str(inner["name"]), False, parameters(inner.get("parameters")))


def _function(call: Call) -> JSON:
    return {"id": identity("call"), "type": "function", "function": named(call, "arguments")}


def _chunk(conversation: Conversation, kind: str, choices: list[JSON]) -> JSON:
    made = int(time.time())
    return {
        "id": identity("chatcmpl"),
        "object": kind,
        "created": made,
        "model": conversation.model,
        "choices": choices,
    }


def _usage(reply: Reply) -> JSON:
    return {
        "prompt_tokens": reply.input,
        "completion_tokens": reply.output,
        "total_tokens": reply.input + reply.output,
        "prompt_tokens_details": {"cached_tokens": reply.cached},
        "completion_tokens_details": {"reasoning_tokens": reply.thought},
    }


def _whole(conversation: Conversation, reply: Reply, calls: Calls) -> JSON:
    message: JSON = {"role": "assistant", "content": reply.text or None}
    if calls:
        message["tool_calls"] = [_function(call) for call in calls]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return _chunk(conversation, "chat.completion", [choice]) | {"usage": _usage(reply)}


def _stream(conversation: Conversation, reply: Reply, calls: Calls) -> Iterator[Event]:
    def chunk(delta: JSON, finish: str | None = None) -> JSON:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _chunk(conversation, "chat.completion.chunk", [choice])

    yield None, chunk({"role": "assistant", "content": ""})
    for piece in pieces(reply.text):
        yield None, chunk({"content": piece})
    for at, call in enumerate(calls):
        yield None, chunk({"tool_calls": [{"index": at, **_function(call)}]})
    yield None, chunk({}, "tool_calls" if calls else "stop")
    yield None, _chunk(conversation, "chat.completion.chunk", []) | {"usage": _usage(reply)}
    yield None, "[DONE]"


CHAT = WireFormat(
    said=_said,
    tools=_tools,
    system=lambda body: "",
    stream=_stream,
    whole=_whole,
    error=error,
)

"""Anthropic's Messages API. Only what the CLIs need to see (observed with Claude Code 2.1)."""

from collections.abc import Iterator, Mapping
from typing import Any

from loops.runtimes.scripted.conversation import Conversation, Said, Tool
from loops.runtimes.scripted.replies import Refusal, Reply
from loops.runtimes.scripted.wires.messages_rules import check
from loops.runtimes.scripted.wires.wire import JSON, Calls, Event, WireFormat, identity, parameters, pieces, text_of

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def _error(refusal: Refusal) -> JSON:
    kind = refusal.kind or _KINDS.get(refusal.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": refusal.message}}


def _said(body: Mapping[str, Any]) -> Iterator[Said]:
    check(body)
    for message in body.get("messages") or []:
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        for block in blocks:
            if block.get("type") == "tool_result":
                yield Said("tool", text_of(block.get("content")))
        text = "\n".join(str(block["text"]) for block in blocks if block.get("type") == "text")
        calls = tuple(str(block["name"]) for block in blocks if block.get("type") == "tool_use")
        if text or calls:
            yield Said("assistant" if message.get("role") == "assistant" else "user", text, calls)


def _tools(body: Mapping[str, Any]) -> Iterator[Tool]:
    for tool in body.get("tools") or []:
        if tool.get("name"):
            yield Tool(str(tool["name"]), False, parameters(tool.get("input_schema")))


def _message(conversation: Conversation, reply: Reply, blocks: list[JSON], stop: str | None) -> JSON:
    usage = {
        "input_tokens": reply.input - reply.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": reply.cached,
        "output_tokens": reply.output if stop else 1,
    }
    told = {"id": identity("msg"), "type": "message", "role": "assistant", "model": conversation.model}
    return {**told, "content": blocks, "stop_reason": stop, "stop_sequence": None, "usage": usage}


def _whole(conversation: Conversation, reply: Reply, calls: Calls) -> JSON:
    blocks: list[JSON] = [{"type": "text", "text": reply.text}] if reply.text else []
    for call in calls:
        blocks.append({"type": "tool_use", "id": identity("toolu"), "name": call.name, "input": call.arguments or {}})
    return _message(conversation, reply, blocks, "tool_use" if calls else "end_turn")


def _stream(conversation: Conversation, reply: Reply, calls: Calls) -> Iterator[Event]:
    def event(kind: str, **data: Any) -> Event:
        return kind, {"type": kind, **data}

    yield event("message_start", message=_message(conversation, reply, [], None))
    at = 0
    if reply.text:
        yield event("content_block_start", index=at, content_block={"type": "text", "text": ""})
        for piece in pieces(reply.text):
            yield event("content_block_delta", index=at, delta={"type": "text_delta", "text": piece})
        yield event("content_block_stop", index=at)
        at += 1
    for call in calls:
        block = {"type": "tool_use", "id": identity("toolu"), "name": call.name, "input": {}}
        yield event("content_block_start", index=at, content_block=block)
        for piece in pieces(call.json or "{}", 200):
            yield event("content_block_delta", index=at, delta={"type": "input_json_delta", "partial_json": piece})
        yield event("content_block_stop", index=at)
        at += 1
    stop = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    yield event("message_delta", delta=stop, usage={"output_tokens": reply.output})
    yield event("message_stop")


MESSAGES = WireFormat(
    said=_said,
    tools=_tools,
    system=lambda body: text_of(body.get("system") or ""),
    stream=_stream,
    whole=_whole,
    error=_error,
)

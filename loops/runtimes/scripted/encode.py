"""A reply on the wire: Responses API, chat completions, Messages API; as a stream or in one piece.

Only what the CLIs need to see (observed with Codex 0.171, OpenCode 1.18, Claude Code 2.1).
"""

import json
import time
import uuid
from collections.abc import Iterator
from typing import Any

from loops.runtimes.scripted.conversation import Conversation
from loops.runtimes.scripted.replies import Reply
from loops.runtimes.scripted.tools import Call, call

Event = tuple[str | None, dict[str, Any] | str]


def stream(conversation: Conversation, reply: Reply) -> Iterator[bytes]:
    """Server-sent events for `reply`, one by one."""
    encoders = {"responses": _responses, "chat": _chat, "messages": _messages}
    for name, data in encoders[conversation.wire](conversation, reply, _tool(conversation, reply)):
        text = data if isinstance(data, str) else json.dumps(data)
        yield (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()


def whole(conversation: Conversation, reply: Reply) -> dict[str, Any]:
    """The body of an answer that is not streamed."""
    tool = _tool(conversation, reply)
    match conversation.wire:
        case "responses":
            return _response(reply, _items(reply, tool))
        case "chat":
            return _completion(conversation, reply, tool)
        case "messages":
            blocks: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text else []
            if tool:
                blocks.append(
                    {"type": "tool_use", "id": _id("toolu"), "name": tool.name, "input": tool.arguments or {}}
                )
            return _message(conversation, reply, blocks, "tool_use" if tool else "end_turn")


def error(conversation: Conversation, status: int, message: str) -> dict[str, Any]:
    """The body of an HTTP error."""
    kinds = {
        400: "invalid_request_error",
        401: "authentication_error",
        403: "permission_error",
        429: "rate_limit_error",
    }
    told = {"type": kinds.get(status, "api_error"), "message": message}
    return {"type": "error", "error": told} if conversation.wire == "messages" else {"error": {**told, "code": status}}


def _tool(conversation: Conversation, reply: Reply) -> Call | None:
    return call(reply.action, conversation) if reply.action else None


def _id(prefix: str) -> str:
    return f"{prefix}_{uuid.uuid4().hex[:24]}"


def _items(reply: Reply, tool: Call | None) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if reply.reasoning:
        summary = [{"type": "summary_text", "text": reply.reasoning}]
        items.append({"type": "reasoning", "id": _id("rs"), "summary": summary, "encrypted_content": "c2NyaXB0"})
    if reply.text:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        items.append(
            {"type": "message", "id": _id("msg"), "role": "assistant", "status": "completed", "content": content}
        )
    if tool and tool.arguments is None:
        items.append({"type": "custom_tool_call", "id": _id("ctc"), "call_id": _id("call")} | _named(tool, "input"))
    elif tool:
        items.append({"type": "function_call", "id": _id("fc"), "call_id": _id("call")} | _named(tool, "arguments"))
    return items


def _named(tool: Call, place: str) -> dict[str, Any]:
    return {"name": tool.name, place: tool.text if tool.arguments is None else json.dumps(tool.arguments)}


def _response(reply: Reply, items: list[dict[str, Any]]) -> dict[str, Any]:
    usage = {
        "input_tokens": reply.input,
        "input_tokens_details": {"cached_tokens": reply.cached},
        "output_tokens": reply.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.input + reply.output,
    }
    return {"id": _id("resp"), "object": "response", "status": "completed", "output": items, "usage": usage}


def _responses(conversation: Conversation, reply: Reply, tool: Call | None) -> Iterator[Event]:
    items = _items(reply, tool)
    done = _response(reply, items)
    created = {"type": "response.created", "response": {"id": done["id"], "object": "response", "output": []}}
    yield "response.created", created
    for at, item in enumerate(items):
        yield "response.output_item.added", {"type": "response.output_item.added", "output_index": at, "item": item}
        yield "response.output_item.done", {"type": "response.output_item.done", "output_index": at, "item": item}
    yield "response.completed", {"type": "response.completed", "response": done}


def _completion(conversation: Conversation, reply: Reply, tool: Call | None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if tool:
        message["tool_calls"] = [_function(tool)]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if tool else "stop"}
    return _chunk(conversation, "chat.completion", [choice]) | {"usage": _chat_usage(reply)}


def _function(tool: Call) -> dict[str, Any]:
    return {"id": _id("call"), "type": "function", "function": _named(tool, "arguments")}


def _chunk(conversation: Conversation, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    made = int(time.time())
    return {"id": _id("chatcmpl"), "object": kind, "created": made, "model": conversation.model, "choices": choices}


def _chat_usage(reply: Reply) -> dict[str, Any]:
    return {
        "prompt_tokens": reply.input,
        "completion_tokens": reply.output,
        "total_tokens": reply.input + reply.output,
        "prompt_tokens_details": {"cached_tokens": reply.cached},
    }


def _chat(conversation: Conversation, reply: Reply, tool: Call | None) -> Iterator[Event]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _chunk(conversation, "chat.completion.chunk", [choice])

    yield None, chunk({"role": "assistant", "content": ""})
    for piece in _pieces(reply.text):
        yield None, chunk({"content": piece})
    if tool:
        yield None, chunk({"tool_calls": [{"index": 0, **_function(tool)}]})
    yield None, chunk({}, "tool_calls" if tool else "stop")
    yield None, _chunk(conversation, "chat.completion.chunk", []) | {"usage": _chat_usage(reply)}
    yield None, "[DONE]"


def _message(
    conversation: Conversation, reply: Reply, blocks: list[dict[str, Any]], stop: str | None
) -> dict[str, Any]:
    usage = {
        "input_tokens": reply.input - reply.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": reply.cached,
        "output_tokens": reply.output if stop else 1,
    }
    told = {"id": _id("msg"), "type": "message", "role": "assistant", "model": conversation.model, "content": blocks}
    return {**told, "stop_reason": stop, "stop_sequence": None, "usage": usage}


def _messages(conversation: Conversation, reply: Reply, tool: Call | None) -> Iterator[Event]:
    def event(kind: str, **data: Any) -> Event:
        return kind, {"type": kind, **data}

    yield event("message_start", message=_message(conversation, reply, [], None))
    at = 0
    if reply.text:
        yield event("content_block_start", index=at, content_block={"type": "text", "text": ""})
        for piece in _pieces(reply.text):
            yield event("content_block_delta", index=at, delta={"type": "text_delta", "text": piece})
        yield event("content_block_stop", index=at)
        at += 1
    if tool:
        block = {"type": "tool_use", "id": _id("toolu"), "name": tool.name, "input": {}}
        yield event("content_block_start", index=at, content_block=block)
        given = json.dumps(tool.arguments or {})
        for piece in _pieces(given, 200):
            yield event("content_block_delta", index=at, delta={"type": "input_json_delta", "partial_json": piece})
        yield event("content_block_stop", index=at)
    stop = {"stop_reason": "tool_use" if tool else "end_turn", "stop_sequence": None}
    yield event("message_delta", delta=stop, usage={"output_tokens": reply.output})
    yield event("message_stop")


def _pieces(text: str, size: int = 24) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))

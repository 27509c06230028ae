"""OpenAI's Responses API. Only what the CLIs need to see (observed with Codex 0.171)."""

from collections.abc import Iterator, Mapping
from typing import Any

from loops.runtimes.scripted.conversation import Conversation, Role, Said, Tool
from loops.runtimes.scripted.replies import Reply
from loops.runtimes.scripted.tools import Call
from loops.runtimes.scripted.wires.chat import error
from loops.runtimes.scripted.wires.wire import JSON, Event, WireFormat, identity, named, parameters, text_of


def _said(body: Mapping[str, Any]) -> Iterator[Said]:
    given = body.get("input") or []
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        kind = item.get("type", "message")
        if kind in ("function_call", "custom_tool_call", "local_shell_call"):
            yield Said("assistant", "", (str(item.get("name", "shell")),))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            yield Said("tool", text_of(item.get("output")))
        elif kind == "message":
            role: Role = "assistant" if item.get("role") == "assistant" else "user"
            yield Said(role, text_of(item.get("content")))


def _tools(body: Mapping[str, Any]) -> Iterator[Tool]:
    for tool in body.get("tools") or []:
        # codex may group functions in a namespace
        for each in (tool, *(tool.get("tools") or [])):
            if each.get("name"):
                yield Tool(str(each["name"]), each.get("type") == "custom", parameters(each.get("parameters")))


def _items(reply: Reply, call: Call | None) -> list[JSON]:
    items: list[JSON] = []
    if reply.reasoning:
        summary = [{"type": "summary_text", "text": reply.reasoning}]
        items.append({"type": "reasoning", "id": identity("rs"), "summary": summary, "encrypted_content": "c2NyaXB0"})
    if reply.text:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        message = {"type": "message", "id": identity("msg"), "role": "assistant", "status": "completed"}
        items.append(message | {"content": content})
    if call:
        kind, prefix, place = ("custom_tool_call", "ctc", "input") if call.arguments is None else _FUNCTION
        items.append({"type": kind, "id": identity(prefix), "call_id": identity("call")} | named(call, place))
    return items


_FUNCTION = ("function_call", "fc", "arguments")


def _response(reply: Reply, items: list[JSON]) -> JSON:
    usage = {
        "input_tokens": reply.input,
        "input_tokens_details": {"cached_tokens": reply.cached},
        "output_tokens": reply.output,
        "output_tokens_details": {"reasoning_tokens": reply.thought},
        "total_tokens": reply.input + reply.output,
    }
    return {"id": identity("resp"), "object": "response", "status": "completed", "output": items, "usage": usage}


def _stream(conversation: Conversation, reply: Reply, call: Call | None) -> Iterator[Event]:
    items = _items(reply, call)
    done = _response(reply, items)
    created = {"type": "response.created", "response": {"id": done["id"], "object": "response", "output": []}}
    yield "response.created", created
    for at, item in enumerate(items):
        yield "response.output_item.added", {"type": "response.output_item.added", "output_index": at, "item": item}
        yield "response.output_item.done", {"type": "response.output_item.done", "output_index": at, "item": item}
    yield "response.completed", {"type": "response.completed", "response": done}


RESPONSES = WireFormat(
    said=_said,
    tools=_tools,
    system=lambda body: text_of(body.get("instructions") or ""),
    stream=_stream,
    whole=lambda conversation, reply, call: _response(reply, _items(reply, call)),
    error=error,
)

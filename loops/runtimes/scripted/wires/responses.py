"""OpenAI's Responses API. Only what the CLIs need to see (observed with Codex 0.171)."""

from collections.abc import Iterator, Mapping
from typing import Any

from loops.runtimes.scripted.conversation import Conversation, Role, Said, Tool
from loops.runtimes.scripted.replies import Reply
from loops.runtimes.scripted.wires.chat import error
from loops.runtimes.scripted.wires.responses_rules import check
from loops.runtimes.scripted.wires.wire import (
    JSON,
    THOUGHT,
    Calls,
    Event,
    WireFormat,
    identity,
    named,
    parameters,
    pieces,
    text_of,
)


def _said(body: Mapping[str, Any]) -> Iterator[Said]:
    check(body)
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


def _items(reply: Reply, calls: Calls) -> list[JSON]:
    items: list[JSON] = []
    thought = identity(THOUGHT).replace("_", "") if reply.reasoning else ""

    def named_by(prefix: str) -> str:
        # the item that follows thoughts needs them beside it
        return f"{prefix}_{thought}" if thought and items[-1]["type"] == "reasoning" else identity(prefix)

    if reply.reasoning:
        summary = [{"type": "summary_text", "text": reply.reasoning}]
        items.append({"type": "reasoning", "id": f"rs_{thought}", "summary": summary, "encrypted_content": "c2NyaXB0"})
    if reply.text:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        message = {"type": "message", "id": named_by("msg"), "role": "assistant", "status": "completed"}
        items.append(message | {"content": content})
    for call in calls:
        kind, prefix, place = ("custom_tool_call", "ctc", "input") if call.custom else _FUNCTION
        items.append({"type": kind, "id": named_by(prefix), "call_id": identity("call")} | named(call, place))
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


def _event(kind: str, **told: Any) -> Event:
    return kind, {"type": kind, **told}


def _pieces(item: JSON) -> tuple[JSON, list[tuple[str, JSON]]]:
    """An item as it begins, and the events by which it grows."""
    match item["type"]:
        case "message":
            part = item["content"][0]
            place = {"content_index": 0}
            growing = [("response.output_text.delta", {**place, "delta": piece}) for piece in pieces(part["text"])]
            added = ("response.content_part.added", {**place, "part": part | {"text": ""}})
            done = ("response.output_text.done", {**place, "text": part["text"]})
            whole = ("response.content_part.done", {**place, "part": part})
            return item | {"content": [], "status": "in_progress"}, [added, *growing, done, whole]
        case "function_call":
            text = item["arguments"]
            kind = "response.function_call_arguments"
            growing = [(f"{kind}.delta", {"delta": piece}) for piece in pieces(text, 200)]
            return item | {"arguments": ""}, [*growing, (f"{kind}.done", {"name": item["name"], "arguments": text})]
        case "reasoning":
            part, place = item["summary"][0], {"summary_index": 0}
            kind = "response.reasoning_summary_text"
            growing = [(f"{kind}.delta", {**place, "delta": piece}) for piece in pieces(part["text"])]
            added = ("response.reasoning_summary_part.added", {**place, "part": part | {"text": ""}})
            done = (f"{kind}.done", {**place, "text": part["text"]})
            whole = ("response.reasoning_summary_part.done", {**place, "part": part})
            return item | {"summary": []}, [added, *growing, done, whole]
        case _:
            return item, []


def _stream(conversation: Conversation, reply: Reply, calls: Calls) -> Iterator[Event]:
    items = _items(reply, calls)
    done = _response(reply, items)
    created = {"type": "response.created", "response": {"id": done["id"], "object": "response", "output": []}}
    yield "response.created", created
    for at, item in enumerate(items):
        begun, pieces_of_it = _pieces(item)
        yield _event("response.output_item.added", output_index=at, item=begun)
        for kind, told in pieces_of_it:
            yield _event(kind, output_index=at, item_id=item["id"], **told)
        yield _event("response.output_item.done", output_index=at, item=item)
    yield "response.completed", {"type": "response.completed", "response": done}


RESPONSES = WireFormat(
    said=_said,
    tools=_tools,
    system=lambda body: text_of(body.get("instructions") or ""),
    stream=_stream,
    whole=lambda conversation, reply, calls: _response(reply, _items(reply, calls)),
    error=error,
)

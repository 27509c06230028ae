"""What OpenAI's Responses API refuses of a request, in its words. This server keeps none, whatever `store` says."""

from collections.abc import Mapping
from typing import Any

from loops.runtimes.scripted.wires.rules import check_image_url, check_tool
from loops.runtimes.scripted.wires.wire import JSON, BadRequest, reasoning_of

_CALLS = {"function_call": "function call", "custom_tool_call": "custom tool call"}
_OUTPUTS = {"function_call_output": "function call output", "custom_tool_call_output": "custom tool call output"}
_FOLLOWING = (*_CALLS, "message", "reasoning")
_TEXTS = {"assistant": ("output_text", "refusal"), "": ("input_text", "input_image", "input_file")}


def check(body: Mapping[str, Any]) -> None:
    """Raises BadRequest."""
    for at, tool in enumerate(body.get("tools") or []):
        if tool.get("type") in ("function", "custom"):
            check_tool(f"tools[{at}]", tool.get("name"), tool.get("parameters"))
    if body.get("previous_response_id"):
        raise BadRequest(f"Previous response with id '{body['previous_response_id']}' not found.")
    given = body.get("input")
    items: list[JSON] = [item for item in given if isinstance(item, dict)] if isinstance(given, list) else []
    called: dict[str, str] = {}
    answered: set[str] = set()
    reasoned: set[str] = set()
    for at, item in enumerate(items):
        kind = item.get("type", "message")
        if kind in _CALLS:
            called[str(item["call_id"])] = kind
        elif kind in _OUTPUTS:
            _output(kind, str(item.get("call_id")), called)
            answered.add(str(item["call_id"]))
        elif kind == "reasoning":
            _reasoning(item, items[at + 1] if at + 1 < len(items) else {}, stored=body.get("store") is not False)
            reasoned.add(str(item.get("id")))
        elif kind == "item_reference":
            raise BadRequest(f"Item with id '{item.get('id')}' not found. Items are not persisted by this server.")
        elif kind == "message":
            _content(str(item.get("role")), item.get("content"))
        needed = reasoning_of(str(item.get("id") or ""))
        if needed and kind != "reasoning" and needed not in reasoned:
            raise BadRequest(
                f"Item '{item['id']}' of type '{kind}' was provided without its required 'reasoning' item: '{needed}'."
            )
    for call, kind in called.items():
        if call not in answered:
            raise BadRequest(f"No tool output found for {_CALLS[kind]} {call}.")


def _output(kind: str, call: str, called: Mapping[str, str]) -> None:
    if f"{called.get(call)}_output" != kind:
        raise BadRequest(f"No tool call found for {_OUTPUTS[kind]} with call_id {call}.")


def _reasoning(item: JSON, following: JSON, *, stored: bool) -> None:
    if not stored and not item.get("encrypted_content"):
        raise BadRequest(
            f"Item with id '{item.get('id')}' not found. Items are not persisted when `store` is set to false. Try "
            "again with `store` set to true, or remove this item from your input."
        )
    last = following.get("type", "message" if following else "") not in _FOLLOWING or following.get("role") == "user"
    if item.get("id") and last:
        raise BadRequest(
            f"Item '{item.get('id')}' of type 'reasoning' was provided without its required following item."
        )


def _content(role: str, content: object) -> None:
    allowed = _TEXTS["assistant"] if role == "assistant" else _TEXTS[""]
    for part in content if isinstance(content, list) else ():
        if part.get("type") not in allowed:
            raise BadRequest(
                f"Invalid value: '{part.get('type')}'. Supported values are: {', '.join(map(repr, allowed))}."
            )
        if part["type"] == "input_image":
            check_image_url(part.get("image_url"))

"""What OpenAI's chat completions refuse of a request, in its words."""

from collections.abc import Mapping
from typing import Any

from loops.runtimes.scripted.wires.rules import check_image_url, check_tool
from loops.runtimes.scripted.wires.wire import BadRequest

_ROLES = ("developer", "system", "user", "assistant", "tool")


def check(body: Mapping[str, Any]) -> None:
    """Raises BadRequest."""
    for at, tool in enumerate(body.get("tools") or []):
        if tool.get("type") != "function":
            raise BadRequest(f"Invalid value: {tool.get('type')!r}. Supported values are: 'function'.")
        check_tool(f"tools[{at}].function", tool["function"].get("name"), tool["function"].get("parameters"))
    waiting: list[str] = []
    for at, message in enumerate(body.get("messages") or []):
        role = message.get("role")
        if role not in _ROLES:
            raise BadRequest(f"Invalid value: {role!r}. Supported values are: {', '.join(map(repr, _ROLES))}.")
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                raise BadRequest(
                    f"Invalid parameter: messages[{at}] with role 'tool' must be a response to a preceding message "
                    "with 'tool_calls'."
                )
            waiting.remove(message["tool_call_id"])
            continue
        _all_answered(waiting)
        waiting = [_call(at, call) for call in message.get("tool_calls") or []]
        if waiting and role != "assistant":
            raise BadRequest(f"Invalid parameter: messages[{at}] with role {role!r} has 'tool_calls'.")
        if role == "assistant" and not waiting and not message.get("content") and not message.get("refusal"):
            raise BadRequest(f"Invalid value for 'content' of messages[{at}]: expected a string, got null.")
        _content(role, message.get("content"))
    _all_answered(waiting)


def _all_answered(waiting: list[str]) -> None:
    if waiting:
        raise BadRequest(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(waiting)}"
        )


def _call(at: int, call: Mapping[str, Any]) -> str:
    if not isinstance(call["function"].get("arguments"), str):
        raise BadRequest(f"Invalid type for 'messages[{at}].tool_calls[0].function.arguments': expected a string.")
    return str(call["id"])


def _content(role: str, content: object) -> None:
    for part in content if isinstance(content, list) else ():
        if part.get("type") == "image_url":
            if role != "user":
                raise BadRequest("Image URLs are only allowed for messages with role 'user'.")
            check_image_url(part["image_url"].get("url"))

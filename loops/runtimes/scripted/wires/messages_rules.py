"""What Anthropic's Messages API refuses of a request, in its words."""

from collections.abc import Iterator, Mapping
from typing import Any

from loops.runtimes.scripted.wires.rules import check_image, check_tool
from loops.runtimes.scripted.wires.wire import JSON, BadRequest

MOST_CACHED = 4
"""Blocks that may be marked for the cache, the mark of a whole request included."""


def check(body: Mapping[str, Any]) -> None:
    """Raises BadRequest."""
    if not isinstance(body.get("max_tokens"), int):
        raise BadRequest("max_tokens: Field required")
    for at, tool in enumerate(body.get("tools") or []):
        if tool.get("type", "custom") == "custom":
            if "input_schema" not in tool:
                raise BadRequest(f"tools.{at}.custom.input_schema: Field required")
            check_tool(f"tools.{at}.custom", tool.get("name"), tool["input_schema"])
    _cached(body)
    called: list[str] = []
    for at, message in enumerate(body.get("messages") or []):
        if message.get("role") not in ("user", "assistant", "system"):
            raise BadRequest(f"messages.{at}.role: Input should be 'user' or 'assistant'")
        blocks = list(_blocks(message.get("content")))
        answered = [_answered(at, number, block, called) for number, block in _of(blocks, "tool_result")]
        if left := [each for each in called if each not in answered]:
            raise _without_results(at - 1, left)
        for number, block in enumerate(blocks):
            _block(f"messages.{at}.content.{number}", block)
        called = [str(block["id"]) for _, block in _of(blocks, "tool_use")]
        if len(set(called)) < len(called):
            raise BadRequest(f"messages.{at}: `tool_use` ids must be unique")
    if called:
        raise _without_results(len(body["messages"]) - 1, called)


def _cached(body: Mapping[str, Any]) -> None:
    system = body.get("system")
    blocks = [*(body.get("tools") or []), *(system if isinstance(system, list) else [])]
    blocks += [block for message in body.get("messages") or [] for block in _blocks(message.get("content"))]
    marked = [block for block in blocks if block.get("cache_control")]
    for block in marked:
        if block.get("type") == "text" and not block.get("text"):
            raise BadRequest("cache_control cannot be set for empty text blocks")
        if block.get("type") in ("thinking", "redacted_thinking"):
            raise BadRequest(f"{block['type']}.cache_control: Extra inputs are not permitted")
        if block["cache_control"].get("type") != "ephemeral":
            raise BadRequest("cache_control.type: Input should be 'ephemeral'")
    found = len(marked) + bool(body.get("cache_control"))
    if found > MOST_CACHED:
        raise BadRequest(f"A maximum of {MOST_CACHED} blocks with cache_control may be provided. Found {found}.")


def _blocks(content: object) -> Iterator[JSON]:
    if isinstance(content, list):
        yield from content
    elif isinstance(content, str):
        yield {"type": "text", "text": content}


def _of(blocks: list[JSON], kind: str) -> Iterator[tuple[int, JSON]]:
    return ((number, block) for number, block in enumerate(blocks) if block.get("type") == kind)


def _answered(at: int, number: int, block: JSON, called: list[str]) -> str:
    identity = str(block.get("tool_use_id"))
    if identity not in called:
        raise BadRequest(
            f"messages.{at}.content.{number}: unexpected `tool_use_id` found in `tool_result` blocks: {identity}. Each "
            "`tool_result` block must have a corresponding `tool_use` block in the previous message."
        )
    return identity


def _without_results(at: int, identities: list[str]) -> BadRequest:
    return BadRequest(
        f"messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(identities)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
        "message."
    )


def _block(place: str, block: JSON) -> None:
    match block.get("type"):
        case "text":
            if not block.get("text"):
                raise BadRequest("messages: text content blocks must be non-empty")
        case "tool_use":
            if not isinstance(block.get("input"), dict):
                raise BadRequest(f"{place}.tool_use.input: Input should be a valid dictionary")
        case "thinking":
            if not block.get("signature"):
                raise BadRequest(f"{place}.thinking.signature: Field required")
        case "image":
            source = block.get("source") or {}
            if source.get("type") != "base64":
                raise BadRequest(f"{place}.image.source: this server fetches no images")
            check_image(source.get("media_type"), source.get("data"))
        case "tool_result":
            for number, inner in enumerate(_blocks(block.get("content") or [])):
                _block(f"{place}.tool_result.content.{number}", inner)

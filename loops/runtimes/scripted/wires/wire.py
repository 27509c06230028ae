"""What one protocol is to the scripted model."""

import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from loops.runtimes.scripted.conversation import Conversation, Said, Tool
from loops.runtimes.scripted.replies import Refusal, Reply
from loops.runtimes.scripted.tools import Call

JSON = dict[str, Any]
Calls = tuple[Call, ...]
THOUGHT = "t-"
"""Begins the ids, behind their prefix, of items that were thought about: nothing has to be remembered of them."""
Event = tuple[str | None, JSON | str]


class BadRequest(ValueError):
    """What the provider refuses with status 400; the text is its sentence."""


@dataclass(frozen=True)
class WireFormat:
    """A protocol. `said`, `tools` and `system` read a request's body and raise BadRequest for what the provider would
    refuse; `stream` gives server-sent events (name or None, data), `whole` the body of an answer in one piece, `error`
    that of a refusal.
    """

    said: Callable[[Mapping[str, Any]], Iterator[Said]]
    tools: Callable[[Mapping[str, Any]], Iterator[Tool]]
    system: Callable[[Mapping[str, Any]], str]
    stream: Callable[[Conversation, Reply, Calls], Iterator[Event]]
    whole: Callable[[Conversation, Reply, Calls], JSON]
    error: Callable[[Refusal], JSON]


def identity(prefix: str) -> str:
    """A new id, as the providers make them."""
    return f"{prefix}_{uuid.uuid4().hex[:24]}"


def pieces(text: str, size: int = 24) -> Iterator[str]:
    """`text` in the pieces in which it is streamed."""
    return (text[at : at + size] for at in range(0, len(text), size))


def named(call: Call, place: str) -> JSON:
    """A call with its arguments as text, which is put in `place`."""
    return {"name": call.name, place: call.json}


def reasoning_of(item: str) -> str:
    """The id of the thoughts that an item of this id needs beside it in a later request; empty: none."""
    prefix, _, rest = item.partition("_")
    return f"rs_{rest}" if rest.startswith(THOUGHT) and prefix != "rs" else ""


def parameters(schema: object) -> frozenset[str]:
    """The names in a tool's JSON Schema."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return frozenset(properties or ())


def text_of(content: object) -> str:
    """Text of a message's content: a string, a list of parts, or one part."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) if isinstance(part, dict) else str(part) for part in content)
    if isinstance(content, dict):
        return text_of(content.get("content") or content.get("text") or content.get("output") or "")
    return ""

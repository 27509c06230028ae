"""A request to a model, in one shape for all three protocols."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Wire = Literal["responses", "chat", "messages"]
Role = Literal["user", "assistant", "tool"]


@dataclass(frozen=True)
class Said:
    """One thing in the history. `text` of a `tool` is its output; `calls` are the names of the tools called."""

    role: Role
    text: str
    calls: tuple[str, ...] = ()


@dataclass(frozen=True)
class Conversation:
    """What a CLI asked. `tools` maps offered names to their kind (`function`, `custom`).

    `key` is the credential, `body` the request as it came.
    """

    wire: Wire
    model: str
    said: tuple[Said, ...]
    tools: Mapping[str, str] = field(default_factory=dict)
    system: str = ""
    stream: bool = True
    key: str = field(default="", repr=False)
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def is_side_call(self) -> bool:
        """Whether the CLI asks for something of its own (a title, a summary): such requests offer no tools."""
        return not self.tools

    def since(self, words: str) -> tuple[Said, ...]:
        """What was said after the last user text that holds `words`; everything where none does."""
        last = max((at for at, said in enumerate(self.said) if said.role == "user" and words in said.text), default=-1)
        return self.said[last + 1 :]


def read(wire: Wire, body: Mapping[str, Any], key: str = "") -> Conversation:
    """`body` as it came, in the protocol `wire`. Unknown parts are passed over."""
    readers = {"responses": _responses, "chat": _chat, "messages": _messages}
    return Conversation(
        wire=wire,
        model=str(body.get("model", "")),
        said=tuple(readers[wire](body)),
        tools=dict(_tools(body.get("tools") or [])),
        system=_text(body.get("instructions") or body.get("system") or ""),
        stream=bool(body.get("stream")),
        key=key,
        body=body,
    )


def _tools(tools: list[Any]) -> Iterator[tuple[str, str]]:
    for tool in tools:
        kind = str(tool.get("type", "function"))
        inner = tool.get("function") or {}
        name = tool.get("name") or inner.get("name")
        if name:
            yield str(name), "custom" if kind == "custom" else "function"
        # codex may group functions in a namespace
        for nested in tool.get("tools") or []:
            if nested.get("name"):
                yield str(nested["name"]), "custom" if nested.get("type") == "custom" else "function"


def _responses(body: Mapping[str, Any]) -> Iterator[Said]:
    given = body.get("input") or []
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        kind = item.get("type", "message")
        if kind in ("function_call", "custom_tool_call", "local_shell_call"):
            yield Said("assistant", "", (str(item.get("name", "shell")),))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            yield Said("tool", _text(item.get("output")))
        elif kind == "message":
            role: Role = "assistant" if item.get("role") == "assistant" else "user"
            yield Said(role, _text(item.get("content")))


def _chat(body: Mapping[str, Any]) -> Iterator[Said]:
    for message in body.get("messages") or []:
        calls = tuple(str(call["function"]["name"]) for call in message.get("tool_calls") or [])
        role = message.get("role")
        if role in ("user", "assistant", "tool"):
            yield Said(role, _text(message.get("content")), calls)


def _messages(body: Mapping[str, Any]) -> Iterator[Said]:
    for message in body.get("messages") or []:
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        for block in blocks:
            if block.get("type") == "tool_result":
                yield Said("tool", _text(block.get("content")))
        text = "\n".join(str(block["text"]) for block in blocks if block.get("type") == "text")
        calls = tuple(str(block["name"]) for block in blocks if block.get("type") == "tool_use")
        if text or calls:
            yield Said("assistant" if message.get("role") == "assistant" else "user", text, calls)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(block.get("text", "")) if isinstance(block, dict) else str(block) for block in content)
    if isinstance(content, dict):
        return _text(content.get("content") or content.get("text") or content.get("output") or "")
    return ""

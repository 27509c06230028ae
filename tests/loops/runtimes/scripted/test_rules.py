"""What the scripted model refuses of a request, as the providers whose place it takes do."""

import base64
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from loops.runtimes.scripted.brain import Script
from loops.runtimes.scripted.replies import Raw, Reply
from loops.runtimes.scripted.server import ModelServer
from loops.runtimes.spec import Wire

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n...").decode()
PATHS: dict[Wire, str] = {"responses": "responses", "chat": "chat/completions", "messages": "v1/messages"}
Said = list[dict[str, Any]]


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """One that always says the same."""
    with ModelServer({"x": Script(*[Reply("Hello.")] * 200)}) as running:
        yield running


def ask(server: ModelServer, wire: Wire, said: Said, **more: Any) -> httpx.Response:
    """A request whose history is `said`."""
    schema = {"type": "object", "properties": {}}
    parts: dict[str, Any]
    match wire:
        case "responses":
            parts = {
                "input": said,
                "tools": [{"type": "function", "name": "look", "parameters": schema}],
                "store": False,
            }
        case "chat":
            parts = {
                "messages": said,
                "tools": [{"type": "function", "function": {"name": "look", "parameters": schema}}],
            }
        case _:
            parts = {"messages": said, "tools": [{"name": "look", "input_schema": schema}], "max_tokens": 100}
    return httpx.post(f"{server.base_url('x', wire)}/{PATHS[wire]}", json={"model": "m", **parts, **more}, timeout=60)


def chat_call(*ids: str) -> dict[str, Any]:
    calls = [{"id": each, "type": "function", "function": {"name": "look", "arguments": "{}"}} for each in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def chat_result(identity: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": "seen"}


def use(*ids: str, given: Any = None) -> dict[str, Any]:
    blocks = [{"type": "tool_use", "id": each, "name": "look", "input": {} if given is None else given} for each in ids]
    return {"role": "assistant", "content": blocks}


def results(*ids: str) -> dict[str, Any]:
    return {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": each, "content": "seen"} for each in ids],
    }


def text(content: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": content, **more}]}


def image(kind: str, data: str = PNG) -> dict[str, Any]:
    source = {"type": "base64", "media_type": kind, "data": data}
    return {"role": "user", "content": [{"type": "image", "source": source}]}


def shown(url: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": [{"type": "image_url", "image_url": {"url": url}}]}


def call(identity: str, item: str = "fc_1") -> dict[str, Any]:
    return {"type": "function_call", "id": item, "call_id": identity, "name": "look", "arguments": "{}"}


def output(identity: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": identity, "output": "seen"}


def thought(item: str = "rs_1", **more: Any) -> dict[str, Any]:
    return {"type": "reasoning", "id": item, "summary": [], "encrypted_content": "x", **more}


def given(part: dict[str, Any], role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": [part]}


MARK = {"cache_control": {"type": "ephemeral"}}

GOOD: list[tuple[Wire, Said]] = [
    ("chat", [{"role": "user", "content": "Hi"}, chat_call("a", "b"), chat_result("b"), chat_result("a")]),
    ("chat", [shown(f"data:image/png;base64,{PNG}"), {"role": "assistant", "content": "I see."}]),
    ("messages", [text("Hi"), use("a", "b"), results("a", "b"), text("Go on.", **MARK)]),
    ("messages", [image("image/png")]),
    (
        "responses",
        [given({"type": "input_text", "text": "Hi"}), thought(), call("a"), call("b"), output("b"), output("a")],
    ),
    ("responses", [given({"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"})]),
]

BAD: list[tuple[Wire, Said, str]] = [
    (
        "chat",
        [{"role": "user", "content": "Hi"}, chat_call("a", "b"), chat_result("a")],
        "did not have response messages: b",
    ),
    ("chat", [chat_call("a"), {"role": "user", "content": "?"}, chat_result("a")], "did not have response messages: a"),
    ("chat", [chat_result("a")], "must be a response to a preceding message"),
    ("chat", [chat_call("a"), chat_result("a"), chat_result("a")], "must be a response to a preceding message"),
    ("chat", [{"role": "assistant", "content": None}], "expected a string, got null"),
    ("chat", [{"role": "robot", "content": "Hi"}], "Invalid value: 'robot'"),
    ("chat", [shown(f"data:image/svg+xml;base64,{PNG}")], "media_type"),
    ("chat", [shown(f"data:image/jpeg;base64,{PNG}")], "does not match"),
    ("chat", [shown("https://example.com/a.png")], "takes a data URL"),
    ("chat", [shown(f"data:image/png;base64,{PNG}", "system")], "only allowed for messages with role 'user'"),
    ("messages", [text("Hi"), use("a", "b"), results("a")], "without `tool_result` blocks immediately after: b"),
    ("messages", [text("Hi"), use("a"), text("?"), results("a")], "without `tool_result` blocks immediately after: a"),
    ("messages", [text("Hi"), use("a")], "without `tool_result` blocks immediately after: a"),
    ("messages", [results("a")], "unexpected `tool_use_id` found"),
    ("messages", [use("a", "a"), results("a")], "must be unique"),
    ("messages", [use("a", given="text"), results("a")], "Input should be a valid dictionary"),
    ("messages", [text("")], "must be non-empty"),
    (
        "messages",
        [text(str(each), **MARK) for each in range(5)],
        "A maximum of 4 blocks with cache_control may be provided",
    ),
    ("messages", [text("x", cache_control={"type": "for ever"})], "'ephemeral'"),
    ("messages", [image("image/svg+xml")], "media_type"),
    ("messages", [image("image/png", "%%")], "invalid base64"),
    ("messages", [given({"type": "thinking", "thinking": "?"}, "assistant")], "signature: Field required"),
    ("responses", [call("a")], "No tool output found for function call a"),
    ("responses", [output("a")], "No tool call found for function call output with call_id a"),
    ("responses", [thought()], "without its required following item"),
    (
        "responses",
        [thought(encrypted_content=None), call("a"), output("a")],
        "not persisted when `store` is set to false",
    ),
    ("responses", [call("a", "fc_t-1"), output("a")], "without its required 'reasoning' item: 'rs_t-1'"),
    ("responses", [{"type": "item_reference", "id": "rs_1"}], "not persisted"),
    ("responses", [given({"type": "input_text", "text": "Hi"}, "assistant")], "Invalid value: 'input_text'"),
    ("responses", [given({"type": "input_image", "image_url": "file:///etc/passwd"})], "takes a data URL"),
]


@pytest.mark.parametrize(("wire", "said"), GOOD)
def test_a_history_as_the_provider_wants_it_is_taken(server: ModelServer, wire: Wire, said: Said) -> None:
    assert ask(server, wire, said).status_code == 200


@pytest.mark.parametrize(("wire", "said", "why"), BAD)
def test_a_history_that_the_provider_refuses_is_refused(server: ModelServer, wire: Wire, said: Said, why: str) -> None:
    answer = ask(server, wire, said)
    assert answer.status_code == 400 and why in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("wire", "more", "why"),
    [
        ("chat", {"tools": [{"type": "function", "function": {"name": "no name"}}]}, "does not match pattern"),
        ("chat", {"tools": [{"type": "function", "function": {"name": "a", "parameters": []}}]}, "schema must be"),
        ("messages", {"tools": [{"name": "a"}]}, "input_schema: Field required"),
        ("messages", {"max_tokens": None}, "max_tokens: Field required"),
        ("messages", {"system": [{"type": "text", "text": "x", **MARK}] * 4, **MARK}, "Found 5"),
        ("responses", {"previous_response_id": "resp_1"}, "not found"),
    ],
)
def test_a_request_that_the_provider_refuses_is_refused(
    server: ModelServer, wire: Wire, more: dict[str, Any], why: str
) -> None:
    answer = ask(server, wire, [], **more)
    assert answer.status_code == 400 and why in answer.json()["error"]["message"]


@pytest.mark.parametrize("wire", PATHS)
def test_it_can_make_several_calls_in_one_answer_whatever_they_are(wire: Wire) -> None:
    reply = Reply("", (Raw("look", "{}"), Raw("none", '{"a": 1')))
    with ModelServer({"x": Script(reply)}) as server:
        said = {"role": "user", "content": "Hi"}
        streamed = ask(server, wire, [said], stream=True).text
    assert streamed.count('"look"') and streamed.count('"none"') and "a" in streamed

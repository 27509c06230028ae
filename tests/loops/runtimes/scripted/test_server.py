"""The scripted model server, asked as the CLIs ask it."""

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from loops.runtimes.scripted.brain import Script
from loops.runtimes.scripted.replies import Drop, Edit, Read, Refusal, Reply, Shell, Wait, Write
from loops.runtimes.scripted.server import ModelServer
from loops.runtimes.spec import Wire

PATHS = {
    "responses": "responses",
    "chat": "chat/completions",
    "messages": "v1/messages",
    "generate_content": "v1beta/models/m:{method}",
}
WIRES: tuple[Wire, ...] = ("responses", "chat", "messages", "generate_content")
PARAMETERS = {
    "bash": ("command",),
    "read_file": ("path",),
    "edit": ("filePath", "oldString", "newString"),
    "exec_command": ("cmd",),
}


def schema(tool: str) -> dict[str, Any]:
    """The tool's parameters as a CLI offers them."""
    return {"type": "object", "properties": {name: {"type": "string"} for name in PARAMETERS[tool]}}


def body(wire: Wire, *, tools: list[str], stream: bool = True) -> dict[str, Any]:
    """A first request in the protocol `wire`."""
    said = [{"role": "user", "content": "Hello."}]
    offered: list[dict[str, Any]]
    match wire:
        case "responses":
            offered = [{"type": "function", "name": name, "parameters": schema(name)} for name in tools]
            return {"model": "m", "input": said, "tools": offered, "stream": stream}
        case "generate_content":
            offered = [{"name": name, "parametersJsonSchema": schema(name)} for name in tools]
            contents = [{"role": "user", "parts": [{"text": "Hello."}]}]
            return {"contents": contents, "tools": [{"functionDeclarations": offered}] if offered else []}
        case "chat":
            offered = [{"type": "function", "function": {"name": name, "parameters": schema(name)}} for name in tools]
        case _:
            offered = [{"name": name, "input_schema": schema(name)} for name in tools]
    return {"model": "m", "messages": said, "tools": offered, "stream": stream, "max_tokens": 100}


def events(text: str) -> list[Any]:
    """The data of server-sent events."""
    data = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [item if item == "[DONE]" else json.loads(item) for item in data]


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """One server with a script for each test, so that none uses another's steps."""
    scripts = {
        **{f"text-{wire}": Script(Reply("Hello back.", input=10, cached=4, output=3)) for wire in WIRES},
        **{f"whole-{wire}": Script(Reply("Hello back.", Shell("ls"))) for wire in WIRES},
        **{f"tool-{wire}": Script(Reply("", Shell("ls -l"))) for wire in WIRES},
        **{f"refusal-{wire}": Script(Refusal(429, "slow down", retry_after=7), Refusal(500)) for wire in WIRES},
        "side": Script(Reply("used")),
        "slow": Script(Wait(0.3, Reply("at last"))),
        "drop": Script(Drop()),
        "odd": Script(Reply("", Shell("ls"))),
        "tools": Script(
            Reply("", Read("a")), Reply("", Write("a", "x\n")), Reply("", Edit("a", "x", "y")), Reply("", Read("a"))
        ),
    }
    with ModelServer(scripts) as started:
        yield started


def ask(server: ModelServer, name: str, wire: Wire, **about: Any) -> httpx.Response:
    tools = about.pop("tools", ["bash"])
    keys = {"messages": {"x-api-key": "sk-key"}, "generate_content": {"x-goog-api-key": "sk-key"}}
    given = about.pop("body", None) or body(wire, tools=tools, **about)
    method = "streamGenerateContent?alt=sse" if about.get("stream", True) else "generateContent"
    url = f"{server.base_url(name, wire)}/{PATHS[wire].format(method=method)}"
    return httpx.post(url, json=given, headers=keys.get(wire, {"authorization": "Bearer sk-key"}), timeout=10)


@pytest.mark.parametrize("wire", WIRES)
def test_text_is_streamed_with_its_usage(server: ModelServer, wire: Wire) -> None:
    told = events(ask(server, f"text-{wire}", wire).text)
    shown = json.dumps(told)
    match wire:
        case "responses":
            assert told[-1]["response"]["usage"]["input_tokens_details"] == {"cached_tokens": 4}
            assert told[-2]["item"]["content"][0]["text"] == "Hello back."
        case "chat":
            assert told[-1] == "[DONE]" and told[-2]["usage"]["prompt_tokens"] == 10
            assert "".join(each["choices"][0]["delta"].get("content") or "" for each in told[:-2]) == "Hello back."
        case "generate_content":
            assert told[-1]["usageMetadata"]["promptTokenCount"] == 10
            assert told[-1]["candidates"][0]["finishReason"] == "STOP"
            parts = [part for each in told for part in each["candidates"][0]["content"]["parts"]]
            assert "".join(part["text"] for part in parts) == "Hello back."
        case _:
            assert told[0]["message"]["usage"]["input_tokens"] == 6
            assert told[-1] == {"type": "message_stop"} and '"end_turn"' in shown
    assert server.requests(f"text-{wire}")[0].key == "sk-key"


@pytest.mark.parametrize("wire", WIRES)
def test_an_action_becomes_a_call_of_the_offered_tool(server: ModelServer, wire: Wire) -> None:
    shown = ask(server, f"tool-{wire}", wire).text
    assert "ls -l" in shown.replace('\\\\"', "").replace("\\", "") and '"bash"' in shown


@pytest.mark.parametrize("wire", WIRES)
def test_an_answer_in_one_piece_says_the_same(server: ModelServer, wire: Wire) -> None:
    told = ask(server, f"whole-{wire}", wire, stream=False).json()
    shown = json.dumps(told)
    assert "Hello back." in shown and "bash" in shown and ("usage" in told or "usageMetadata" in told)


@pytest.mark.parametrize("wire", WIRES)
def test_it_refuses_as_real_servers_do(server: ModelServer, wire: Wire) -> None:
    first, second = (ask(server, f"refusal-{wire}", wire) for _ in range(2))
    told = first.json()["error"].get("details", [{}])[0].get("retryDelay") or first.headers["retry-after"]
    assert (first.status_code, told) == (429, "7s" if wire == "generate_content" else "7")
    assert first.json()["error"]["message"] == "slow down"
    assert second.status_code == 500 and "retry-after" not in second.headers


def test_a_request_without_tools_uses_up_no_step(server: ModelServer) -> None:
    assert ask(server, "side", "chat", tools=[]).status_code == 200
    assert server.requests("side") == []
    assert "used" in ask(server, "side", "chat").text


def test_it_can_be_slow(server: ModelServer) -> None:
    started = time.monotonic()
    assert "at last" in ask(server, "slow", "messages").text
    assert time.monotonic() - started >= 0.3


def test_it_can_break_off_in_the_middle(server: ModelServer) -> None:
    with pytest.raises(httpx.TransportError):
        ask(server, "drop", "messages")


def test_each_action_is_said_with_the_tools_at_hand(server: ModelServer) -> None:
    assert '"read_file"' in ask(server, "tools", "chat", tools=["read_file", "bash"]).text
    assert "*** Add File: a" in ask(server, "tools", "chat", tools=["exec_command"]).text
    assert '\\"filePath\\"' in ask(server, "tools", "chat", tools=["edit", "bash"]).text
    assert "cat a" in ask(server, "tools", "chat", tools=["bash"]).text


def test_a_request_it_cannot_read_is_refused(server: ModelServer) -> None:
    url = f"{server.base_url('side', 'chat')}/chat/completions"
    assert httpx.post(url, content=b"{").status_code == 400
    assert httpx.post(url, content=b'{"messages": [7]}').status_code == 400
    assert httpx.post(url, content=b"(\xb5/\xfd", headers={"content-encoding": "zstd"}).status_code == 415


def test_an_unknown_script_or_path_is_said(server: ModelServer) -> None:
    assert ask(server, "nobody", "chat").status_code == 404
    assert httpx.get(f"{server.base_url('side', 'chat')}/models").status_code == 404


GOOGLES = body("generate_content", tools=["bash"])
CALL = {"role": "model", "parts": [{"functionCall": {"name": "bash", "args": {"command": "ls"}}}]}
RESULT = {"functionResponse": {"name": "bash", "response": {"output": "a"}}}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"contents": []}, "contents is not specified"),
        ({"contents": [{"role": "assistant", "parts": [{"text": "x"}]}]}, "valid role: user, model"),
        ({"contents": [{"role": "user", "parts": []}]}, "at least one parts field"),
        ({"contents": [*GOOGLES["contents"], CALL, *GOOGLES["contents"]]}, "number of function response parts"),
        (
            {"contents": [*GOOGLES["contents"], CALL, {"role": "user", "parts": [RESULT, RESULT]}]},
            "number of function response parts",
        ),
        ({"contens": []}, 'Unknown name "contens"'),
    ],
)
def test_what_the_gemini_api_refuses_is_refused(server: ModelServer, changed: dict[str, Any], said: str) -> None:
    answer = ask(server, "side", "generate_content", body={**GOOGLES, **changed})
    assert (answer.status_code, answer.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert said in answer.json()["error"]["message"]


def test_the_gemini_api_wants_a_key_and_knows_no_other_method(server: ModelServer) -> None:
    models = f"{server.base_url('side', 'generate_content')}/v1beta/models/m"
    assert httpx.post(f"{models}:generateContent", json=GOOGLES).json()["error"]["status"] == "PERMISSION_DENIED"
    assert ask(server, "side", "generate_content", body=GOOGLES).status_code == 200
    key = {"x-goog-api-key": "sk-key"}
    assert httpx.post(f"{models}:countTokens", json=GOOGLES, headers=key).status_code == 404
    assert httpx.post(f"{models}:streamGenerateContent", json=GOOGLES, headers=key).status_code == 501


def test_a_tool_with_other_parameters_than_ours_is_not_called(server: ModelServer) -> None:
    offered = body("chat", tools=["bash"])
    offered["tools"][0]["function"]["parameters"]["properties"] = {"script": {}}
    answer = ask(server, "odd", "chat", body=offered)
    assert answer.status_code == 501 and "it offers: bash" in answer.json()["error"]["message"]

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

PATHS = {"responses": "responses", "chat": "chat/completions", "messages": "messages"}
FUNCTION = {"type": "object", "properties": {}}


def body(wire: str, *, tools: list[str], stream: bool = True) -> dict[str, Any]:
    """A first request in the protocol `wire`."""
    said = [{"role": "user", "content": "Hello."}]
    offered: list[dict[str, Any]]
    match wire:
        case "responses":
            offered = [{"type": "function", "name": name, "parameters": FUNCTION} for name in tools]
            return {"model": "m", "input": said, "tools": offered, "stream": stream}
        case "chat":
            offered = [{"type": "function", "function": {"name": name, "parameters": FUNCTION}} for name in tools]
        case _:
            offered = [{"name": name, "input_schema": FUNCTION} for name in tools]
    return {"model": "m", "messages": said, "tools": offered, "stream": stream, "max_tokens": 100}


def events(text: str) -> list[Any]:
    """The data of server-sent events."""
    data = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [item if item == "[DONE]" else json.loads(item) for item in data]


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """One server with a script for each test, so that none uses another's steps."""
    scripts = {
        **{f"text-{wire}": Script(Reply("Hello back.", input=10, cached=4, output=3)) for wire in PATHS},
        **{f"whole-{wire}": Script(Reply("Hello back.", Shell("ls"))) for wire in PATHS},
        **{f"tool-{wire}": Script(Reply("", Shell("ls -l"))) for wire in PATHS},
        **{f"refusal-{wire}": Script(Refusal(429, "slow down", retry_after=7), Refusal(500)) for wire in PATHS},
        "side": Script(Reply("used")),
        "slow": Script(Wait(0.3, Reply("at last"))),
        "drop": Script(Drop()),
        "tools": Script(
            Reply("", Read("a")), Reply("", Write("a", "x\n")), Reply("", Edit("a", "x", "y")), Reply("", Read("a"))
        ),
    }
    with ModelServer(scripts) as started:
        yield started


def ask(server: ModelServer, name: str, wire: str, **about: Any) -> httpx.Response:
    tools = about.pop("tools", ["bash"])
    headers = {"authorization": "Bearer sk-key"} if wire != "messages" else {"x-api-key": "sk-key"}
    given = body(wire, tools=tools, **about)
    return httpx.post(f"{server.base_url(name)}/{PATHS[wire]}", json=given, headers=headers, timeout=10)


@pytest.mark.parametrize("wire", PATHS)
def test_text_is_streamed_with_its_usage(server: ModelServer, wire: str) -> None:
    told = events(ask(server, f"text-{wire}", wire).text)
    shown = json.dumps(told)
    match wire:
        case "responses":
            assert told[-1]["response"]["usage"]["input_tokens_details"] == {"cached_tokens": 4}
            assert told[-2]["item"]["content"][0]["text"] == "Hello back."
        case "chat":
            assert told[-1] == "[DONE]" and told[-2]["usage"]["prompt_tokens"] == 10
            assert "".join(each["choices"][0]["delta"].get("content") or "" for each in told[:-2]) == "Hello back."
        case _:
            assert told[0]["message"]["usage"]["input_tokens"] == 6
            assert told[-1] == {"type": "message_stop"} and '"end_turn"' in shown
    assert server.requests(f"text-{wire}")[0].key == "sk-key"


@pytest.mark.parametrize("wire", PATHS)
def test_an_action_becomes_a_call_of_the_offered_tool(server: ModelServer, wire: str) -> None:
    shown = ask(server, f"tool-{wire}", wire).text
    assert "ls -l" in shown.replace('\\\\"', "").replace("\\", "") and '"bash"' in shown


@pytest.mark.parametrize("wire", PATHS)
def test_an_answer_in_one_piece_says_the_same(server: ModelServer, wire: str) -> None:
    told = ask(server, f"whole-{wire}", wire, stream=False).json()
    shown = json.dumps(told)
    assert "Hello back." in shown and "bash" in shown and "usage" in told


@pytest.mark.parametrize("wire", PATHS)
def test_it_refuses_as_real_servers_do(server: ModelServer, wire: str) -> None:
    first, second = (ask(server, f"refusal-{wire}", wire) for _ in range(2))
    assert (first.status_code, first.headers["retry-after"]) == (429, "7")
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
    url = f"{server.base_url('side')}/chat/completions"
    assert httpx.post(url, content=b"{").status_code == 400
    assert httpx.post(url, content=b'{"messages": [7]}').status_code == 400
    assert httpx.post(url, content=b"(\xb5/\xfd", headers={"content-encoding": "zstd"}).status_code == 415


def test_an_unknown_script_or_path_is_said(server: ModelServer) -> None:
    assert ask(server, "nobody", "chat").status_code == 404
    assert httpx.get(f"{server.base_url('side')}/models").status_code == 404

import json
from collections.abc import AsyncIterator
from importlib import metadata
from pathlib import Path
from typing import Any

import httpx
import pytest
from asgi_lifespan import LifespanManager

from app.settings import Settings
from app.web.app import create_app
from app.web.state import AppState
from github.webhooks.outcomes import Actor, Repo
from loops.sessions.known_accounts import remember_installation, remember_person, remember_repository
from tests.databases import on_sqlite

TOKEN = "a-long-random-token"
ASKED = {"repository": "acme/widgets", "instruction": "fix the login", "person": "ann", "max_steps": 20}
HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}


class Client:
    """A client that speaks the protocol's JSON-RPC by hand, as any language would."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = await self.http.post("/mcp", json=body)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()["result"]
        return found

    async def call(self, tool: str, **arguments: Any) -> tuple[bool, Any]:
        """Whether the tool failed, and its answer."""
        result = await self.ask("tools/call", name=tool, arguments=arguments)
        text = result["content"][0]["text"]
        return (True, text) if result.get("isError") else (False, json.loads(text))


@pytest.fixture
async def mcp(settings: Settings) -> AsyncIterator[Client]:
    app = create_app(settings.model_copy(update={"api_token_file": _file(settings.data)}))
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        shared: AppState = app.state.shared
        async with shared.database.write() as tx:
            await remember_installation(tx, 3, Actor(30, "acme"), 1000)
            await remember_repository(tx, Repo(7, "acme/widgets", 3, "main"), 1000)
            await remember_person(tx, Actor(1, "ann"), 1000)
        headers = HEADERS | {"authorization": f"Bearer {TOKEN}"}
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://loop.example", headers=headers) as http:
            yield Client(http)


def _file(folder: Path) -> Path:
    file = folder / "token"
    file.write_text(TOKEN + "\n")
    return file


async def test_an_agent_starts_a_session_looks_at_it_lists_and_cancels_it(mcp: Client) -> None:
    client = {"name": "test", "version": "1"}
    hello = await mcp.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
    assert (hello["serverInfo"]["name"], hello["serverInfo"]["version"]) == ("greenloop", metadata.version("greenloop"))
    failed, started = await mcp.call("start_session", **ASKED)
    assert not failed and started["status"] == "pending"
    _, shown = await mcp.call("get_session", session=started["session"])
    assert (shown["instruction"], shown["surface"], shown["repository_id"]) == ("fix the login", "mcp", 7)
    assert [event["seq"] for event in shown["events"]] == [1]
    _, listed = await mcp.call("list_sessions", installation=3)
    assert [each["session"] for each in listed["sessions"]] == [started["session"]]
    _, cancelled = await mcp.call("cancel_session", session=started["session"])
    assert cancelled["was_open"] is True


@on_sqlite
async def test_each_tool_and_each_of_its_arguments_is_documented(mcp: Client) -> None:
    tools = (await mcp.ask("tools/list"))["tools"]
    assert {tool["name"] for tool in tools} == {
        "start_session",
        "get_session",
        "retry_session",
        "cancel_session",
        "list_sessions",
    }
    assert all(tool["description"] for tool in tools)
    assert all(each.get("description") for tool in tools for each in tool["inputSchema"]["properties"].values())


@on_sqlite
@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("start_session", {**ASKED, "instruction": " "}, "instruction: the instruction is empty"),
        ("start_session", {**ASKED, "max_steps": 201}, "max_steps is 201"),
        ("start_session", {**ASKED, "repository": "acme/other"}, "acme/other"),
        ("start_session", {"repository": "acme/widgets"}, "instruction"),
        ("get_session", {"session": "s_none"}, "no session 's_none'"),
        ("cancel_session", {"session": "s_none", "installation": 4}, "no installation 4"),
        ("destroy", {}, "destroy"),
    ],
)
async def test_what_cannot_be_done_is_told_to_the_agent(
    mcp: Client, tool: str, arguments: dict[str, Any], says: str
) -> None:
    failed, text = await mcp.call(tool, **arguments)
    assert failed and says in text


@on_sqlite
async def test_nobody_gets_in_without_the_token(mcp: Client, settings: Settings) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    for token in ("", "Bearer wrong", f"Basic {TOKEN}"):
        assert (await mcp.http.post("/mcp", json=body, headers={"authorization": token})).status_code == 401
    app = create_app(settings)
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://loop.example", headers=HEADERS) as http:
            assert (await http.post("/mcp", json=body)).status_code == 404

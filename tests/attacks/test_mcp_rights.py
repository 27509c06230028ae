"""MCP against people's tokens, asked by the protocol's own client: its tools and resources have no more rights."""

import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import ClientSession, MCPError
from mcp.client.streamable_http import streamable_http_client

from app.web.mcp import SESSION_URI
from loops.accounts.personal_tokens import SCOPES
from tests.app.web.api.world import URL, World, started, world


@contextlib.asynccontextmanager
async def agent(here: World, token: str) -> AsyncIterator[ClientSession]:
    headers = {"authorization": f"Bearer {token}"}
    transport = httpx2.ASGITransport(here.app)
    async with (
        httpx2.AsyncClient(transport=transport, headers=headers) as http,
        streamable_http_client(f"{URL}/mcp", http_client=http) as (reading, writing),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        yield session


async def call(client: ClientSession, tool: str, /, **arguments: Any) -> tuple[bool, str]:
    """Whether the tool failed, and what it said."""
    result: Any = await client.call_tool(tool, arguments)
    return bool(result.is_error), result.content[0].text


@pytest.fixture
async def here(tmp_path: Path, sqlite_url: str, redis_url: str) -> AsyncIterator[World]:
    async with world(tmp_path, sqlite_url, redis_url) as made:
        yield made


async def test_an_agent_does_what_the_person_of_its_token_may_and_nothing_else(here: World) -> None:
    async with await here.of("alice") as alice:
        name = await started(alice, "acme/widgets")
    uri = SESSION_URI.replace("{session}", name)
    async with agent(here, await here.token("alice")) as hers:
        templates = (await hers.list_resource_templates()).resource_templates
        assert [each.uri_template for each in templates] == [SESSION_URI]
        read: Any = await hers.read_resource(uri)
        assert json.loads(read.contents[0].text)["session"] == name
        failed, again = await call(
            hers, "start_session", repository="acme/widgets", instruction="fix it", idempotency_key="k"
        )
        assert not failed
        assert (await call(hers, "start_session", repository="acme/widgets", instruction="x", idempotency_key="k"))[0]
        listed = json.loads((await call(hers, "list_sessions"))[1])
        assert [each["session"] for each in listed["sessions"]] == [json.loads(again)["session"], name]
        assert (await call(hers, "get_session", session="s_\0"))[1].endswith(
            "session holds NUL, or half of a character"
        )
    for login in ("dave", "bob"):
        async with agent(here, await here.token(login)) as other:
            for tool in ("get_session", "cancel_session", "retry_session"):
                failed, said = await call(other, tool, session=name)
                assert (failed, "no session" in said) == (True, True)
            assert (await call(other, "start_session", repository="acme/widgets", instruction="x"))[0]
            assert json.loads((await call(other, "list_sessions"))[1])["sessions"] == []
            with pytest.raises(MCPError, match="no session"):
                await other.read_resource(uri)


async def test_a_tool_needs_its_scope(here: World) -> None:
    async with await here.of("alice") as alice:
        name = await started(alice, "acme/widgets")
    async with agent(here, await here.token("alice", set(SCOPES) - {"sessions:write"})) as reader:
        assert not (await call(reader, "get_session", session=name))[0]
        for tool in ("cancel_session", "retry_session"):
            failed, said = await call(reader, tool, session=name)
            assert (failed, "sessions:write" in said) == (True, True)

"""The real CLIs at the gateway's door: what ends them, and how logins reach the provider."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from structlog.testing import CapturingLogger

from app.settings import Settings
from loops.accounts.model_tokens import stand_in
from loops.gateway.endpoints import base_url
from loops.runtimes import registry
from loops.runtimes.base import TurnRequest
from loops.runtimes.scripted.brain import Script
from loops.runtimes.scripted.replies import Reply, Shell
from loops.runtimes.scripted.server import ModelServer
from tests.app.gateway.door import MODEL, TURN_TOKEN, Answer, Door, door, streamed
from tests.app.gateway.test_passing import MESSAGES, RESPONSES
from tests.loops.gateway.carriers.frames import chunk
from tests.loops.runtimes.box import Box, Ran
from tests.tools import need

AGENTS = tuple(agent.name for agent in registry.agents())

pytestmark = pytest.mark.timeout(400)


def program(cli: str) -> str:
    runtime = registry.get(cli)
    return need(runtime.program) if runtime.package else f"{sys.executable} -P -m k8s.native"


async def run(opened: Door, cli: str, folder: Path, provider: str, kind: str = "api_key") -> Ran:
    """One turn of the CLI, as its box would start it."""
    calls = registry.get(cli).calls
    assert calls is not None
    wire = calls.wires(provider, True)[0]
    turn = TurnRequest(
        prompt="Say that it is done.",
        model=MODEL,
        provider=provider,
        base_url=base_url(opened.url, "t_1", wire),
        relay="custom",
        credential=stand_in(kind, TURN_TOKEN),  # type: ignore[arg-type]
        program=program(cli),
    )
    return await asyncio.to_thread(Box(folder).run, registry.get(cli), turn, seconds=300)


@pytest.mark.parametrize("cli", AGENTS)
async def test_a_spent_budget_ends_the_agent_at_its_next_request_with_our_sentence(
    cli: str, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the log itself: what the process does with its lines is set by whichever test configured it first
    log = CapturingLogger()
    monkeypatch.setattr("app.gateway.gateway.log", log)
    smoke, steps = registry.smoke(cli), tuple(Reply("", Shell(f"echo {number}")) for number in range(8))
    with ModelServer({"x": Script(*steps)}) as server:
        upstream = {"provider": smoke.provider, "base_url": server.base_url("x", smoke.wire)}
        async with door(settings, runtime=cli, profile=upstream, limits={"tokens": 150}) as opened:
            ran = await run(opened, cli, tmp_path, smoke.provider)
    assert len(server.requests("x")) == 1
    assert "Greenloop ends this turn: 160 tokens of one turn, the cap is 150." in (ran.outcome.error or "")
    refused = [call for call in log.calls if call.args == ("gateway.refused",)]
    assert len(refused) == 1, "it asked again"


def answering(told: bytes) -> Answer:
    async def answer(request: object) -> object:
        return await streamed(request, told)  # type: ignore[arg-type]

    return answer  # type: ignore[return-value]


async def test_a_login_of_claude_code_stays_here_and_its_bearer_is_put_in(settings: Settings, tmp_path: Path) -> None:
    login = {"claudeAiOauth": {"accessToken": "at-1", "refreshToken": "rt-1", "expiresAt": 9e12, "scopes": []}}
    about = {"provider": "anthropic", "credential_kind": "anthropic_oauth_json"}
    async with door(settings, answering(MESSAGES), runtime="claude", profile=about, secret=json.dumps(login)) as opened:
        await run(opened, "claude", tmp_path, "anthropic", "anthropic_oauth_json")
        asked = opened.provider.asked[0]
        assert asked.headers["authorization"] == "Bearer at-1" and "x-api-key" not in asked.headers
        assert "oauth-2025-04-20" in asked.headers["anthropic-beta"]
        assert {each.path for each in opened.provider.asked} == {"/base/v1/messages?beta=true"}
        assert "ttl" in asked.raw.decode(), "it caches as it does with a login"


async def test_a_chatgpt_login_stays_here_and_what_proves_it_is_put_in(settings: Settings, tmp_path: Path) -> None:
    tokens = {"access_token": "at-1", "refresh_token": "rt-1", "id_token": "it-1", "account_id": "acc-1"}
    about = {"provider": "openai", "credential_kind": "opencode_auth_json"}
    async with door(
        settings, answering(RESPONSES), runtime="codex", profile=about, secret=json.dumps({"tokens": tokens})
    ) as opened:
        await run(opened, "codex", tmp_path, "openai", "opencode_auth_json")
        asked = opened.provider.asked[0]
        assert asked.headers["authorization"] == "Bearer at-1"
        assert asked.headers["chatgpt-account-id"] == "acc-1"
        assert asked.headers["originator"] == "codex_exec" and asked.headers["version"].count(".") == 2
        assert {each.path for each in opened.provider.asked} == {"/base/responses"}


async def test_claude_code_works_at_bedrock_and_asks_for_nothing_that_bedrock_lacks(
    settings: Settings, tmp_path: Path
) -> None:
    about_it = {"id": "m1", "type": "message", "role": "assistant", "model": MODEL, "content": list[str]()}
    usage = {"input_tokens": 9, "output_tokens": 1}
    told: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**about_it, "stop_reason": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "It is done."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage},
        {"type": "message_stop", "amazon-bedrock-invocationMetrics": {"inputTokenCount": 9}},
    ]
    stream = b"".join(map(chunk, told))

    async def answer(request: web.Request) -> web.StreamResponse:
        return await streamed(request, stream, **{"content-type": "application/vnd.amazon.eventstream"})

    about = {"provider": "amazon-bedrock", "credential_kind": "aws_bearer_token"}
    async with door(settings, answer, runtime="claude", profile=about) as opened:
        ran = await run(opened, "claude", tmp_path, "amazon-bedrock", "aws_bearer_token")
        assert (ran.outcome.error, ran.outcome.message) == (None, "It is done.")
        (asked,) = opened.provider.asked
        assert asked.body["anthropic_version"] == "bedrock-2023-05-31"
        assert not {"model", "stream", "context_management"} & asked.body.keys()
        lacking = ("claude-code", "oauth", "context-management", "advanced-tool-use", "thinking-")
        assert not [beta for beta in asked.body.get("anthropic_beta", ()) if beta.startswith(lacking)]

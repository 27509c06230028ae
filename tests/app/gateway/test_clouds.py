"""Models at Bedrock, Vertex AI and Azure: an agent asks the gateway as ever, and the cloud is asked in its own way."""

import asyncio
import json
import socket
from typing import Any

import httpx
import pytest
from aiohttp import web
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from app.settings import Settings
from loops.gateway import minting
from tests.app.gateway.door import KEY, MODEL, Door, door, events, streamed
from tests.loops.gateway.carriers.frames import chunk, failure

SECRET = "aws-planted-secret-0123456789"
ACCESS = json.dumps({"AccessKeyId": "AKIDEXAMPLE", "SecretAccessKey": SECRET, "SessionToken": "st-planted"})
ASKED = {"model": MODEL, "max_tokens": 9, "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
TOLD: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"usage": {"input_tokens": 100, "cache_read_input_tokens": 40}}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}},
    {"type": "message_stop"},
]
PACKED = {"content-type": "application/vnd.amazon.eventstream"}
BEDROCK = {"provider": "amazon-bedrock", "credential_kind": "aws_bearer_token"}
BETAS = {"anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14"}


async def packed(request: web.Request) -> web.StreamResponse:
    stream = b"".join(map(chunk, TOLD))
    return await streamed(request, stream[:50], stream[50:], **PACKED)


async def messages(opened: Door, **more: Any) -> Any:
    return await opened.agent.post("v1/messages?beta=true", json={**ASKED, **more}, headers=BETAS)


async def test_bedrock_is_asked_by_its_own_path_and_its_stream_comes_as_the_messages_api_has_it(
    settings: Settings,
) -> None:
    async with door(settings, packed, runtime="claude", profile=BEDROCK) as opened:
        answer = await messages(opened)
        assert answer.headers["content-type"] == "text/event-stream"
        told = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
        assert told == TOLD
        (asked,) = opened.provider.asked
        assert asked.path == f"/base/model/{MODEL}/invoke-with-response-stream"
        assert asked.headers["authorization"] == f"Bearer {KEY}" and "anthropic-beta" not in asked.headers
        own = {"anthropic_version": "bedrock-2023-05-31", "anthropic_beta": ["interleaved-thinking-2025-05-14"]}
        assert asked.body == {"max_tokens": 9, "messages": ASKED["messages"], **own}
        turn = await opened.turn()
        assert (turn.input_tokens, turn.cached_tokens, turn.output_tokens) == (140, 40, 7)


async def test_a_model_whose_name_has_colons_and_slashes_stays_one_part_of_the_path(settings: Settings) -> None:
    model = "arn:aws:bedrock:us-east-1:1:application-inference-profile/ab"

    async def whole(request: web.Request) -> web.StreamResponse:
        assert request.rel_url.raw_path.endswith("application-inference-profile%2Fab/invoke")
        return web.json_response({"type": "message", "usage": {"input_tokens": 3, "output_tokens": 2}})

    async with door(settings, whole, runtime="claude", profile=BEDROCK) as opened:
        await opened.change(model=model)
        assert (await messages(opened, model=model, stream=False)).json()["type"] == "message"
        assert (await opened.turn()).output_tokens == 2


async def test_an_access_key_signs_and_neither_it_nor_its_session_is_shown(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve = socket.getaddrinfo

    async def refuses(request: web.Request) -> web.StreamResponse:
        return web.json_response({"message": f"no: {SECRET} st-planted"}, status=403)

    about = {**BEDROCK, "credential_kind": "aws_access_key"}
    async with door(settings, refuses, runtime="claude", profile=about, secret=ACCESS) as opened:
        # its address names a region; that name is this machine's here
        monkeypatch.setattr(socket, "getaddrinfo", lambda host, *rest, **more: resolve("127.0.0.1", *rest, **more))
        await opened.move_account("bedrock-runtime.eu-west-1.localhost")
        answer = await messages(opened)
        (asked,) = opened.provider.asked
        assert asked.headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
        assert "/eu-west-1/bedrock/aws4_request" in asked.headers["authorization"]
        assert asked.headers["x-amz-security-token"] == "st-planted"
        error = {"type": "permission_error", "message": "no: [redacted] [redacted]"}
        assert (answer.status_code, answer.json()["error"]) == (403, error)


@pytest.mark.parametrize(
    ("stream", "whole"),
    [
        (chunk(TOLD[0]) + failure("throttlingException", "slow down"), True),
        (chunk(TOLD[0]) + b"x" * 99, False),
        (chunk(TOLD[0]) + chunk(TOLD[1])[:-9], False),
    ],
    ids=["an exception", "damaged", "cut"],
)
async def test_a_stream_that_fails_is_told_or_cut_and_what_it_used_is_booked(
    settings: Settings, stream: bytes, whole: bool
) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        return await streamed(request, stream, **PACKED)

    async with door(settings, answer, runtime="claude", profile=BEDROCK) as opened:
        if whole:
            assert 'event: error\ndata: {"type": "error"' in (text := (await messages(opened)).text) and "slow" in text
        else:
            with pytest.raises(httpx.RemoteProtocolError):
                await messages(opened)
        while (await opened.turn()).booked == 0:
            await asyncio.sleep(0.01)
        assert (await opened.turn()).input_tokens == 140


@pytest.fixture(scope="module")
def service_account() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    about = {"type": "service_account", "project_id": "p-1", "client_email": "a@p-1.example", "private_key_id": "k1"}
    return json.dumps({**about, "private_key": pem, "token_uri": "https://evil.example/token"})


@pytest.mark.parametrize(
    ("provider", "runtime", "path", "asked_at"),
    [
        ("google-vertex-anthropic", "claude", "v1/messages", f"anthropic/models/{MODEL}:streamRawPredict"),
        (
            "google-vertex",
            "gemini",
            f"v1beta/models/{MODEL}:streamGenerateContent?alt=sse",
            f"google/models/{MODEL}:streamGenerateContent?alt=sse",
        ),
    ],
)
async def test_vertex_is_asked_with_a_token_that_google_gave_for_the_accounts_key(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    service_account: str,
    provider: str,
    runtime: str,
    path: str,
    asked_at: str,
) -> None:
    forms: list[dict[str, str]] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path.endswith("/token"):
            forms.append({name: str(value) for name, value in (await request.post()).items()})
            return web.json_response({"access_token": "at-planted", "expires_in": 3600})
        return await streamed(request, events(*TOLD))

    about = {"provider": provider, "credential_kind": "google_service_account"}
    async with door(settings, answer, runtime=runtime, profile=about, secret=service_account) as opened:
        monkeypatch.setattr(minting, "TOKEN_URL", f"{(await opened.account()).base_url}/token")
        body = ASKED if runtime == "claude" else {"contents": []}
        for _ in range(2):
            assert (await opened.agent.post(path, json=body)).status_code == 200
        asked = [each for each in opened.provider.asked if not each.path.endswith("/token")]
        assert [each.path for each in asked] == [f"/base/projects/p-1/locations/global/publishers/{asked_at}"] * 2
        assert {each.headers["authorization"] for each in asked} == {"Bearer at-planted"}
        assert len(forms) == 1 and forms[0]["assertion"].count(".") == 2
        if runtime == "claude":
            own = {"max_tokens": 9, "stream": True, "anthropic_version": "vertex-2023-10-16"}
            assert asked[0].body == {**own, "messages": ASKED["messages"]}


async def test_a_key_that_google_refuses_is_a_bad_account(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, service_account: str
) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.json_response({"error": "invalid_grant", "error_description": "Invalid JWT Signature."}, status=400)

    about = {"provider": "google-vertex-anthropic", "credential_kind": "google_service_account"}
    async with door(settings, answer, runtime="claude", profile=about, secret=service_account) as opened:
        monkeypatch.setattr(minting, "TOKEN_URL", f"{(await opened.account()).base_url}/token")
        refused = await messages(opened)
        assert refused.status_code == 401
        assert "refused by Google: Invalid JWT Signature." in refused.json()["error"]["message"]


async def test_azure_is_asked_with_its_own_header(settings: Settings) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        return await streamed(request, events({"type": "response.completed", "response": {"usage": {}}}))

    async with door(settings, answer, runtime="codex", profile={"provider": "azure"}) as opened:
        asked = {"model": MODEL, "stream": True, "input": []}
        assert (await opened.agent.post("v1/responses", json=asked)).status_code == 200
        (told,) = opened.provider.asked
        assert (told.path, told.headers["api-key"]) == ("/base/responses", KEY) and "authorization" not in told.headers

"""What a box may try at the model gateway: other people's money, other hosts, and to be counted less."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from aiohttp import web

from app.gateway.gateway import GatewaySettings
from app.settings import Settings
from loops.secrets.token_hash import token_hash
from loops.store.tables import Turn
from tests.app.gateway.door import CHAT, MODEL, TURN_TOKEN, Door, door, events, streamed

SMALL = GatewaySettings(body=100_000)
BODY = json.dumps({"model": MODEL, "stream": True, "messages": []}).encode()
OTHER = "glm_of-turn-two-0123456789"


@pytest.fixture
def settings(tmp_path: Path, sqlite_url: str, redis_url: str) -> Settings:
    return Settings(data=tmp_path, database_url=sqlite_url, redis_url=redis_url, webhook_secrets="a secret of ours")


@pytest.fixture
async def opened(settings: Settings) -> AsyncIterator[Door]:
    async with door(settings, gateway=SMALL) as found:
        yield found


async def raw(opened: Door, head: str, body: bytes = b"") -> bytes:
    """The first line of the answer to exactly these bytes; empty where the connection was closed without one."""
    place = urlsplit(opened.url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    try:
        writer.write(head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body)
        return await asyncio.wait_for(reader.readline(), 30)
    finally:
        writer.close()


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("v1/messages", {"type": "error", "error": {"type": "authentication_error"}}),
        ("v1/chat/completions", {"error": {"type": "authentication_error"}}),
        ("v1/responses", {"error": {"type": "authentication_error"}}),
        ("v1beta/models/m:generateContent", {"error": {"code": 401, "status": "UNAUTHENTICATED"}}),
    ],
)
@pytest.mark.parametrize("token", ["", "glm_forged", OTHER, TURN_TOKEN + "x", "sk-é", token_hash(TURN_TOKEN)])
async def test_a_token_that_is_not_this_turns_is_refused_in_the_providers_shape(
    opened: Door, path: str, shape: dict[str, Any], token: str
) -> None:
    await _second_turn(opened)
    del opened.agent.headers["authorization"]
    proof = {b"authorization": f"Bearer {token}".encode()} if token else {}
    answer = await opened.agent.post(path, content=BODY, headers=proof)
    assert answer.status_code == 401
    told = answer.json()
    assert told == shape | {"error": {**told["error"], **shape["error"]}}
    assert opened.provider.asked == []


async def _second_turn(opened: Door) -> None:
    """Another turn that runs, with a token of its own."""
    first = await opened.turn()
    async with opened.database.write() as tx:
        tx.add(
            Turn(
                public_id="t_2",
                session_id=first.session_id,
                number=2,
                kind="issue",
                trigger="mention",
                marker="gl-2",
                status="running",
                runtime="opencode",
                model=MODEL,
                profile_id=first.profile_id,
                box="bob",
                model_token=token_hash(OTHER),
                created_at=0,
            )
        )


@pytest.mark.parametrize("status", ["ready", "reported", "done", "failed", "cancelled", "queued"])
async def test_the_token_ends_with_its_turn(opened: Door, status: str) -> None:
    assert (await opened.chat()).status_code == 200
    await opened.change(status=status)
    assert (await opened.chat()).status_code == 401
    assert len(opened.provider.asked) == 1


async def test_the_token_of_a_turn_that_is_handed_out_anew_ends(opened: Door) -> None:
    await opened.change(model_token=token_hash("glm_another"))
    assert (await opened.chat()).status_code == 401


@pytest.mark.parametrize(
    "path",
    [
        "models",
        "v1/models",
        "v1/files",
        "v1/embeddings",
        "v1/messages/count_tokens",
        "v1/messages/batches",
        "v1/organizations/api_keys",
        "v1/chat/completions/",
        "/v1/chat/completions",
        "v1//chat/completions",
        "v1/chat/../files",
        "v1/chat/completions/../../files",
        "v1/chat%2fcompletions%2f..%2ffiles",
        "..%2f..%2fv1/chat/completions",
        "https://elsewhere.example/v1/chat/completions",
        "%2f%2felsewhere.example/v1/chat/completions",
        "v1/chat/completions%3fkey=x",
        "v1/chat/completions%00",
        "v1beta/models/..%2f..%2ffiles:generateContent",
        "v1beta/models/m:batchGenerateContent",
        "v1beta/models/m:streamGenerateContent%3falt=json%26x=",
        "v1beta/files",
    ],
)
async def test_no_path_leads_anywhere_but_to_what_a_turn_asks_its_model(opened: Door, path: str) -> None:
    target = f"/models/t_1/{path}"
    head = f"POST {target} HTTP/1.1\nhost: a\nauthorization: Bearer {TURN_TOKEN}\ncontent-length: {len(BODY)}"
    assert b" 404 " in await raw(opened, head, BODY)
    assert opened.provider.asked == []


async def test_an_address_in_place_of_a_path_or_in_a_header_changes_nothing(opened: Door) -> None:
    for target in ("http://elsewhere.example/models/t_1/v1/chat/completions", "/models/t_1/v1/chat/completions?host=x"):
        head = (
            f"POST {target} HTTP/1.1\nhost: elsewhere.example\nx-forwarded-host: elsewhere.example\n"
            f"x-portkey-custom-host: https://elsewhere.example\nhelicone-target-url: https://elsewhere.example\n"
            f"openai-organization: org-other\nanthropic-workspace: other\ncookie: a=b\ntrailer: x\nte: trailers\n"
            f"x-goog-api-key: \nauthorization: Bearer {TURN_TOKEN}\nconnection: x-app, close\nx-app: cli\n"
            f"content-length: {len(BODY)}"
        )
        assert b" 200 " in await raw(opened, head, BODY)
    for asked in opened.provider.asked:
        assert asked.path == "/base/chat/completions"
        assert "elsewhere" not in repr(asked.headers) and TURN_TOKEN not in repr(asked.headers)
        gone = {"cookie", "openai-organization", "anthropic-workspace", "te", "trailer", "x-goog-api-key", "x-app"}
        assert gone & asked.headers.keys() == set()


@pytest.mark.parametrize(
    "head",
    [
        "content-length: 5\ntransfer-encoding: chunked",
        "transfer-encoding: chunked\ncontent-length: 5",
        "content-length: 5\ncontent-length: 6",
        "content-length: +5",
        "content-length: 5, 5",
        "transfer-encoding: chunked, identity",
        "transfer-encoding: xchunked",
        "transfer-encoding : chunked",
    ],
)
async def test_a_request_of_two_lengths_is_refused(opened: Door, head: str) -> None:
    start = f"POST /models/t_1/v1/chat/completions HTTP/1.1\nhost: a\nauthorization: Bearer {TURN_TOKEN}\n"
    hidden = b"0\r\n\r\nPOST /models/t_2/v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n"
    assert b" 200 " not in await raw(opened, start + head, hidden)
    assert opened.provider.asked == []


async def test_a_body_beyond_the_limit_is_refused_before_and_while_it_is_read(opened: Door) -> None:
    large = await opened.agent.post("v1/chat/completions", content=b"x" * 100_001)
    assert large.status_code == 413

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(30):
            yield b"x" * 10_000

    assert (await opened.agent.post("v1/chat/completions", content=pieces())).status_code == 413
    assert (await opened.chat()).status_code == 200, "and leaves room for the next"


async def test_a_packed_body_is_not_unpacked(opened: Door) -> None:
    packed = await opened.agent.post(
        "v1/chat/completions", content=gzip.compress(BODY), headers={"content-encoding": "gzip"}
    )
    assert packed.status_code == 415


@pytest.mark.parametrize(
    "body",
    [
        b'{"model": "other"}',
        b'{"model": "model-1", "model": "other"}',
        b'{"model": "model-1", "mod\\u0065l": "other"}',
        b'{"model": ["model-1"]}',
        b'{"messages": []}',
        b'["model-1"]',
        b"\xff\xfe",
        b"",
        b"[" * 50_000,
        b'{"model": "model-1", "x": ' + b"[" * 50_000,
    ],
)
async def test_no_model_but_the_accounts_is_asked(opened: Door, body: bytes) -> None:
    answer = await opened.agent.post("v1/chat/completions", content=body)
    assert answer.status_code in (400, 404)
    assert opened.provider.asked == []


async def test_what_stands_twice_in_a_body_reaches_the_provider_once(opened: Door) -> None:
    twice = b'{"model": "other", "stream": false, "model": "model-1", "stream": true, "messages": []}'
    assert (await opened.agent.post("v1/chat/completions", content=twice)).status_code == 200
    (asked,) = opened.provider.asked
    assert asked.raw.count(b'"model"') == asked.raw.count(b'"stream"') == 1
    assert asked.body["model"] == MODEL and asked.body["stream"] is True


async def test_no_body_names_other_models_another_endpoint_or_another_key(opened: Door) -> None:
    told = {
        "models": ["other"], "fallbacks": [{"model-1": ["other"]}], "route": "fallback", "preset": "dear",
        "provider": {"only": ["dear"]}, "custom_llm_provider": "x", "api_base": "https://elsewhere.example",
        "base_url": "https://elsewhere.example", "api_key": "sk-mine", "organization": "org-other",
        "user_config": {"model_list": []},
    }  # fmt: skip
    assert (await opened.chat(**told)).status_code == 200
    (asked,) = opened.provider.asked
    assert asked.body.keys() & told.keys() == set() and b"elsewhere" not in asked.raw
    hidden = b'{"model": "model-1", "mod\\u0065ls": ["other"], "messages": []}'
    assert (await opened.agent.post("v1/chat/completions", content=hidden)).status_code == 200
    assert b"other" not in opened.provider.asked[-1].raw


async def test_another_protocol_than_the_agents_is_refused(opened: Door) -> None:
    assert (await opened.agent.post("v1/responses", content=BODY)).status_code == 404
    assert (await opened.agent.post("v1/messages", content=BODY)).status_code == 404
    assert (await opened.agent.get("v1/chat/completions")).status_code == 405
    assert opened.provider.asked == []


async def test_a_provider_that_sends_elsewhere_is_not_followed_with_the_key(settings: Settings) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        raise web.HTTPTemporaryRedirect(f"http://{request.host}/elsewhere")

    async with door(settings, answer) as opened:
        assert (await opened.chat()).status_code == 502
        assert len(opened.provider.asked) == 1


async def test_a_stream_that_is_cut_is_cut_for_the_agent_too_and_counted(settings: Settings) -> None:
    received = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        await response.write(events(*({"choices": [{"delta": {"content": "x"}}]} for _ in range(50))))
        await received.wait()
        assert request.transport is not None
        request.transport.close()
        return response

    async with door(settings, answer) as opened:
        long = json.dumps({"model": MODEL, "stream": True, "messages": ["x" * 4_000]})
        async with opened.agent.stream("POST", "v1/chat/completions", content=long) as answered:
            pieces = answered.aiter_raw()
            await anext(pieces)
            received.set()
            with pytest.raises(httpx.RemoteProtocolError):
                _ = [piece async for piece in pieces]
        turn = await _booked(opened)
        assert turn.input_tokens > 900 and turn.output_tokens > 0


async def test_who_hangs_up_before_usage_is_told_is_counted_all_the_same_and_the_provider_let_go(
    settings: Settings,
) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        while True:
            await response.write(events({"choices": [{"delta": {"content": "x"}}]}))
            await asyncio.sleep(0.01)

    async with door(settings, answer) as opened:
        async with opened.agent.stream("POST", "v1/chat/completions", content=BODY) as answered:
            await anext(answered.aiter_raw())
        turn = await _booked(opened)
        assert turn.input_tokens > 0 and turn.output_tokens > 0
        for _ in range(500):
            if opened.provider.gone:
                return
            await asyncio.sleep(0.02)
        raise AssertionError("the provider still answers nobody")


async def _booked(opened: Door) -> Turn:
    for _ in range(500):
        if (turn := await opened.turn()).booked:
            return turn
        await asyncio.sleep(0.02)
    raise AssertionError("it was never booked")


async def test_an_endless_line_is_passed_on_and_not_kept(settings: Settings) -> None:
    pieces = [b"data: " + b"x" * 1_000_000, *[b"x" * 1_000_000] * 11, b"\n\n", CHAT]

    async with door(settings, lambda request: streamed(request, *pieces)) as opened:
        assert len((await opened.chat()).content) == sum(map(len, pieces))
        assert (await opened.turn()).input_tokens == 100


async def test_one_turn_has_so_many_requests_at_once_and_no_more(settings: Settings) -> None:
    go_on = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        await go_on.wait()
        return await streamed(request, CHAT)

    async with door(settings, answer, gateway=GatewaySettings(at_once=2)) as opened:
        waiting = [asyncio.create_task(opened.chat()) for _ in range(2)]
        while len(opened.provider.asked) < 2:
            await asyncio.sleep(0.01)
        assert (await opened.chat()).status_code == 429
        go_on.set()
        assert [each.status_code for each in await asyncio.gather(*waiting)] == [200, 200]


async def test_one_turn_leaves_room_for_the_bodies_of_others(settings: Settings) -> None:
    async with door(settings, gateway=GatewaySettings(body=100_000, held=200_000)) as opened:
        await _second_turn(opened)
        place = urlsplit(opened.url)
        head = f"POST /models/t_1/v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {TURN_TOKEN}\r\n"
        _reader, writer = await asyncio.open_connection(place.hostname, place.port)
        writer.write(f"{head}content-length: 40000\r\n\r\n{{".encode())
        for _ in range(500):
            if (await opened.chat(x="x" * 20_000)).status_code == 503:
                break
            await asyncio.sleep(0.02)
        else:
            raise AssertionError("a body that does not come takes no room")
        body = json.dumps({"model": MODEL, "x": "x" * 20_000})
        theirs = {"authorization": f"Bearer {OTHER}"}
        url = f"{opened.url}/models/t_2/v1/chat/completions"
        assert (await opened.agent.post(url, content=body, headers=theirs)).status_code == 200
        writer.close()
        for _ in range(500):
            if (await opened.chat(x="x" * 20_000)).status_code == 200:
                return
            await asyncio.sleep(0.02)
        raise AssertionError("its room is not given back")


async def test_the_public_port_knows_nothing_of_it(opened: Door) -> None:
    told = await opened.agent.post(f"{opened.public}/models/t_1/v1/chat/completions", content=BODY)
    assert told.status_code == 404 and opened.provider.asked == []

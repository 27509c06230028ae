"""What passes the model gateway: the account's key put in, the answer as it comes, what it used booked."""

import asyncio
import json
import time

import pytest
from aiohttp import web

from app.gateway.gateway import GatewaySettings
from app.settings import Settings
from loops.runtimes import registry
from tests.app.gateway.door import CHAT, KEY, MODEL, TURN_TOKEN, Door, door, events, streamed

MESSAGES = events(
    {
        "type": "message_start",
        "message": {
            "usage": {
                "input_tokens": 10,
                "cache_creation_input_tokens": 20,
                "cache_read_input_tokens": 70,
                "output_tokens": 1,
            }
        },
    },
    {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Hello"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
)  # fmt: skip
RESPONSES = events(
    {"type": "response.created", "response": {"id": "r", "usage": None}},
    {
        "type": "response.completed",
        "response": {"usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 70}, "output_tokens": 9}},
    },
)
GOOGLE = events(
    {"candidates": [{"content": {}}], "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 1}},
    {
        "candidates": [{"finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": 100,
            "cachedContentTokenCount": 70,
            "candidatesTokenCount": 5,
            "thoughtsTokenCount": 4,
        },
    },
)
WIRES = [
    ("claude", "v1/messages?beta=true", MESSAGES, "/base/v1/messages?beta=true", "x-api-key", KEY),
    ("codex", "v1/responses", RESPONSES, "/base/responses", "authorization", f"Bearer {KEY}"),
    ("opencode", "v1/chat/completions", CHAT, "/base/chat/completions", "authorization", f"Bearer {KEY}"),
    (
        "gemini",
        f"v1beta/models/{MODEL}:streamGenerateContent?alt=sse",
        GOOGLE,
        f"/base/v1beta/models/{MODEL}:streamGenerateContent?alt=sse",
        "x-goog-api-key",
        KEY,
    ),
]
PROVIDERS = {"claude": "anthropic", "gemini": "google", "codex": "openai", "opencode": "custom"}
BODY = {"model": MODEL, "stream": True, "messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize(("runtime", "path", "told", "there", "header", "proof"), WIRES, ids=[w[0] for w in WIRES])
async def test_the_providers_own_endpoint_is_asked_with_the_accounts_key(
    settings: Settings, runtime: str, path: str, told: bytes, there: str, header: str, proof: str
) -> None:
    async with door(
        settings, lambda request: streamed(request, told), runtime=runtime, profile={"provider": PROVIDERS[runtime]}
    ) as opened:
        del opened.agent.headers["authorization"]
        answer = await opened.agent.post(path, json=BODY, headers={header: proof.replace(KEY, TURN_TOKEN)})
        assert (answer.status_code, answer.content) == (200, told)
        (asked,) = opened.provider.asked
        assert (asked.path, asked.headers[header], asked.headers["accept-encoding"]) == (there, proof, "identity")
        assert TURN_TOKEN not in repr(asked)
        turn = await opened.turn()
        cached = 40 if runtime == "opencode" else 70
        assert (turn.input_tokens, turn.cached_tokens) == (100, cached)
        assert turn.output_tokens == (7 if runtime == "opencode" else 9)


async def test_pieces_pass_as_they_come(settings: Settings) -> None:
    go_on = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"data: first\n\n")
        await go_on.wait()
        await response.write(b"data: [DONE]\n\n")
        return response

    async with (
        door(settings, answer) as opened,
        opened.agent.stream("POST", "v1/chat/completions", json=BODY) as answered,
    ):
        pieces = answered.aiter_raw()
        assert await anext(pieces) == b"data: first\n\n"
        go_on.set()
        assert await anext(pieces) == b"data: [DONE]\n\n"


@pytest.mark.parametrize("stream", [True, False])
async def test_a_silent_model_is_bridged_between_events_and_before_the_first(settings: Settings, stream: bool) -> None:
    quiet = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        await asyncio.wait_for(quiet.wait(), 60) if stream else await asyncio.sleep(0.3)
        if not stream:
            return web.json_response({"usage": {"prompt_tokens": 3, "completion_tokens": 2}})
        return await streamed(request, CHAT)

    async with door(settings, answer, gateway=GatewaySettings(silence=0.1)) as opened:
        body = {**BODY, "stream": stream}
        async with opened.agent.stream("POST", "v1/chat/completions", json=body) as answered:
            if not stream:
                assert json.loads(await answered.aread())["usage"]["prompt_tokens"] == 3
                assert (await opened.turn()).input_tokens == 3
                return
            pieces = answered.aiter_raw()
            calls = registry.get("opencode").calls
            assert calls is not None and (await anext(pieces)).startswith(calls.keep_alive)
            quiet.set()
            assert b"".join([piece async for piece in pieces]).endswith(CHAT)


async def test_an_event_that_comes_in_two_pieces_is_not_torn_by_what_bridges_a_silence(settings: Settings) -> None:
    go_on = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        await response.write(CHAT[:20])
        await go_on.wait()
        await response.write(CHAT[20:])
        return response

    async with (
        door(settings, answer, gateway=GatewaySettings(silence=0.05)) as opened,
        opened.agent.stream("POST", "v1/chat/completions", json=BODY) as answered,
    ):
        pieces = answered.aiter_raw()
        first = await anext(pieces)
        await asyncio.sleep(0.3)  # several times the silence that is bridged elsewhere
        go_on.set()
        assert first + b"".join([piece async for piece in pieces]) == CHAT


@pytest.mark.parametrize(("padding", "kept"), [(10, True), (65_536, False)])
async def test_a_refusal_that_comes_in_pieces_passes_whole_or_not_at_all(
    settings: Settings, padding: int, kept: bool
) -> None:
    async def refused(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=400)
        await response.prepare(request)
        for piece in ('{"error": {"message": "', "x" * padding, KEY[:9], KEY[9:], '"}}'):
            await response.write(piece.encode())
            await asyncio.sleep(0.01)
        await response.write_eof()
        return response

    async with door(settings, refused) as opened:
        told = await opened.chat()
    assert told.status_code == 400 and KEY[:9] not in told.text
    assert (told.text == f'{{"error": {{"message": "{"x" * padding}[redacted]"}}}}') == kept


async def test_a_refusal_of_the_provider_passes_as_it_is_but_for_a_key_that_it_quotes(settings: Settings) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        said = {"error": {"message": f"Incorrect API key provided: {KEY}", "type": "invalid_request_error"}}
        return web.json_response(said, status=401, headers={"retry-after": "7", "set-cookie": "a=b"})

    async with door(settings, answer) as opened:
        told = await opened.chat()
        assert told.status_code == 401 and told.headers["retry-after"] == "7" and "set-cookie" not in told.headers
        assert told.json()["error"]["message"] == "Incorrect API key provided: [redacted]"


@pytest.mark.parametrize(
    ("status", "headers", "said", "seconds"),
    [
        (429, {"retry-after": "120"}, "slow", 120),
        (529, {"retry-after-ms": "1500"}, "slow", 1.5),
        (503, {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT", "date": "Wed, 21 Oct 2026 07:27:00 GMT"}, "slow", 60),
        (429, {}, "Please try again in 1m20s.", 80),
        (401, {}, "no such key", None),
    ],
)
async def test_how_long_the_provider_wants_to_be_left_alone_is_kept(
    settings: Settings, status: int, headers: dict[str, str], said: str, seconds: float | None
) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.json_response({"error": {"message": said}}, status=status, headers=headers)

    async with door(settings, answer) as opened:
        before = time.time()
        assert (await opened.chat()).status_code == status
        until = (await opened.turn()).refused_until
        if seconds is None:
            assert until is None
        else:
            assert until is not None and before + seconds <= until <= time.time() + seconds


async def test_an_answer_that_comes_packed_all_the_same_is_unpacked_and_counted(settings: Settings) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.Response(body=CHAT, content_type="text/event-stream")
        response.enable_compression(web.ContentCoding.gzip)
        return response

    async with door(settings, answer) as opened:
        told = await opened.chat()
        assert told.content == CHAT and "content-encoding" not in told.headers
        assert (await opened.turn()).input_tokens == 100


async def test_usage_is_asked_for_though_the_box_does_not_want_it(settings: Settings) -> None:
    async with door(settings) as opened:
        await opened.chat(stream_options={"include_usage": False, "other": 1})
        assert opened.provider.asked[0].body["stream_options"] == {"include_usage": True, "other": 1}


async def test_a_cap_that_is_passed_ends_the_turn_at_its_next_request_in_words(settings: Settings) -> None:
    async with door(settings, limits={"tokens": 100}) as opened:
        assert (await opened.chat()).status_code == 200
        refused = await opened.chat()
        assert refused.status_code == 402
        said = refused.json()["error"]["message"]
        assert said == "Greenloop ends this turn: 107 tokens of one turn, the cap is 100."
        assert len(opened.provider.asked) == 1
        turn = await opened.turn()
        assert (turn.stop_reason or "").startswith("limit_exceeded: 107 tokens")


async def test_the_price_table_makes_the_cost_of_it(settings: Settings) -> None:
    priced = settings.model_copy(update={"prices": {MODEL: {"input": 10, "cached": 1, "output": 100}}})
    async with door(priced) as opened:
        await opened.chat()
        turn = await opened.turn()
        assert turn.cost == turn.booked_cost == pytest.approx((60 * 10 + 40 * 1 + 7 * 100) / 1_000_000)


async def test_two_requests_at_once_are_both_booked(settings: Settings) -> None:
    async with door(settings) as opened:
        await asyncio.gather(*(opened.chat() for _ in range(6)))
        assert (await opened.turn()).input_tokens == 600


async def _hang_up_at_the_last_event(opened: Door) -> None:
    async with opened.agent.stream("POST", "v1/responses", json=BODY) as answered:
        async for piece in answered.aiter_raw():
            if b"response.completed" in piece:
                return


async def test_what_a_cli_does_not_wait_for_is_booked_all_the_same(settings: Settings) -> None:
    """Codex closes its connection at `response.completed`."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        await response.write(RESPONSES)
        await asyncio.sleep(60)
        return response

    async with door(settings, answer, runtime="codex", profile={"provider": "openai"}) as opened:
        await _hang_up_at_the_last_event(opened)
        turn = await opened.turn()
        assert (turn.input_tokens, turn.output_tokens) == (100, 9)


@pytest.mark.parametrize(("closed", "status"), [(1, 200), (2, 502)])
async def test_a_connection_that_the_provider_closes_as_it_is_used_again_costs_the_agent_nothing(
    settings: Settings, closed: int, status: int
) -> None:
    asked = 0

    async def answer(request: web.Request) -> web.StreamResponse:
        nonlocal asked
        asked += 1
        if 1 < asked <= 1 + closed and request.transport:
            request.transport.abort()
        return await streamed(request, CHAT)

    async with door(settings, answer, runtime="opencode", profile={"provider": "custom"}) as opened:
        answers = [await opened.agent.post("v1/chat/completions", json=BODY) for _ in range(2)]
        assert ([each.status_code for each in answers], asked) == ([200, status], 3)

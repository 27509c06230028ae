"""What an answer has used, however it is cut into pieces."""

import json
from typing import Any

import pytest

from loops.gateway.usage import UsageReader, Used
from loops.runtimes.spec import Price, Wire
from tests.app.gateway.door import CHAT, events
from tests.app.gateway.test_passing import GOOGLE, MESSAGES, RESPONSES

STREAMS: list[tuple[Wire, bytes, Used]] = [
    ("messages", MESSAGES, Used(100, 70, 9, 5.0)),
    ("responses", RESPONSES, Used(100, 70, 9)),
    ("chat", CHAT, Used(100, 40, 7)),
    ("generate_content", GOOGLE, Used(100, 70, 9, reasoning=4)),
]


@pytest.mark.parametrize(("wire", "told", "used"), STREAMS, ids=[each[0] for each in STREAMS])
@pytest.mark.parametrize("size", [1, 7, 100_000])
@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
def test_each_protocol_is_read_in_pieces_of_any_size(
    wire: Wire, told: bytes, used: Used, size: int, ends: bytes
) -> None:
    reader, told = UsageReader(wire, 400, stream=True), told.replace(b"\n", ends)
    for start in range(0, len(told), size):
        reader.feed(told[start : start + size])
    assert reader.whole and reader.used == used
    reader.end()
    assert reader.used == used


WHOLE: list[tuple[Wire, dict[str, Any], Used]] = [
    ("messages", {"usage": {"input_tokens": 5, "output_tokens": 2}}, Used(5, 0, 2)),
    ("responses", {"usage": {"input_tokens": 5, "output_tokens": 2}}, Used(5, 0, 2)),
    ("chat", {"choices": [{}], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}, Used(5, 0, 2)),
    ("generate_content", {"usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2}}, Used(5, 0, 2)),
    (
        "messages",
        {"usage": {"input_tokens": 5, "output_tokens": 4, "output_tokens_details": {"thinking_tokens": 3}}},
        Used(5, 0, 4, reasoning=3),
    ),
    (
        "responses",
        {"usage": {"input_tokens": 5, "output_tokens": 4, "output_tokens_details": {"reasoning_tokens": 3}}},
        Used(5, 0, 4, reasoning=3),
    ),
    (
        "chat",
        {
            "choices": [{}],
            "usage": {
                "prompt_tokens": 5,
                "completion_tokens": 4,
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
        },
        Used(5, 0, 4, reasoning=3),
    ),
]


@pytest.mark.parametrize(("wire", "told", "used"), WHOLE, ids=[f"{n}-{each[0]}" for n, each in enumerate(WHOLE)])
def test_an_answer_that_is_not_streamed_is_read_at_its_end(wire: Wire, told: dict[str, Any], used: Used) -> None:
    reader, body = UsageReader(wire, 400, stream=False), json.dumps(told, indent=2).encode()
    reader.feed(body[:10])
    reader.feed(body[10:])
    reader.end()
    assert reader.used == used


def test_what_is_broken_off_is_an_estimate_by_what_was_asked_and_answered() -> None:
    reader = UsageReader("chat", 400, stream=True)
    reader.feed(events({"choices": [{"delta": {}}]}, {"choices": [{"delta": {}}]}))
    assert reader.used == Used(100, 0, 2, estimated=True)
    reader = UsageReader("messages", 400, stream=True)
    reader.feed(MESSAGES[: MESSAGES.index(b'data: {"type": "message_delta"')])
    assert reader.used == Used(100, 70, 2, 5.0, estimated=True)


def test_zeros_that_a_proxy_tells_at_the_end_take_nothing_back() -> None:
    reader = UsageReader("messages", 4, stream=True)
    start = {"type": "message_start", "message": {"usage": {"input_tokens": 50, "output_tokens": 1}}}
    end = {"type": "message_delta", "usage": {"input_tokens": 0, "output_tokens": 8}}
    reader.feed(events(start, end))
    assert reader.used == Used(50, 0, 8)


@pytest.mark.parametrize(
    "odd",
    [
        {"usage": "none"},
        {"usage": None},
        {"usage": {"prompt_tokens": "5", "completion_tokens": None}},
        {"usage": {"prompt_tokens": -5, "completion_tokens": True}},
        {"usage": {"prompt_tokens": 1e400, "prompt_tokens_details": []}},
        ["usage"],
        "usage",
    ],
)
def test_odd_usage_is_no_crash_and_no_credit(odd: Any) -> None:
    reader = UsageReader("chat", 400, stream=True)
    reader.feed(b"data: " + json.dumps(odd).encode() + b'\n\ndata: {"usage\n\ndata: \xff "usage"\n\n')
    used = reader.used
    assert used.input >= 0 and used.output >= 0


def test_a_place_in_a_cache_costs_more() -> None:
    price = Price(input=10, cached=1, output=100)
    assert Used(100, 70, 9).cost(price) == pytest.approx((30 * 10 + 70 + 900) / 1e6)
    assert Used(100, 70, 9, extra=20).cost(price) == pytest.approx((30 * 10 + 70 + 900 + 200) / 1e6)
    assert Used(100, 70, 9).cost(None) == 0.0

"""Bedrock's binary stream becomes the events that it carries, however it is cut into pieces."""

import json
from typing import Any

import pytest

from loops.gateway.carriers.event_stream import BrokenStream, EventStream
from tests.loops.gateway.carriers.frames import chunk, failure, frame

TOLD: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"usage": {"input_tokens": 3}}},
    {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "\u00fcber \n\n data: x"}},
    {"type": "message_stop", "amazon-bedrock-invocationMetrics": {"inputTokenCount": 3}},
]


@pytest.mark.parametrize("size", [1, 7, 64, 100_000])
def test_events_come_whole_however_the_stream_is_cut(size: int) -> None:
    stream, reader = b"".join(map(chunk, TOLD)), EventStream()
    told = b"".join(reader.feed(stream[at : at + size]) for at in range(0, len(stream), size))
    events = told.decode().removesuffix("\n\n").split("\n\n")
    assert [json.loads(each.split("\n")[1].removeprefix("data: ")) for each in events] == TOLD
    assert [each.split("\n")[0] for each in events] == [f"event: {each['type']}" for each in TOLD]


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("throttlingException", "rate_limit_error"),
        ("serviceUnavailableException", "api_error"),
        ("validationException", "api_error"),
    ],
)
def test_an_exception_in_the_stream_is_an_error_event_of_the_protocol(kind: str, told: str) -> None:
    (name, data) = EventStream().feed(failure(kind, "slow down")).decode().strip().split("\n")
    error = json.loads(data.removeprefix("data: "))["error"]
    assert (name, error) == ("event: error", {"type": told, "message": "slow down"})


def test_headers_of_other_kinds_are_passed_over() -> None:
    good = chunk(TOLD[2])
    assert EventStream().feed(frame({":message-type": "event", "x" * 200: "y"}, _payload(good))) != b""


def _payload(message: bytes) -> bytes:
    return message[12 + int.from_bytes(message[4:8], "big") : -4]


@pytest.mark.parametrize(
    "broken",
    [
        b"<html>sign in please</html>",
        chunk(TOLD[0])[:-1] + b"x",
        b"\xff" * 12,
        frame({":message-type": "event"}, b"no json"),
        frame({":message-type": "event"}, b'{"bytes": 3}'),
        frame({":message-type": "event"}, b'{"bytes": "e30="}'),
    ],
    ids=["another protocol", "a damaged event", "an endless event", "no JSON", "no bytes", "no event"],
)
def test_what_is_no_event_stream_is_refused(broken: bytes) -> None:
    with pytest.raises(BrokenStream):
        EventStream().feed(broken)

import itertools
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from k8s.runner.protocol import LONGEST_LINE
from loops.protocol.parse_output import FORCED_AT, PAYLOAD_TEXT, bounded, clean, entries_of, parse_output
from loops.runtimes.base import EVENT_TEXT, JSON, Outcome, ProcessEnd, RuntimeEvent
from loops.runtimes.command.spec import SPEC as COMMAND
from loops.runtimes.spec import Price, RuntimeSpec
from loops.secrets.redact import MASK, Redactor

SECRET = "hunter2-hunter2-hunter2"
KEY = (
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq2Xk1vQ9z8\nZm9vYmFyYmF6cXV4MTIz\n-----END RSA PRIVATE KEY-----"
)


class JsonParser:
    """Every line is one event: {"kind", …payload}."""

    def __init__(self, state: JSON | None = None, *, totals: Any = None) -> None:
        self.lines = (state or {}).get("lines", 0)

    def parse(self, line: str) -> list[RuntimeEvent]:
        self.lines += 1
        value = json.loads(line)
        return [RuntimeEvent(value.pop("kind"), value)]

    def state(self) -> JSON:
        return {"lines": self.lines}

    def outcome(self, ending: ProcessEnd) -> Outcome:
        return Outcome("", None)


JSON_LINES = replace(COMMAND, name="json", parser=JsonParser)


def delta(text: str, message: str = "m") -> bytes:
    return json.dumps({"kind": "assistant_delta", "text": text, "message_id": message}).encode() + b"\n"


def shown(entries: list[tuple[str, JSON]]) -> str:
    return "".join(payload.get("text", "") for _, payload in entries)


def fed(runtime: RuntimeSpec, data: bytes, sizes: list[int], redactor: Redactor) -> tuple[str, JSON]:
    """What comes of `data` when it is sent as a box does: from the acknowledged offset, in pieces of odd sizes."""
    state: JSON = {}
    entries: list[tuple[str, JSON]] = []
    offset = step = 0
    end = 0
    while offset < len(data) or end == 0:
        end = min(len(data), max(end, offset) + sizes[step % len(sizes)])
        step += 1
        last = end == len(data)
        new = parse_output(runtime, state, data[offset:end], redactor, end=last)
        offset += new.taken
        state = new.state
        entries += new.entries
        if last:
            break
    assert offset == len(data)
    return shown(entries), state


@given(
    lines=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r\x00"), max_size=30), max_size=20),
    sizes=st.lists(st.integers(1, 50), min_size=1, max_size=5),
)
@settings(max_examples=60, deadline=None)
def test_however_the_output_is_cut_into_pieces_the_events_say_the_same(lines: list[str], sizes: list[int]) -> None:
    data = "\n".join(lines).encode()
    whole, state = fed(COMMAND, data, [max(1, len(data))], Redactor())
    pieces, other = fed(COMMAND, data, sizes, Redactor())
    assert pieces == whole
    assert other == state


@given(cuts=st.lists(st.integers(1, len(SECRET) - 1), max_size=4), sizes=st.lists(st.integers(1, 400), min_size=1))
@settings(max_examples=60, deadline=None)
def test_a_secret_streamed_in_pieces_over_lines_and_requests_is_never_shown(cuts: list[int], sizes: list[int]) -> None:
    bounds = [0, *sorted(set(cuts)), len(SECRET)]
    pieces = [SECRET[start:end] for start, end in itertools.pairwise(bounds)]
    data = b"".join(delta(piece) for piece in ["the key is ", *pieces, " there"])
    text, _ = fed(JSON_LINES, data, sizes, Redactor([SECRET]))
    assert text == f"the key is {MASK} there"


def test_only_whole_lines_are_taken_until_the_end() -> None:
    assert parse_output(COMMAND, {}, b"one\ntw", Redactor(), end=False).taken == 4
    assert parse_output(COMMAND, {}, b"tw", Redactor(), end=False).taken == 0
    assert parse_output(COMMAND, {}, b"tw", Redactor(), end=True).taken == 2


def test_lines_whose_text_may_be_the_beginning_of_a_secret_wait_for_the_next_piece() -> None:
    first = delta("done ") + delta("hunter2-")
    waiting = parse_output(JSON_LINES, {}, first, Redactor([SECRET]), end=False)
    assert (waiting.taken, shown(waiting.entries)) == (len(delta("done ")), "done ")
    ended = parse_output(JSON_LINES, {}, first, Redactor([SECRET]), end=True)
    assert (ended.taken, shown(ended.entries)) == (len(first), "done hunter2-")


@pytest.mark.parametrize(
    "secret",
    [f"{KEY}\n", f"\n{KEY}\r\n", json.dumps({"private_key": f"{KEY}\n"}), json.dumps({"key": KEY}, indent=2) + "\n"],
)
def test_a_line_is_shown_at_once_whatever_space_stands_around_the_secrets_that_are_known(secret: str) -> None:
    line = b"begun\n"
    made = parse_output(COMMAND, {}, line, Redactor().knowing([secret]), end=False)
    assert (made.taken, shown(made.entries)) == (len(line), "begun\n")
    whole = parse_output(COMMAND, {}, secret.encode(), Redactor([secret]), end=True)
    assert shown(whole.entries).strip() == MASK


def test_waiting_never_stops_a_box_for_good() -> None:
    data = b"".join(delta("x" * 10) for _ in range(FORCED_AT // 50))
    assert len(data) >= FORCED_AT
    assert parse_output(JSON_LINES, {}, data, Redactor(), end=False).taken == len(data)


def test_pieces_of_one_message_become_few_events_and_other_events_come_between_them_in_order() -> None:
    data = delta("a ") + delta("b ") + delta("c ", "other") + b'{"kind": "error", "message": "no"}\n' + delta("d ")
    kinds = [
        (kind, payload.get("text"))
        for kind, payload in parse_output(JSON_LINES, {}, data, Redactor(), end=True).entries
    ]
    assert kinds == [
        ("assistant_delta", "a b "),
        ("assistant_delta", "c "),
        ("error", None),
        ("assistant_delta", "d "),
    ]


def test_usage_is_summed_and_is_no_event() -> None:
    usage = {"kind": "usage", "steps": 1, "input": 10, "cached": 4, "output": 2, "cost": 0.5}
    odd = {"kind": "usage", "steps": None, "input": "many", "cached": True, "output": -5, "cost": None}
    data = b"".join(json.dumps(line).encode() + b"\n" for line in (usage, odd, usage))
    made = parse_output(JSON_LINES, {}, data, Redactor(), end=False)
    assert made.entries == []
    assert (made.usage.steps, made.usage.input, made.usage.cached, made.usage.output) == (2, 20, 8, 4)
    assert made.usage.cost == 1.0


def test_an_endless_line_is_cut_once_and_its_rest_is_passed_over() -> None:
    made = parse_output(COMMAND, {}, b"x" * LONGEST_LINE, Redactor(), end=False)
    assert made.taken == LONGEST_LINE
    assert made.entries[-1][0] == "status"
    assert len(shown(made.entries)) < 2 * EVENT_TEXT
    rest = parse_output(COMMAND, made.state, b"x" * 100 + b"\nnext\n", Redactor(), end=False)
    assert shown(rest.entries) == "next\n"


def test_a_megabyte_of_output_becomes_a_handful_of_bounded_events() -> None:
    made = parse_output(COMMAND, {}, b"line of text\n" * 80_000, Redactor(), end=False)
    assert made.taken == 13 * 80_000
    assert len(made.entries) <= 40
    assert max(len(payload["text"]) for _, payload in made.entries) <= EVENT_TEXT


@pytest.mark.parametrize(
    "payload",
    [
        {"name": "write", "input": {"path": "a", "content": "x" * 500_000}},
        {"input": [{"a": "y" * 900} for _ in range(2_000)]},
        {"input": {f"k{n}": {"deep": ["z" * 5_000]} for n in range(100)}},
        {f"key {n}": n for n in range(100_000)},
    ],
)
def test_no_payload_is_larger_than_a_page_can_show(payload: JSON) -> None:
    assert len(json.dumps(bounded(payload))) < 3 * PAYLOAD_TEXT


def test_nothing_is_stored_that_a_database_or_a_page_cannot_hold() -> None:
    assert clean("a\x00b\ud800c") == "a\N{REPLACEMENT CHARACTER}b?c"


def test_events_of_the_ending_are_redacted_too() -> None:
    events = [RuntimeEvent("error", {"message": f"bad {SECRET}"}), RuntimeEvent("usage", {"steps": 2})]
    entries, usage = entries_of(events, Redactor([SECRET]))
    assert (entries, usage.steps) == ([("error", {"message": f"bad {MASK}"})], 2)


def test_a_cost_told_at_the_end_takes_the_place_of_what_was_estimated_before() -> None:
    def line(steps: int, given: int, cost: float | None) -> bytes:
        told = {"kind": "usage", "steps": steps, "input": given, "cached": 0, "output": 0, "cost": cost}
        return json.dumps(told).encode() + b"\n"

    price, total = Price(1_000_000, 0, 0), 0.0
    state: JSON = {}
    for data in (line(1, 2, None), line(1, 3, None) + line(0, 1, 4.25), line(1, 1, None)):
        done = parse_output(JSON_LINES, state, data, Redactor(), end=False, price=price)
        total, state = total + done.usage.cost, done.state
    assert (total, state["estimated"]) == (5.25, 1.0)

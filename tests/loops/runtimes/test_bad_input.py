"""What no CLI prints today: nothing, noise, half lines, and events of versions that are yet to come."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from loops.protocol.parse_output import parse_output, parser_of
from loops.runtimes import registry
from loops.runtimes.base import Outcome, ProcessEnd
from loops.secrets.redact import Redactor
from tests.loops.runtimes.replay import FIXTURES

CLIS = tuple(runtime.name for runtime in registry.agents())
RECORDED = tuple(folder.name for folder in sorted(FIXTURES.iterdir()))
NATIVE: list[dict[str, Any]] = [
    {"kind": "session", "id": "c1"},
    {"kind": "plan", "items": [{"text": "Look", "state": "active"}]},
    {"kind": "usage", "steps": 1, "input": 5, "cached": 1, "output": 2, "cost": 0.1},
    {"kind": "assistant_completed", "text": "Done.", "message_id": "m1"},
    {"kind": "error", "message": "no", "final": True},
    {"kind": "result", "text": "Done.", "limit": None, "changed_files": ["a"], "diff": ""},
]
ODD: tuple[Any, ...] = (None, True, -1, 1e400, float("nan"), "", "\x00\ud800", [], [None], {}, {"a": [{}]}, 10**400)


def read(cli: str, data: bytes, exit_code: int = 0) -> tuple[list[Any], Outcome]:
    """Events and outcome, as the service would store them: the bytes by its own door, the state through JSON."""
    runtime = registry.get(cli)
    told = parse_output(runtime, {}, data, Redactor(), end=True)
    state = json.loads(json.dumps(told.state))
    outcome = parser_of(runtime, state).outcome(ProcessEnd(exit_code))
    json.dumps([told.entries, outcome.totals])
    told_as: list[object] = [outcome.message, outcome.error or "", outcome.session_id or ""]
    assert all(isinstance(each, str) for each in told_as)
    assert told.usage.cost < float("inf") and told.usage.cost == told.usage.cost
    return told.entries, outcome


def changed(value: Any, depth: int = 0) -> Iterator[Any]:
    """`value` with each of its parts, in turn, gone or of another kind."""
    yield from ODD if depth < 4 else ODD[:1]
    if isinstance(value, dict):
        for key in value:
            yield {name: item for name, item in value.items() if name != key}
            for item in changed(value[key], depth + 1):
                yield {**value, key: item}
        yield {**value, "of_a_later_version": {"x": 1}}
    elif isinstance(value, list):
        for at, each in enumerate(value[:1]):
            for item in changed(each, depth + 1):
                yield [*value[:at], item, *value[at + 1 :]]


def recorded(cli: str) -> Iterator[dict[str, Any]]:
    """One line of each shape that a CLI prints."""
    if cli == "native":
        yield from NATIVE
        return
    seen = set()
    for path in sorted((FIXTURES / cli).glob("*.jsonl")):
        for line in path.read_text().splitlines():
            data: dict[str, Any] = json.loads(line)
            if (shape := _shape(data)) not in seen:
                seen.add(shape)
                yield data


def _shape(value: Any) -> str:
    kinds = [value.get(name) for name in ("type", "subtype")]
    inner = [value.get(name) for name in ("item", "part", "event", "message") if isinstance(value.get(name), dict)]
    return repr([kinds, [(each.get("type"), each.get("tool"), each.get("role")) for each in inner]])


@pytest.mark.parametrize("cli", CLIS)
def test_whatever_becomes_of_a_line_the_turn_goes_on_and_ends_in_words(cli: str) -> None:
    lines = list(recorded(cli))
    assert len(lines) > 4
    for line in lines:
        before = json.dumps(line).encode() + b"\n"
        for odd in changed(line):
            read(cli, before + json.dumps(odd).encode() + b"\n" + before)


@pytest.mark.parametrize("cli", registry.names())
def test_a_cli_that_prints_nothing_has_no_answer_and_that_is_said(cli: str) -> None:
    for exit_code in (0, 1, 137):
        entries, outcome = read(cli, b"", exit_code)
        assert entries == []
        if registry.get(cli).smoke is not None:
            assert outcome.error and f"exited with code {exit_code} and gave no answer" in outcome.error


@pytest.mark.parametrize(
    "noise",
    [
        bytes(range(256)) * 500,
        b'\xff\xfe\x00{\x00"\x00',
        b"[" * 100_000,
        b'{"type":' * 20_000,
        b"\n" * 1_000,
        b"\r\n\x1b[2J\x07",
        b'{"type": "result", "result": "' + b"x" * 300_000,
        b'"just text"\n12\nnull\n[]\n',
    ],
)
@pytest.mark.parametrize("cli", registry.names())
def test_noise_is_told_as_it_can_be_and_is_no_answer(cli: str, noise: bytes) -> None:
    entries, outcome = read(cli, noise, 1)
    assert all(kind == "status" for kind, _ in entries) or registry.get(cli).smoke is None
    assert outcome.error or registry.get(cli).smoke is None

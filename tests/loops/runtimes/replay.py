"""Replays recorded streams, each line by a parser that knows only the state after the line before."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loops.runtimes import registry
from loops.runtimes.base import Outcome, ProcessEnd, RuntimeEvent

FIXTURES = Path(__file__).parent / "fixtures"


def fixture(cli: str, case: str) -> tuple[list[str], ProcessEnd]:
    """Lines and ending of a recording of ours."""
    told = json.loads((FIXTURES / cli / f"{case}.ending.json").read_text())
    lines = (FIXTURES / cli / f"{case}.jsonl").read_text().splitlines()
    return lines, ProcessEnd(told["exit_code"], stderr_tail=told["stderr"])


def replay(
    cli: str, lines: list[str], ending: ProcessEnd, totals: Mapping[str, float] | None = None
) -> tuple[list[list[RuntimeEvent]], Outcome]:
    """The events of each line, and the outcome. Between two lines the state goes through JSON."""
    runtime = registry.get(cli)
    parser, events = runtime.parser(totals=totals), []
    for line in lines:
        events.append(parser.parse(line))
        parser = runtime.parser(json.loads(json.dumps(parser.state())))
    return events, parser.outcome(ending)


def payloads(events: list[list[RuntimeEvent]], kind: str) -> list[dict[str, Any]]:
    """The payloads of one kind, in order."""
    return [event.payload for line in events for event in line if event.kind == kind]


def spent(events: list[list[RuntimeEvent]]) -> dict[str, float]:
    """All usage events added up; a cost that was never told is 0."""
    names = ("steps", "input", "cached", "output", "reasoning", "cost")
    return {name: sum(payload.get(name) or 0 for payload in payloads(events, "usage")) for name in names}

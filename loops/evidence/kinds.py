"""What kind of failure it was, with the line it was concluded from."""

import re
from collections import defaultdict

from loops.evidence.clean import Lines
from loops.evidence.model import Kind
from loops.evidence.score import Scored
from loops.evidence.steps import Step

# where several kinds speak equally loud, the earlier explains the later
ORDER: tuple[Kind, ...] = (
    "cancelled",
    "timeout",
    "memory",
    "infrastructure",
    "permission",
    "dependency",
    "test",
    "lint",
    "code",
    "configuration",
)
CODES: dict[int, tuple[Kind, str]] = {
    124: ("timeout", "exit code 124 is how `timeout` ends a command"),
    126: ("permission", "exit code 126: the command could not be executed"),
    127: ("configuration", "exit code 127: a command was not found"),
    137: ("memory", "exit code 137: the process was killed (SIGKILL), most often for want of memory"),
    143: ("cancelled", "exit code 143: the process was told to end (SIGTERM)"),
    134: ("code", "exit code 134: the program aborted (SIGABRT)"),
    136: ("code", "exit code 136: arithmetic fault (SIGFPE)"),
    139: ("code", "exit code 139: segmentation fault (SIGSEGV)"),
}


LINTING = re.compile(r"\b(?:clippy|lint(?:er|s|ing)?|eslint|golangci-lint|rubocop|fmt|format|prettier|vet)\b", re.I)


def kind_of(lines: Lines, scored: Scored, failing: Step | None) -> tuple[Kind, str]:
    """Weigh what the tools said in the failing step; the nearer to its end, the heavier."""
    weight: dict[Kind, float] = defaultdict(float)
    reason: dict[Kind, tuple[float, int]] = {}
    for i, shape in enumerate(scored.shapes):
        if shape is None or shape.kind is None or scored.points[i] < 50:
            continue
        if failing is not None and scored.step_of[i] is not failing:
            continue
        points = scored.points[i]
        weight[shape.kind] = max(weight[shape.kind], points)
        if shape.kind not in reason or points > reason[shape.kind][0]:
            reason[shape.kind] = (points, i)
    code = failing.exit_code if failing else None
    if code in CODES and not any(points >= 76 for points in weight.values()):
        return CODES[code]
    if not weight:
        return "unknown", "no tool that is known here spoke"
    best = max(weight, key=lambda k: (round(_loud(k, weight) / 8), -ORDER.index(k)))
    i = reason[best][1]
    linted = any(s is not None and s.tool == "clippy" for s in scored.shapes)
    if best == "code" and failing is not None and (linted or LINTING.search(failing.command or "")):
        best = "lint"
    shape = scored.shapes[i]
    tool = shape.tool if shape else ""
    return best, f"{tool} said on line {lines.numbers[i]}: {lines.texts[i].strip()[:160]}"


def _loud(kind: Kind, weight: dict[Kind, float]) -> float:
    """A traceback or a crash inside a failing test is the test's; a failing build of a test is the code's."""
    value = weight[kind]
    if kind == "code" and weight.get("test", 0) >= 70:
        value -= 16
    return value

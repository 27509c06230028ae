"""What kind of failure it was, with the line it was concluded from."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from loops.evidence.judging.score import Scored
from loops.evidence.model import Kind
from loops.evidence.reading.steps import Step
from loops.evidence.recognise.match import Matcher
from loops.evidence.recognise.shapes.shape import Shape
from loops.evidence.text.clean import Lines

# where several kinds speak equally loud, the earlier explains the later
ORDER: tuple[Kind, ...] = (
    "timeout",
    "infrastructure",
    "cancelled",
    "memory",
    "permission",
    "dependency",
    "test",
    "lint",
    "code",
    "configuration",
)
# what a program of the repository may print as well: beside a failing test it means nothing
MACHINERY = frozenset[Kind]({"infrastructure", "timeout", "cancelled", "memory", "permission"})
# an address of the job's own: what listens there, or does not, the repository started
OURS = re.compile(r"\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0|host\.docker\.internal)\b(?!\.)|\[::1\]")
HEARD = 50.0  # points that a line has left, in its step and place, to be heard at all
SURE = 76  # points of a shape that settles the matter
WRAPPERS = ("docker", "make", "ninja")  # repeat at their end that what they ran has failed
BEYOND = 12  # lines: what is said so far behind the machinery's fault is not its consequence
CODES: dict[int, tuple[Kind, str]] = {
    124: ("timeout", "exit code 124 is how `timeout` ends a command"),
    126: ("permission", "exit code 126: the command could not be executed"),
    127: ("configuration", "exit code 127: a command was not found"),
    130: ("cancelled", "exit code 130: the process was interrupted (SIGINT)"),
    137: ("memory", "exit code 137: the process was killed (SIGKILL), most often for want of memory"),
    143: ("cancelled", "exit code 143: the process was told to end (SIGTERM)"),
    134: ("code", "exit code 134: the program aborted (SIGABRT)"),
    136: ("code", "exit code 136: arithmetic fault (SIGFPE)"),
    139: ("code", "exit code 139: segmentation fault (SIGSEGV)"),
}


LINTING = re.compile(
    r"\b(?:clippy|lint(?:er|s|ing)?|eslint|golangci-lint|rubocop|clang-tidy|phpstan|psalm|credo|codespell|fmt|format|prettier|vet)\b",
    re.I,
)


@dataclass(frozen=True)
class Said:
    """One line that speaks for a kind of failure."""

    kind: Kind
    shape: Shape
    text: str
    at: int | None = None  # index of the line; None for an annotation


def kind_of(lines: Lines, scored: Scored, failing: Step | None, notes: Sequence[str] = ()) -> tuple[Kind, str]:
    """Weigh what the runner and the tools said in the failing step; `notes` are the runner's annotations of the job.

    The runner is believed first. Beside a failing test, only the runner and the exit code speak for the machinery.
    """
    said = [*_notes(notes), *_heard(lines, scored, failing)]
    runners = [one for one in said if one.shape.tool == "runner"]
    if runners:
        return _told(max(runners, key=lambda one: one.shape.points), lines)
    code = failing.exit_code if failing else None
    tested = any(one.shape.kind == "test" and one.shape.points >= SURE for one in said)
    if tested:
        # a limit that the test tool itself watches ends all that comes behind it
        if (
            late := next((one for one in said if one.shape.tool == "timeout" and one.shape.points >= SURE), None)
        ) is not None:
            return _told(late, lines)
        said = [one for one in said if one.kind not in MACHINERY]
    said = _without_consequences(said)
    if code in CODES and ((tested and code in (124, 137)) or not any(one.shape.points >= SURE for one in said)):
        return CODES[code]
    if not said:
        return "unknown", "no tool that is known here spoke"
    loudest = {kind: max(one.shape.points for one in said if one.kind == kind) for kind in {one.kind for one in said}}
    best = max(loudest, key=lambda kind: (_loud(kind, loudest), -ORDER.index(kind)))
    kind, reason = _told(max((one for one in said if one.kind == best), key=_telling), lines)
    linted = any(s is not None and s.tool == "clippy" for s in scored.shapes)
    if kind == "code" and failing is not None and (linted or LINTING.search(failing.command or "")):
        kind = "lint"
    return kind, reason


def _heard(lines: Lines, scored: Scored, failing: Step | None) -> list[Said]:
    asked_ours = failing is not None and OURS.search(failing.command or "") is not None
    heard = []
    for i, shape in enumerate(scored.shapes):
        if shape is None or shape.kind is None or scored.points[i] < HEARD:
            continue
        if failing is not None and scored.step_of[i] is not failing:
            continue
        text = lines.texts[i].strip()
        if shape.kind == "infrastructure" and shape.tool != "runner" and (asked_ours or OURS.search(text)):
            continue
        heard.append(Said(shape.kind, shape, text, i))
    return heard


def _notes(notes: Sequence[str]) -> list[Said]:
    marked = [f"##[error]{note}" for note in notes]
    matcher = Matcher(marked, "\n".join(marked))
    shapes = [matcher.match(i) for i in range(len(marked))]
    return [
        Said(shape.kind, shape, note)
        for note, shape in zip(notes, shapes, strict=True)
        if shape is not None and shape.kind is not None
    ]


def _without_consequences(said: list[Said]) -> list[Said]:
    """A fault of the machinery explains the other errors. One of the network that was overcome, as what is said far
    behind it shows, explains nothing."""
    sure = [one for one in said if one.at is not None and one.shape.points >= SURE]
    faults = [one for one in sure if one.kind in MACHINERY]
    if not faults:
        return said
    last = max(one.at or 0 for one in faults)
    behind = [one for one in sure if (one.at or 0) > last + BEYOND and one.shape.tool not in WRAPPERS]
    overcome = behind and all(one.kind == "infrastructure" for one in faults)
    return behind if overcome else [one for one in said if one.kind in MACHINERY]


def _told(one: Said, lines: Lines) -> tuple[Kind, str]:
    where = "in an annotation" if one.at is None else f"on line {lines.numbers[one.at]}"
    return one.kind, f"{one.shape.tool} said {where}: {one.text[:160]}"


def _telling(one: Said) -> tuple[bool, int]:
    """What went wrong tells more than how often; of equals, `max` takes the first."""
    return one.shape.role in ("test", "error", "place", "detail"), one.shape.points


def _loud(kind: Kind, loudest: dict[Kind, int]) -> int:
    """A traceback or a crash inside a failing test is the test's; a failing build of a test is the code's."""
    points = loudest[kind]
    if kind == "code" and loudest.get("test", 0) >= 70:
        points -= 16
    return round(points / 8)

"""What lines are worth for the sake of others: they read with them, ran them, name them, or come last."""

import math
import re
from collections.abc import Collection, Sequence

from loops.evidence.reading.steps import Step
from loops.evidence.recognise.match import read
from loops.evidence.recognise.shapes.shape import Shape
from loops.evidence.text.clean import Lines
from loops.evidence.text.general import DULL
from loops.evidence.text.normal import akin
from loops.evidence.text.wrapped import stream

BESIDE = 400  # lines of others at most between two of one program
CAUSE = 60.0  # points of a line that says what went wrong
COMMANDS = 6  # told in full, of those behind worthy lines
ERROR = "##[error]"
STACK = 16  # lines between what went wrong and the stack below it: what a test expected, and its source
LAST = 6  # lines of the failing step
CUT_OFF = 34.0  # points of those at least
PARENT = 40  # lines between it and the one that it is indented below

LIBRARY = re.compile(
    r"site-packages|dist-packages|node_modules|/usr/lib|/usr/local/|/rustc/|\.cargo/registry|/opt/hostedtoolcache|<frozen|node:internal|"
    r"/gems/|vendor/bundle|/vendor/|/go/pkg/mod|/usr/include|\b(?:java|javax|jdk|sun|org\.junit|org\.gradle|org\.apache\.maven|kotlin|scala|"
    r"org\.mockito|org\.springframework|org\.testng)\.|/_pytest/|importlib|/Microsoft\.|internal/process|\(internal/|"
    r"/include/c\+\+/|/libsanitizer/|/sysdeps/|<null> <null>"
)


def own_frames(lines: Lines, points: list[float], shapes: list[Shape | None]) -> None:
    """Of each stack below or above an error, the innermost frame that is no library's is a place worth going to."""
    stack: list[int] = []
    before = -1
    for i in range(len(points) + 1):
        shape = shapes[i] if i < len(points) else None
        if shape is not None and shape.role == "frame":
            stack.append(i)
            continue
        if not stack or (i < len(points) and i - stack[-1] <= 2 and not (shape and points[i] >= 60)):
            continue
        first, last = stack[0], stack[-1]
        python = shapes[first].tool in ("python", "pytest")  # type: ignore[union-attr] # all of `stack` have one
        beside = range(last + 1, last + 5) if python else range(max(first - STACK, before + 1), first)
        if any(0 <= j < len(points) and points[j] >= 60 for j in beside):
            ours = [j for j in stack if points[j] > 16 and not LIBRARY.search(lines.texts[j])]
            if ours:
                at = ours[-1] if python else ours[0]
                points[at] = max(points[at], min(64.0, points[at] * 1.6))
        before, stack = last, []


def near_the_end(
    lines: Lines, failing: Step | None, points: list[float], shapes: list[Shape | None], muted: Sequence[bool]
) -> set[int]:
    """The last lines before the end of the failing step are worth reading even where no word says so, and the very last
    ones, whose indexes are answered, whatever they are: there it was cut off."""
    if failing is None:
        end = len(points)
        first = 0
    else:
        first = failing.first + failing.head
        marks = (i for i in range(failing.last, first - 1, -1) if lines.texts[i].startswith(ERROR))
        end = next(marks, failing.last + 1)
    distance = 0
    last: set[int] = set()
    for i in range(end - 1, first - 1, -1):
        shape = shapes[i]
        said = any(map(str.isalnum, lines.texts[i]))
        if said and len(last) < LAST:
            last.add(i)
            points[i] = max(points[i], CUT_OFF)
        if muted[i] or (shape and shape.role == "noise") or DULL.match(lines.texts[i]):
            continue
        distance += 1
        if distance > 40:
            break
        near = 54.0 - 7.0 * math.log2(distance)
        points[i] = max(points[i], near) if points[i] < near else points[i] + max(0.0, near) * 0.12
    return last


def context(
    lines: Lines, points: list[float], shapes: list[Shape | None], step_of: list[Step], muted: Sequence[bool]
) -> None:
    """Give the lines that read with a worthy line a share of its worth."""
    earned = list(points)
    near_to = _neighbours(lines.texts)
    for i, worth in enumerate(points):
        if worth < 40:
            continue
        shape = shapes[i]
        before, after = (shape.before, shape.after) if shape else (1, 3)
        for step, reach in ((-1, before), (1, after)):
            j = i
            for d in range(1, reach + 1):
                j = near_to[step][j]
                if not 0 <= j < len(points) or step_of[j] is not step_of[i] or lines.gap_before(max(j, j - step)):
                    break
                near = shapes[j]
                if muted[j] or (near and near.role == "noise") or not lines.texts[j]:
                    continue
                if d > 2 and near and near.role == "frame" and LIBRARY.search(lines.texts[j]):
                    continue
                earned[j] = max(earned[j], worth * 0.72 * 0.94**d)
    points[:] = earned


def _neighbours(texts: Sequence[str]) -> dict[int, list[int]]:
    """By the direction, -1 or 1: which line is next to each, past what other programs print between two of one."""
    near = {-1: list(range(-1, len(texts) - 1)), 1: list(range(1, len(texts) + 1))}
    last: dict[str, int] = {}
    for i, text in enumerate(texts):
        if program := stream(text):
            before = last.get(program, -BESIDE)
            if i - before < BESIDE:
                near[-1][i], near[1][before] = before, i
            last[program] = i
    return near


def run_by(
    lines: Lines, points: list[float], step_of: list[Step], failing: Step | None, commands: Collection[int]
) -> None:
    """The command that printed a worthy line is worth reading, however far above it stands; others a little.

    `commands` are the numbers of lines that repeat one."""
    last: int | None = None
    ran: set[str] = set()
    of: dict[str, int] = {}
    step = None
    worthy = list(points)
    for i, text in enumerate(lines.texts):
        if step_of[i] is not step:
            step, last = step_of[i], None
            of.clear()
        if lines.numbers[i] in commands:
            last = i
            if "$ " in text:
                of[text.partition("$ ")[0]] = i
            if step.phase == "run":
                points[i] = max(points[i], 30.0 if step is failing or failing is None else 0.0)
        elif worthy[i] >= CAUSE:
            at = of.get(stream(text).rstrip(": "), last)
            if at is not None:
                kind = akin(lines.texts[at])
                told = 42.0
                if (step is failing or failing is None) and kind not in ran and len(ran) < COMMANDS:
                    told = 72.0
                    ran.add(kind)
                points[at] = max(points[at], told)


def parents(lines: Lines, points: list[float], step_of: list[Step]) -> None:
    """The line that an indented worthy one stands below names what it is about."""
    for i, worth in enumerate(list(points)):
        indent = _indent(lines.texts[i])
        if worth < CAUSE or not indent:
            continue
        for j in range(i - 1, max(i - PARENT, -1), -1):
            if step_of[j] is not step_of[i] or lines.gap_before(j + 1):
                break
            text = lines.texts[j]
            if text.strip() and _indent(text) < indent and any(map(str.isalnum, text)):
                points[j] = max(points[j], worth - 4)
                indent = _indent(text)
                if not indent:
                    break


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def claims(lines: Lines, points: list[float], shapes: list[Shape | None]) -> None:
    """A title is kept for the sake of the worthy lines of its tool below it."""
    titles: dict[tuple[str, str], int] = {}
    for i, shape in enumerate(shapes):
        if shape is None or shape.role == "noise":
            continue
        id_ = ""
        if "(?P<id>" in shape.pattern and (found := read(shape, lines.texts[i])):
            id_ = found["id"]
        if shape.role == "title":
            titles[shape.tool, id_] = i
        elif points[i] >= 50 and (at := titles.get((shape.tool, id_))) is not None:
            points[at] = max(points[at], points[i] - 3)

"""What each kept line is worth, in points of 0 to 100: by its shape where a tool is known, else by a general method."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from loops.evidence.changed import Changed
from loops.evidence.clean import Lines
from loops.evidence.general import DULL, general
from loops.evidence.match import Matcher, read
from loops.evidence.model import Annotation
from loops.evidence.normal import alike
from loops.evidence.shapes.shape import Shape
from loops.evidence.steps import Step
from loops.evidence.wrapped import stream, unwrapped

# where a log says so, its warnings are what failed it
GRAVE = (
    "treated as error",
    "warnings-as-errors",
    "warnaserror",
    "strict mode",
    "max-warnings",
    "too many warnings",
    "-D warnings",
    "-Dwarnings",
    "fatal-warnings",
    "--strict",
    "-Werror",
)
# commands that complain of a file by printing no more than its name
LISTERS = re.compile(r"\b(?:gofmt|goimports|gofumpt|fmt|shfmt|prettier|format|lint)\b", re.I)
BESIDE = 400  # lines of others at most between two of one program
BARE = re.compile(r"[\w./@-]+\.[a-z]\w{0,7}$")
THRESHOLD = 26.0  # below this a line is not shown, however much room is left

LIBRARY = re.compile(
    r"site-packages|dist-packages|node_modules|/usr/lib|/usr/local/|/rustc/|\.cargo/registry|/opt/hostedtoolcache|<frozen|node:internal|"
    r"/gems/|vendor/bundle|/vendor/|/go/pkg/mod|/usr/include|\b(?:java|javax|jdk|sun|org\.junit|org\.gradle|org\.apache\.maven|kotlin|scala|"
    r"org\.mockito|org\.springframework|org\.testng)\.|/_pytest/|importlib|/Microsoft\.|internal/process|\(internal/|"
    r"/include/c\+\+/|/libsanitizer/|/sysdeps/|<null> <null>"
)


@dataclass
class Scored:
    """Parallel to the kept lines: points, the points a line has by itself (wherever and beside whatever it stands),
    what of them it has for naming a changed file, whether it is part of a passage of noise, the recognised shape, the
    step."""

    points: list[float]
    own: list[float]
    favoured: list[int]
    muted: list[bool]
    shapes: list[Shape | None]
    step_of: list[Step]


def score(
    lines: Lines,
    steps: Sequence[Step],
    failing: Step | None,
    *,
    annotations: Sequence[Annotation] = (),
    changed_files: Sequence[str] = (),
    without: frozenset[str] = frozenset(),
) -> Scored:
    """Judge every kept line."""
    whole = "\n".join(lines.texts)
    matcher = Matcher(lines.texts, whole, without)
    grave = _grave(lines, failing)
    listing = failing is not None and LISTERS.search(failing.command or "") is not None
    # lines that differ in numbers alone hold the same words
    keys = {i: alike(text) for i, text in enumerate(lines.texts) if matcher.said(i)}
    likes = Counter(keys.values())
    shapes: list[Shape | None] = [None] * len(lines.texts)
    points = [0.0] * len(lines.texts)
    own = [0.0] * len(lines.texts)
    muted = [False] * len(lines.texts)
    step_of: list[Step] = []
    changed = Changed(changed_files)
    favoured = [0] * len(lines.texts)
    told = [a.message.split("\n")[0][:60] for a in annotations if len(a.message) > 8] + [
        a.path for a in annotations if a.path and a.path != ".github"
    ]
    for step in steps:
        weight = _weight(step, steps, failing)
        first_error = True
        until: re.Pattern[str] | None = None
        for i in range(step.first, step.last + 1):
            text = lines.texts[i]
            step_of.append(step)
            if i < step.first + step.head:
                points[i] = _heading(step, i - step.first, step is failing)
                continue
            shape = shapes[i] = matcher.match(i)
            if until is not None:
                if not until.match(text):
                    muted[i] = True
                    continue
                until = None
            if shape and shape.role == "noise":
                until = re.compile(shape.until) if shape.until else None
                continue
            worth = float(shape.points) if shape else 0.0
            if shape and shape.role == "frame" and LIBRARY.search(text):
                worth = 16.0
            if i in keys and worth < 60 and not (shape and worth >= 30 and shape.role != "frame"):
                # where warnings are what failed it, `choose` thins those of one shape out
                rare = 1 if grave and shape else likes[keys[i]]
                worth = max(worth, general(unwrapped(text), rare, grave))
            if listing and worth < 58 and step is failing and BARE.match(text) and not _heads(lines, i):
                worth = 58.0
            own[i] = worth * weight
            if worth >= 56 and first_error and step is failing:
                worth += 8
                first_error = False
            if worth and (favour := changed.favour(text)):
                worth += favour
                favoured[i] = favour
            if worth and told and any(t in text for t in told):
                worth += 14
            points[i] = worth * weight
    _own_frames(lines, points, shapes)
    _near_the_end(lines, failing, points, shapes, muted)
    _context(lines, points, shapes, step_of, muted)
    _claims(lines, points, shapes)
    for i, text in enumerate(lines.texts):
        if text.startswith("Complete job name: "):
            points[i] = max(points[i], 60.0)
    return Scored(points, own, favoured, muted, shapes, step_of)


def _heads(lines: Lines, i: int) -> bool:
    """Whether a bare name is the title of what is indented below it, and no complaint by itself."""
    return i + 1 < len(lines.texts) and lines.texts[i + 1][:1].isspace() and not lines.gap_before(i + 1)


def _grave(lines: Lines, failing: Step | None) -> bool:
    told = "\n".join(lines.texts if failing is None else lines.texts[failing.first : failing.last + 1])
    return any(text in told for text in GRAVE)


def _weight(step: Step, steps: Sequence[Step], failing: Step | None) -> float:
    if failing is None:
        return 0.3 if step.phase == "post" else 1.0
    if step is failing:
        return 1.0
    if step.phase == "post":
        return 0.2
    if step.failed_at is not None:
        return 0.66
    if step.phase == "setup":
        return 0.3
    return 0.5 if step.first < failing.first else 0.36


def _heading(step: Step, offset: int, failing: bool) -> float:
    """The step's own lines: what it ran; its shell and environment say little."""
    if offset > len(step.script):
        return 6.0 if failing else 0.0
    if failing:
        return 90.0 if offset <= 12 else 40.0
    return 44.0 if step.failed_at is not None and offset < 3 else 0.0


def _own_frames(lines: Lines, points: list[float], shapes: list[Shape | None]) -> None:
    """Of each stack below or above an error, the innermost frame that is no library's is a place worth going to."""
    stack: list[int] = []
    for i in range(len(points) + 1):
        shape = shapes[i] if i < len(points) else None
        if shape is not None and shape.role == "frame":
            stack.append(i)
            continue
        if not stack or (i < len(points) and i - stack[-1] <= 2 and not (shape and points[i] >= 60)):
            continue
        first, last = stack[0], stack[-1]
        python = shapes[first].tool in ("python", "pytest")  # type: ignore[union-attr] # all of `stack` have one
        beside = range(last + 1, last + 5) if python else range(first - 6, first)
        if any(0 <= j < len(points) and points[j] >= 60 for j in beside):
            ours = [j for j in stack if points[j] > 16 and not LIBRARY.search(lines.texts[j])]
            if ours:
                at = ours[-1] if python else ours[0]
                points[at] = max(points[at], min(64.0, points[at] * 1.6))
        stack = []


def _near_the_end(
    lines: Lines, failing: Step | None, points: list[float], shapes: list[Shape | None], muted: Sequence[bool]
) -> None:
    """The last lines before the end of the failing step are worth reading even where no word says so."""
    if failing is None:
        end = len(points)
        first = 0
    else:
        end = failing.failed_at if failing.failed_at is not None else failing.last + 1
        first = failing.first + failing.head
    distance = 0
    for i in range(end - 1, first - 1, -1):
        shape = shapes[i]
        if muted[i] or (shape and shape.role == "noise") or DULL.match(lines.texts[i]):
            continue
        distance += 1
        if distance > 40:
            break
        near = 46.0 - 6.5 * math.log2(distance)
        points[i] = max(points[i], near) if points[i] < near else points[i] + max(0.0, near) * 0.12


def _context(
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


def _claims(lines: Lines, points: list[float], shapes: list[Shape | None]) -> None:
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

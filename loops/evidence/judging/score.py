"""What each kept line is worth, in points of 0 to 100: by its shape where a tool is known, else by a general method."""

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from loops.evidence.judging.beside import ERROR, LIBRARY, claims, context, near_the_end, own_frames, parents, run_by
from loops.evidence.model import Annotation
from loops.evidence.passing.news import News
from loops.evidence.reading.steps import Step
from loops.evidence.recognise.match import Matcher
from loops.evidence.recognise.shapes.shape import Shape
from loops.evidence.text.changed import Changed
from loops.evidence.text.clean import Lines
from loops.evidence.text.general import DULL, general
from loops.evidence.text.normal import akin, alike
from loops.evidence.text.wrapped import unwrapped

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
BARE = re.compile(r"[\w./@-]+\.[a-z]\w{0,7}$")
KNOWN = 0.5  # of its points are left to a line that the passing log has, too
OFTEN = 3  # such lines of one like
NEW = 44.0  # points of a new line that says nothing of a failure
FRESH = 6.0  # more for one that does
ODD = 28.0  # points of a line like no other
INPUT = 58.0  # points of what an action was given, at most INPUTS lines of it
INPUTS = 24
# inputs that tell nothing
SETTING = re.compile(r"\s*$|with:$|##\[|  [\w-]*(?:token|debug|retries|user-agent|result-encoding)[\w-]*: ", re.I)
MARK = "##["
MARKED = 86.0  # points of the runner's own mark of an error, whatever tool it is about
THRESHOLD = 26.0  # below this a line is not shown, however much room is left


@dataclass
class Scored:
    """Parallel to the kept lines: points, the points a line has by itself (wherever and beside whatever it stands),
    what of them it has for naming a changed file, whether it is part of a passage of noise, the recognised shape, the
    step. `spared` are the indexes of those that many others like them do not make worth less."""

    points: list[float]
    own: list[float]
    favoured: list[int]
    muted: list[bool]
    shapes: list[Shape | None]
    step_of: list[Step]
    spared: set[int]


def score(
    lines: Lines,
    steps: Sequence[Step],
    failing: Step | None,
    *,
    annotations: Sequence[Annotation] = (),
    changed_files: Sequence[str] = (),
    without: frozenset[str] = frozenset(),
    ran: Collection[int] = (),
    odd: Collection[int] = (),
    news: News | None = None,
) -> Scored:
    """Judge every kept line. `ran` are the numbers of those that repeat a command, `odd` of those like no other of the
    log; with `news` of a green twin, those that it has count less."""
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
    fresh: Counter[str] = Counter()
    met: set[str] = set()
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
                points[i] = _heading(lines, step, i, step is failing)
                continue
            shape = shapes[i] = matcher.match(i)
            if until is not None:
                if not until.match(text) and not text.startswith(MARK):
                    muted[i] = True
                    continue
                until = None
            if shape and shape.role == "noise":
                until = re.compile(shape.until) if shape.until else None
                continue
            worth = float(shape.points) if shape else MARKED if text.startswith(ERROR) else 0.0
            if shape and shape.role == "frame" and LIBRARY.search(text):
                worth = 16.0
            if i in keys and worth < 60 and not (shape and worth >= 30 and shape.role != "frame"):
                # where warnings are what failed it, `choose` thins those of one shape out
                rare = 1 if grave and shape else likes[keys[i]]
                worth = max(worth, general(unwrapped(text), rare, grave))
            if listing and worth < 58 and step is failing and BARE.match(text) and not _heads(lines, i):
                worth = 58.0
            own[i] = worth * weight
            if news is not None and not (shape and shape.role == "noise"):
                worth = _against(news, lines, i, worth, fresh)
            if worth < ODD and lines.numbers[i] in odd and step is failing and not (shape and shape.role == "noise"):
                worth = ODD
            if i in keys and worth > 20 and likes[keys[i]] > 1 and keys[i] not in met and step is failing and not shape:
                # the first of many tells as much as one alone
                met.add(keys[i])
                worth = max(worth, general(unwrapped(text), 1, grave))
            if worth >= 56 and first_error and step is failing:
                worth += 8
                first_error = False
            if worth and (favour := changed.favour(text)):
                worth += favour
                favoured[i] = favour
            if worth and told and any(t in text for t in told):
                worth += 14
            points[i] = worth * weight
    own_frames(lines, points, shapes)
    spared = near_the_end(lines, failing, points, shapes, muted)
    context(lines, points, shapes, step_of, muted)
    run_by(lines, points, step_of, failing, ran)
    parents(lines, points, step_of)
    claims(lines, points, shapes)
    for i, text in enumerate(lines.texts):
        if text.startswith("Complete job name: "):
            points[i] = max(points[i], 60.0)
    return Scored(points, own, favoured, muted, shapes, step_of, spared)


def _against(news: News, lines: Lines, i: int, worth: float, fresh: Counter[str]) -> float:
    """What a line is worth beside the log of the same job that passed. `fresh` counts the lines by their like."""
    text = lines.texts[i]
    if not worth and DULL.match(text):
        return 0.0
    key = akin(text)
    fresh[key] += 1
    if not news.is_new(lines.numbers[i]):
        return worth * KNOWN if fresh[key] <= OFTEN else 0.0
    return max(worth + FRESH if worth else 0.0, NEW - 4.0 * math.log2(fresh[key]))


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


def _heading(lines: Lines, step: Step, i: int, failing: bool) -> float:
    """The step's own lines: what it ran, or what its action was given; its shell and environment say little."""
    offset = i - step.first
    if offset > len(step.script):
        given = failing and not step.script and "env:" not in lines.texts[step.first : i + 1]
        return INPUT if given and offset <= INPUTS and not SETTING.match(lines.texts[i]) else 6.0 if failing else 0.0
    if failing:
        return 90.0 if offset <= 12 else 40.0
    return 44.0 if step.failed_at is not None and offset < 3 else 0.0

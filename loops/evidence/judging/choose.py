"""Which lines are shown: the worthiest that fit, repeats worth little."""

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from loops.evidence.judging.score import THRESHOLD, Scored
from loops.evidence.text.clean import Lines
from loops.evidence.text.general import DULL, form
from loops.evidence.text.normal import akin

FILL = 0.7  # of the budget may go to what stands around the worthy lines, where those are few
AROUND = ((8, 16), (16, 40))  # lines before and after that count as around any line, and around a worthy one
SOFT = 0.75  # of the budget is for anything above the threshold; the rest is for the clearly worthy
WORTHY = 66.0
NARROW = 320  # characters shown of a line
BROAD = 900  # of a worthy one
ALIKE = 6  # lines that differ in numbers and names alone, of which no more are shown for standing around others
TITLED = 60  # lines below a title that it is about
SHORT = 3  # characters: a caret, a brace
OWN = 58.0  # points of a frame that is worth going to, and of what says itself what went wrong
FREELY = 8  # lines of one shape keep their points, and the last two
GAP = 24  # bytes that a gap costs


@dataclass(frozen=True)
class Chosen:
    """Indexes of the lines to show, in order, and how often each stands for its likes."""

    shown: tuple[int, ...]
    times: dict[int, int]


def choose(lines: Lines, scored: Scored, budget: int) -> Chosen:
    """`budget` is in bytes of rendered text."""
    points, times, again = _fold(lines, scored)
    order = sorted(
        (i for i, p in enumerate(points) if p >= THRESHOLD and i not in again), key=lambda i: (-points[i], i)
    )
    taken: set[int] = set()
    size = 0
    for i in order:
        cost = cost_of(lines, i, points[i])
        if i - 1 not in taken and i + 1 not in taken:
            cost += GAP
        if size + cost > (budget if points[i] >= WORTHY else budget * SOFT):
            continue
        taken.add(i)
        size += cost
    size = _fill(lines, scored, points, taken, again, size, budget * FILL)
    _bridge(lines, scored, taken, again, budget * SOFT - size)
    return Chosen(tuple(sorted(taken)), times)


def cost_of(lines: Lines, i: int, points: float) -> int:
    return len(clip(lines.texts[i], points).encode(errors="replace")) + len(str(lines.numbers[i])) + 3


def clip(text: str, points: float) -> str:
    room = BROAD if points >= WORTHY else NARROW
    if len(text) <= room:
        return text
    return f"{text[: room * 2 // 3]} [...] {text[-room // 3 :]}"


def _fold(lines: Lines, scored: Scored) -> tuple[list[float], dict[int, int], set[int]]:
    """Lower the points of repeats, and of the many of one shape; the first and the last keep theirs, and so do the
    lines that read with the name of a failing test that keeps its own.

    Answers the points, how often each line stands for its likes, and the repeats that follow upon their like at once.
    """
    points = list(scored.points)
    seen: dict[str, int] = {}
    met: Counter[str] = Counter()
    times: dict[int, int] = {}
    again: set[int] = set()
    # those that name a changed file are counted apart, for the many others not to push them out, and so is the frame
    # of a stack that is worth going to
    of_shape: Counter[tuple[int | str, bool, bool]] = Counter()
    told = {
        text.strip(): (id(shape) if shape else form(text), favour > 0, shape is not None and p >= OWN)
        for text, shape, favour, p in zip(lines.texts, scored.shapes, scored.favoured, points, strict=True)
        if p >= (40 if shape else THRESHOLD)
    }
    total = Counter(told.values())
    guarded = _guarded(lines, scored) | scored.spared
    for i, text in enumerate(lines.texts):
        key = text.strip()
        if i and key and key == lines.texts[i - 1].strip():
            again.add(i)
        if points[i] < THRESHOLD or not text:
            continue
        if len(key) <= SHORT:
            met[key] += 1
            points[i] *= 0.25 if met[key] > FREELY else 1.0
        elif key in seen:
            times[seen[key]] = times.get(seen[key], 1) + 1
            points[i] *= 0.5 if points[i] >= 85 and times[seen[key]] == 2 else 0.25
            continue
        seen.setdefault(key, i)
        shape = scored.shapes[i]
        like = told.get(key)
        if like is not None and points[i] >= (40 if shape else THRESHOLD):
            of_shape[like] += 1
            nth, last = of_shape[like], total[like] - of_shape[like]
            if nth > FREELY and last > 1 and i not in guarded:
                least = 0.3 if shape is None or shape.role == "frame" else 0.45
                points[i] *= max(least, 1 - 0.03 * (nth - FREELY))
                met[kind := akin(text)] += 1
                # where nothing else wants the room, it is theirs all the same
                if met[kind] <= ALIKE and (shape is None or shape.role != "frame"):
                    points[i] = max(points[i], THRESHOLD)
    return points, times, again


def _guarded(lines: Lines, scored: Scored) -> set[int]:
    """The lines that read with the first and the last names of failing tests, and what their tool says went wrong below
    the first and the last titles."""
    tests: dict[str, int] = {}
    titles: dict[str, int] = {}
    for i, shape in enumerate(scored.shapes):
        if shape is not None and shape.role == "test" and scored.points[i] >= 76:
            tests.setdefault(lines.texts[i].strip(), i)
        elif shape is not None and shape.role == "title" and scored.points[i] >= OWN:
            titles.setdefault(lines.texts[i].strip(), i)
    guarded: set[int] = set()
    for i in _ends(tests):
        shape = scored.shapes[i]
        if shape is not None:
            guarded.update(range(i - shape.before, i + shape.after + 1))
    for i in _ends(titles):
        title = scored.shapes[i]
        for j in range(i + 1, min(i + TITLED, len(scored.shapes))):
            shape = scored.shapes[j]
            if shape is not None and title is not None and shape.tool == title.tool:
                if shape.role == "title":
                    break
                if shape.role in ("detail", "error", "place"):
                    guarded.add(j)
    return guarded


def _ends(named: dict[str, int]) -> set[int]:
    found = list(named.values())
    return {*found[:FREELY], *found[-2:]}


def _fill(
    lines: Lines,
    scored: Scored,
    points: Sequence[float],
    taken: set[int],
    again: set[int],
    size: int,
    room: float,
) -> int:
    """Where little was found, show what stands around it, the nearest first; all of a step that is short."""
    if size >= room or not taken:
        return size
    steps = {id(scored.step_of[i]) for i in taken if scored.points[i] >= WORTHY}
    anchors = sorted(i for i in taken if scored.points[i] >= 40)
    distance: dict[int, float] = {}
    for side, sense in ((0, -1), (1, 1)):
        for i in anchors:
            for d in range(1, AROUND[points[i] >= WORTHY][side] + 1):
                j = i + sense * d
                if not 0 <= j < len(lines.texts) or scored.step_of[j] is not scored.step_of[i]:
                    break
                if lines.gap_before(max(j, j - sense)):
                    break
                weight = d * (1.6 if sense < 0 else 1.0)
                distance[j] = min(distance.get(j, weight), weight)
    fit = [
        j
        for j in distance
        if id(scored.step_of[j]) in steps and _tells(lines, scored, j) and j not in taken and j not in again
    ]
    alike = Counter(akin(lines.texts[i]) for i in taken)
    for j in sorted(fit, key=lambda j: (distance[j], j)):
        like = akin(lines.texts[j])
        alike[like] += 1
        if alike[like] > ALIKE:
            continue
        cost = cost_of(lines, j, 0)
        if size + cost > room:
            break
        taken.add(j)
        size += cost
    return size


def _tells(lines: Lines, scored: Scored, i: int) -> bool:
    shape = scored.shapes[i]
    return not (shape and shape.role == "noise") and not scored.muted[i] and not DULL.match(lines.texts[i])


def _bridge(lines: Lines, scored: Scored, taken: set[int], again: set[int], room: float) -> None:
    """Fill gaps of one or two lines: a gap costs as much as they do, and tells less."""
    ordered = sorted(taken)
    for a, b in itertools.pairwise(ordered):
        between = range(a + 1, b)
        if not 1 <= len(between) <= 2 or lines.numbers[b] - lines.numbers[a] != b - a:
            continue
        if any(i in again or ((s := scored.shapes[i]) and s.role == "noise") for i in between):
            continue
        cost = sum(cost_of(lines, i, 0) for i in between)
        if cost <= min(room, 200):
            taken.update(between)
            room -= cost

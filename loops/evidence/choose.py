"""Which lines are shown: the worthiest that fit, repeats worth little."""

import itertools
from collections import Counter
from dataclasses import dataclass

from loops.evidence.clean import Lines
from loops.evidence.score import THRESHOLD, Scored

SOFT = 0.62  # of the budget is for anything above the threshold; the rest is for the clearly worthy
WORTHY = 66.0
NARROW = 320  # characters shown of a line
BROAD = 900  # of a worthy one
GAP = 24  # bytes that a gap costs


@dataclass(frozen=True)
class Chosen:
    """Indexes of the lines to show, in order, and how often each stands for its likes."""

    shown: tuple[int, ...]
    times: dict[int, int]


def choose(lines: Lines, scored: Scored, budget: int) -> Chosen:
    """`budget` is in bytes of rendered text."""
    points, times = _fold(lines, scored)
    order = sorted((i for i, p in enumerate(points) if p >= THRESHOLD), key=lambda i: (-points[i], i))
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
    _bridge(lines, scored, taken, budget * SOFT - size)
    return Chosen(tuple(sorted(taken)), times)


def cost_of(lines: Lines, i: int, points: float) -> int:
    return len(clip(lines.texts[i], points).encode(errors="replace")) + len(str(lines.numbers[i])) + 3


def clip(text: str, points: float) -> str:
    room = BROAD if points >= WORTHY else NARROW
    if len(text) <= room:
        return text
    return f"{text[: room * 2 // 3]} [...] {text[-room // 3 :]}"


def _fold(lines: Lines, scored: Scored) -> tuple[list[float], dict[int, int]]:
    """Lower the points of repeats, and of the many of one shape; the first and the last keep theirs."""
    points = list(scored.points)
    seen: dict[str, int] = {}
    times: dict[int, int] = {}
    of_shape: Counter[int] = Counter()
    total = Counter(id(shape) for shape, p in zip(scored.shapes, points, strict=True) if shape is not None and p >= 40)
    for i, text in enumerate(lines.texts):
        if points[i] < THRESHOLD or not text:
            continue
        key = text.strip()
        if key in seen and len(key) > 3:
            times[seen[key]] = times.get(seen[key], 1) + 1
            points[i] *= 0.3 if points[i] < 85 else 0.5
            continue
        seen.setdefault(key, i)
        shape = scored.shapes[i]
        if shape is not None and points[i] >= 40:
            of_shape[id(shape)] += 1
            nth, last = of_shape[id(shape)], total[id(shape)] - of_shape[id(shape)]
            if nth > 8 and last > 1:
                points[i] *= max(0.45, 1 - 0.03 * (nth - 8))
    return points, times


def _bridge(lines: Lines, scored: Scored, taken: set[int], room: float) -> None:
    """Fill gaps of one or two lines: a gap costs as much as they do, and tells less."""
    ordered = sorted(taken)
    for a, b in itertools.pairwise(ordered):
        between = range(a + 1, b)
        if not 1 <= len(between) <= 2 or lines.numbers[b] - lines.numbers[a] != b - a:
            continue
        if any((s := scored.shapes[i]) and s.role == "noise" for i in between):
            continue
        cost = sum(cost_of(lines, i, 0) for i in between)
        if cost <= min(room, 200):
            taken.update(between)
            room -= cost

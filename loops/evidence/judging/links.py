"""Where the failure's own words first stood: a version that was fetched, a name that was set, far above it."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator

from loops.evidence.judging.score import Scored
from loops.evidence.text.clean import Lines
from loops.evidence.text.general import DULL

SOURCES = 24  # of the worthiest lines are looked at
WORDS = 24  # that are looked for
RARE = 8  # times that a word stands in the log at most
LINKS = 8  # lines at most
LONG = 6  # characters of a name at least
WORTHY = 60.0  # of a line whose words are looked for
VERSION = re.compile(r"(?<![\w.])v?\d+\.\d+[\w.+-]*\w")
# whole words that mean one thing only: with a digit, a mark or a capital within
TELLING = re.compile(r"[A-Za-z@](?:[\w@/.:+-]*[\w])")
SINGULAR = re.compile(r"\w[._/:@+-]\w|[a-z][A-Z]|[A-Za-z]\d")
TIME = re.compile(r"\d+\.\d+(?:m?s|sec|MB|kB|KB|GB)?$")


def linked(kept: Lines, scored: Scored, whole: Lines, redact: Callable[[str], str] | None) -> tuple[Lines, Scored]:
    """The same lines, and among them, with points, those of `whole` that first held a rare word of the worthiest."""
    text = "\n".join(whole.texts)
    starts: list[int] = []
    at = 0
    for line in whole.texts:
        starts.append(at)
        at += len(line) + 1
    new: dict[int, float] = {}
    for word, points in _words(kept, scored):
        first = text.find(word)
        if first < 0 or not 1 < text.count(word) <= RARE:
            continue
        i = bisect_left(starts, first + 1) - 1
        if not DULL.match(whole.texts[i]) or VERSION.search(word):
            new[i] = max(new.get(i, 0.0), points)
        if len(new) >= LINKS:
            break
    more = whole.only(sorted(new))
    worth = {whole.numbers[i]: points for i, points in new.items()}
    if redact is not None:
        more.texts[:] = [redact(line) for line in more.texts]
    joined = kept.with_more(more)
    if joined is not kept:
        scored = _spread(kept, scored, joined)
    for i, number in enumerate(joined.numbers):
        if number in worth:
            scored.points[i] = max(scored.points[i], worth[number])
    return joined, scored


def _words(kept: Lines, scored: Scored) -> Iterator[tuple[str, float]]:
    """The telling words of the worthiest lines, versions first, each once; and what the line is worth that has one."""
    order = sorted((i for i, p in enumerate(scored.points) if p >= WORTHY), key=lambda i: -scored.points[i])
    texts = [kept.texts[i] for i in order if not kept.texts[i].startswith("##[")][:SOURCES]
    versions = dict.fromkeys(found[0] for line in texts for found in VERSION.finditer(line) if not TIME.match(found[0]))
    names = dict.fromkeys(
        found[0]
        for line in texts
        for found in TELLING.finditer(line)
        if len(found[0]) >= 6 and SINGULAR.search(found[0])
    )
    yield from ((word, 62.0) for word in [*versions][: WORDS // 2])
    yield from ((word, 48.0) for word in [*names][: WORDS // 2])


def _spread(kept: Lines, scored: Scored, joined: Lines) -> Scored:
    """What is known of `kept`, for `joined`, in which some lines are new."""
    at = {number: i for i, number in enumerate(kept.numbers)}
    places = [at.get(number) for number in joined.numbers]
    step_of = []
    step = scored.step_of[0]
    for i in places:
        step = step if i is None else scored.step_of[i]
        step_of.append(step)
    return Scored(
        [0.0 if i is None else scored.points[i] for i in places],
        [0.0 if i is None else scored.own[i] for i in places],
        [0 if i is None else scored.favoured[i] for i in places],
        [i is not None and scored.muted[i] for i in places],
        [None if i is None else scored.shapes[i] for i in places],
        step_of,
        {i for i, place in enumerate(places) if place in scored.spared},
    )

"""The few lines of a failure that people are shown at GitHub; an agent gets the whole excerpt. Pure."""

import re
from collections.abc import Iterator

from loops.evidence.model import Distilled

LINES = 15
WIDTH = 200
PLACES, TESTS = 5, 4

_NUMBERED = re.compile(r"^(\d+)\| ?(.*)$")
_FRAME = re.compile(r"##\[|(?:env|shell|Complete job name):|\s+[A-Z_]+: ")  # what the runner prints around a step
_CONCLUDED_FROM = re.compile(r"on line (\d+)")


def brief(distilled: Distilled, lines: int = LINES) -> str:
    """At most `lines` lines: the command and its exit code, what failed and where, then the log around it."""
    told = list(dict.fromkeys(_told(distilled)))
    heard = "\n".join(told)
    for text in _log(distilled):
        if len(told) >= lines:
            break
        if text.strip() and text.strip() not in heard:
            told.append(text)
    return "\n".join(text[:WIDTH] for text in told[:lines])


def _told(distilled: Distilled) -> Iterator[str]:
    """What the recognisers made of the log."""
    if command := (distilled.command or distilled.step or "").strip():
        first, _, more = command.partition("\n")
        code = f"  (exit code {distilled.exit_code})" if distilled.exit_code is not None else ""
        yield f"$ {first[: WIDTH - 40]}{' …' if more else ''}{code}"
    for place in distilled.diagnostics[:PLACES]:
        at = f"{place.file}:{place.line}" if place.line else place.file
        yield f"{at}: {' '.join(place.message.split())}"
    yield from (f"failed: {test}" for test in distilled.failing_tests[:TESTS])
    if (hidden := len(distilled.failing_tests) - TESTS) > 0:
        yield f"and {hidden} more failing test{'s' if hidden > 1 else ''}"


def _log(distilled: Distilled) -> Iterator[str]:
    """The excerpt's lines of the log, from just before the one that the kind was concluded from; else all of it."""
    rows = distilled.excerpt.splitlines()
    numbered = [(int(found[1]), found[2]) for row in rows if (found := _NUMBERED.match(row))]
    if not numbered:
        yield from rows
        return
    concluded = _CONCLUDED_FROM.search(distilled.reason)
    at = int(concluded[1]) if concluded else numbered[0][0]
    start = next((index for index, (number, _) in enumerate(numbered) if number >= at), 0)
    yield from (text for _, text in numbered[max(0, start - 2) :] if not _FRAME.match(text))

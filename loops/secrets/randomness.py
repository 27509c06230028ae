"""Whether a value looks as if it had been made at random, as secrets are, or written by somebody."""

import math
import re
from collections import Counter
from collections.abc import Iterable

_MADE_UP = re.compile(
    r"(?i)your|change.?me|placeholder|redacted|dummy|fake|sample|x{4}|\*{3}|\.{3}|insert|replace|not.?a.?|12345678(?:90)?\Z|^[<{$%]"
)
_RANDOM = re.compile(r"[A-Za-z0-9+/=_~.-]{16,200}\Z")
_WORDS = re.compile(r"(?i)example|test|secret|passw|token|/[a-z]{1,40}/")
_PARTS = re.compile(r"[._/-]")


def made_up(value: str) -> bool:
    """Whether `value` says of itself that it is a placeholder."""
    return bool(_MADE_UP.search(value))


def mixed(text: str) -> bool:
    """Whether there are both letters and digits in it."""
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def entropy(text: str) -> float:
    """Bits per character, after Shannon."""
    counts: Iterable[int] = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)


def looks_random(value: str) -> bool:
    """Whether nobody would have written it: neither words, nor names joined by dots, nor a placeholder."""
    if not _RANDOM.match(value) or made_up(value) or _WORDS.search(value):
        return False
    if re.fullmatch(r"[0-9a-fA-F-]+", value):
        return len(value) >= 24 and entropy(value.lower()) >= 3
    # words joined by dots, dashes or underscores are names of things
    longest = max((len(run) for run in _PARTS.split(value)), default=0)
    return mixed(value) and longest >= 12 and entropy(value) >= 3.5

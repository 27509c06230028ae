"""Keeps what others wrote apart from what we say: fences that the text cannot close, and budgets."""

import re
import unicodedata
from collections.abc import Sequence

_RUNS = re.compile(r"`{3,}")
_UNSEEN = {"Cf", "Co", "Cs"}
_SEEN_FORMAT = {"\u200d", "\ufe0f"}


def fence(text: str, limit: int = 20_000) -> str:
    """`text` in a code fence longer than any fence in it, cut to `limit` characters, without invisible characters.

    Invisible characters (bidirectional overrides, zero-width and tag characters) can say to a model what a person
    reading the same page does not see; they go. Joiners inside emoji stay.
    """
    shown = cut(_visible(text), limit)
    longest = max((len(run.group()) for run in _RUNS.finditer(shown)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks}text\n{shown.rstrip()}\n{ticks}"


def inline(text: str, limit: int = 300) -> str:
    """`text` as one line without backticks, in backticks: for names, titles and paths."""
    line = " ".join(_visible(text).replace("`", "'").split())
    return f"`{line[:limit]}{'…' if len(line) > limit else ''}`" if line else "`(empty)`"


def cut(text: str, limit: int) -> str:
    """`text` with its middle left out when longer than `limit`; the tail is kept twice as long as the head."""
    if len(text) <= limit:
        return text
    head = limit // 3
    gone = len(text) - limit
    return f"{text[:head]}\n[… {gone} characters left out …]\n{text[len(text) - (limit - head) :]}"


def shares(sizes: Sequence[int], budget: int) -> list[int]:
    """How many of `budget` characters each text of `sizes` gets: small ones whole, the rest divided equally."""
    given = [0] * len(sizes)
    left = budget
    for place, index in enumerate(sorted(range(len(sizes)), key=lambda index: sizes[index])):
        given[index] = min(sizes[index], left // (len(sizes) - place))
        left -= given[index]
    return given


def _visible(text: str) -> str:
    if text.isascii():
        return text
    return "".join(char for char in text if unicodedata.category(char) not in _UNSEEN or char in _SEEN_FORMAT)

"""Whether one pattern for files still finds what another found. Pure."""

import re
from collections.abc import Sequence

from loops.guards.globs import names

_SAMPLE = 64
"""Names made up for one pattern at most."""


def covered(pattern: str, others: Sequence[str]) -> bool:
    """Whether each name that `pattern` surely finds is found by one of `others`: globs, folders or expressions."""
    samples = _samples(pattern)
    return all(any(_finds(other, sample) for other in others) for sample in samples)


def _samples(pattern: str) -> list[str]:
    """Names that the pattern finds."""
    named = []
    for each in _braces(pattern.lstrip("./").replace("<rootDir>/", "")):
        text = re.sub(r"[?@+!*]?\(([^()|]*)(?:\|([^()]*))?\)[?*+]?", lambda match: match[1], each)
        text = text.replace("**/", "sub/").replace("**", "sub/x").replace("*", "name").replace("?", "x")
        named.append(re.sub(r"\[[^\]]*\]", "t", text).strip("^$").replace("\\", ""))
    return named


def _one_brace(text: str) -> list[str]:
    match = re.search(r"\{([^{}]*)\}", text)
    if not match:
        return [text.replace("{", "")]
    return [text[: match.start()] + part + text[match.end() :] for part in match[1].split(",")]


def _finds(pattern: str, sample: str) -> bool:
    plain = pattern.lstrip("./").replace("<rootDir>/", "").rstrip("/")
    if plain in ("", "*", "**", "**/*"):
        return True
    if sample == plain or (sample.startswith(plain + "/") and "*" not in plain):
        return True
    return any(names(sample, one) for one in _braces(plain))


def _braces(text: str) -> list[str]:
    out = [text]
    while any("{" in each for each in out) and len(out) < _SAMPLE:
        out = [one for each in out for one in _one_brace(each)][:_SAMPLE]
    return out

"""Looks for secrets in what a turn would publish. Only what is new counts; a finding never holds the value."""

import bisect
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from loops.guards.model import Finding, shown
from loops.guards.secret_shapes import PRIVATE_KEY, SHAPES_OF_TOKENS, Match, passwords, tokens
from loops.secrets.redact import Redactor

LONG_LINE = 1_000
"""Longer lines are read in pieces of this many characters, so that no pattern runs away on a minified file."""
_OVERLAP = 300
_GUESSED_LINE = 500
_MOST = 20

_BARE = tuple(anchor for shape in SHAPES_OF_TOKENS for anchor in shape.anchors if len(anchor) > 2)
_SHORT = re.compile(r"[MNO][A-Za-z0-9_-]{23,25}\.|[0-9]{8,10}:[0-9A-Za-z_-]{35}|gl[a-z]{2,6}-")
_ANCHORS = re.compile("|".join(re.escape(anchor) for anchor in sorted(set(_BARE))) + "|" + _SHORT.pattern)
_MADE_FOR_TESTS = re.compile(
    r"(?i)(?:^|/)(?:tests?|specs?|__tests__|testdata|fixtures?|mocks?|__mocks__|examples?|docs?|e2e|cassettes|stories)/"
    r"|(?:^|/)(?:test_[^/]*|conftest\.py|[^/]*[._-](?:test|tests|spec|specs|fixture|stories)\.[^/]+|[^/]*\.(?:md|rst|adoc|mdx|snap))$"
    r"|(?:^|/)[^/]*(?:Test|Tests|Spec)\.[A-Za-z]+$"
)
_GENERATED = re.compile(
    r"(?i)(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|[^/]*\.lock|pnpm-lock\.yaml|go\.sum|packages\.lock\.json|[^/]*\.resolved)$"
    r"|\.(?:min\.js|min\.css|map|svg|ipynb|po)$"
)


@dataclass(frozen=True)
class Hit:
    """A secret on one line of a file. `value` is for comparing with the file as it was, never for showing."""

    kind: str
    line: int
    sure: bool
    value: str = field(repr=False)


def for_tests(path: str) -> bool:
    """Whether made-up credentials are what a reader expects in this file: tests, fixtures, examples, documents."""
    return bool(_MADE_FOR_TESTS.search(path))


def known(redactor: Redactor, content: bytes) -> list[Hit]:
    """The secrets that the turn itself was given, in any spelling; in binary files as well."""
    text = content.decode("latin-1") if b"\0" in content[:8000] else content.decode("utf-8", "replace")
    spans = redactor.known(text)
    lines = _Lines(text) if spans else None
    return (
        [Hit("secret that this session was given", lines.at(start), True, text[start:end]) for start, end in spans]
        if lines
        else []
    )


def scan(path: str, text: str) -> Iterator[Hit]:
    """Everything in a file that looks like a secret, the first `_MOST` of them."""
    yield from itertools.islice(_all(path, text), _MOST)


def _all(path: str, text: str) -> Iterator[Hit]:
    lines = _Lines(text)
    if "PRIVATE KEY" in text or "PuTTY-User-Key-File" in text:
        for found in PRIVATE_KEY.finditer(text):
            # the beginning of the body tells this key from another
            body = re.sub(r"[^A-Za-z0-9+/=]", "", text[found.end() - 16 : found.end() + 64])
            yield Hit("private key", lines.at(found.start()), True, body)
    seen: set[tuple[int, str]] = set()
    starts = sorted({lines.at(found.start()) for found in _ANCHORS.finditer(text)})
    for number in starts:
        for match in _pieces(lines.text(number)):
            if not any(number == at and (match.value in value or value in match.value) for at, value in seen):
                seen.add((number, match.value))
                yield Hit(match.kind, number, match.sure, match.value)
    if _GENERATED.search(path):
        return
    for number, line in lines.short(_GUESSED_LINE):
        for match in passwords(path, line):
            if not any(number == at and (match.value in value or value in match.value) for at, value in seen):
                seen.add((number, match.value))
                yield Hit(match.kind, number, match.sure, match.value)


def _pieces(line: str) -> Iterator[Match]:
    if len(line) <= LONG_LINE:
        yield from tokens(line)
        return
    for start in range(0, len(line), LONG_LINE - _OVERLAP):
        piece = line[start : start + LONG_LINE]
        if _ANCHORS.search(piece):
            yield from tokens(piece)


class _Lines:
    """A text by line numbers, from 1."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends = [found.start() for found in re.finditer("\n", text)]

    def at(self, place: int) -> int:
        return bisect.bisect_left(self._ends, place) + 1

    def text(self, number: int) -> str:
        start = self._ends[number - 2] + 1 if number > 1 else 0
        end = self._ends[number - 1] if number <= len(self._ends) else len(self._text)
        return self._text[start:end]

    def short(self, most: int) -> Iterator[tuple[int, str]]:
        """The lines of up to `most` characters that could name a password."""
        start = 0
        for number, end in enumerate([*self._ends, len(self._text)], 1):
            if 8 < end - start <= most:
                yield number, self._text[start:end]
            start = end + 1


def only_new(hits: Iterable[Hit], before: str | None) -> list[Hit]:
    """The hits whose value the file did not hold before."""
    if before is None:
        return list(hits)
    squeezed = re.sub(r"[^A-Za-z0-9+/=]", "", before)
    return [hit for hit in hits if hit.value not in (squeezed if hit.kind == "private key" else before)]


def finding(path: str, hit: Hit) -> Finding:
    """What people are told of a hit: where it is and what kind, not what."""
    article = "an" if hit.kind[:1] in "AaEeIiOo" else "a"
    text = (
        f"{shown(path)} line {hit.line} looks to hold {article} {hit.kind}. Read it from the environment or a secret "
        "store instead; if it is no secret, a person can commit it."
    )
    return Finding("secret", path, text, hit.line)

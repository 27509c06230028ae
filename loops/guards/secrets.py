"""Looks for secrets in what a turn would publish. Only what is new counts; a finding never holds the value."""

import bisect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from loops.guards.hidden import layers
from loops.guards.model import Finding, shown
from loops.guards.scattered import scattered
from loops.secrets.kind import Strength
from loops.secrets.randomness import entropy, made_up, mixed
from loops.secrets.recognise import Match, compiled, matches, one_byte_each
from loops.secrets.redact import Redactor

MOST = 20
"""Findings for one file."""
GIVEN = "secret that this session was given"
_TEXT_HEAD = 8_000

_MADE_FOR_TESTS = re.compile(
    r"(?i)(?:^|/)(?:tests?|specs?|__tests__|testdata|fixtures?|mocks?|__mocks__|examples?|docs?|e2e|cassettes|stories)/"
    r"|(?:^|/)(?:test_[^/]*|conftest\.py|[^/]*[._-](?:test|tests|spec|specs|fixture|stories)\.[^/]+|[^/]*\.(?:md|rst|adoc|mdx|snap))$"
    r"|(?:^|/)[^/]*(?:Test|Tests|Spec)\.[A-Za-z]+$"
)
_GENERATED = re.compile(
    r"(?i)(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|[^/]*\.lock|pnpm-lock\.yaml|go\.sum|packages\.lock\.json|[^/]*\.resolved)$"
    r"|\.(?:min\.js|min\.css|map|svg|ipynb|po)$"
)
# Where a value without quotes is a value, and no expression.
_SETTINGS = re.compile(r"(?i)\.(?:ya?ml|ini|cfg|conf|config|properties|toml|env|tfvars|txt)$|(?:^|/)[^./]+$")
_BODY = compiled(
    r"\A[\s\"'+,;\\nr>|`.)(-]{0,80}"
    r"(?:[A-Za-z0-9-]{1,30}: [^\n\\]{0,200}(?:\\r|\\n|[\s\"'+,]){1,80}){0,4}[A-Za-z0-9+/=]{16}"
)
"""What comes after the head of a private key; code that only names the head is none."""
_LOCAL = re.compile(
    r"(?i)localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|[^.]+\Z|.*\.?example\.(?:com|org|net)\Z|.*\.(?:test|local|localhost|invalid|example|internal)\Z"
)
_HOST = re.compile(r"@([A-Za-z0-9_.-]{1,200})")
_COMMON = frozenset(
    ("password", "passw0rd", "secret", "postgres", "username", "example", "changeit", "mysecret", "letmein", "rootpass")
)
_WRITTEN_ESCAPES = ("\\n", "\\t", "\\r")
_BASE64 = re.compile(r"[A-Za-z0-9+/=]+")


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


def hits(path: str, content: bytes, redactor: Redactor) -> list[Hit]:
    """Every secret in a file: what the turn was given, in any spelling, what has a secret's shape, and both in what is
    packed or encoded there. A line is told once."""
    binary = b"\0" in content[:_TEXT_HEAD]
    text = content.decode("latin-1") if binary else content.decode("utf-8", "replace")
    lines = Lines(text)
    found = _known(redactor, text, lines)
    told = {hit.line for hit in found}
    shapes = scan(path, text) if not binary else (hit for hit in scan(path, text) if hit.sure)
    found += [hit for hit in shapes if hit.line not in told]
    found += _scattered(redactor, content, {hit.line for hit in found})
    if found and binary:
        return found
    told |= {hit.line for hit in found}
    for layer in layers(content):
        for start, kind, value in _in_layer(path, layer.data, redactor):
            line = content.count(b"\n", 0, layer.place(start)) + 1
            if line not in told:
                told.add(line)
                found.append(Hit(f"{kind}, packed or encoded", line, True, value))
    return found


def sayable(text: str, redactor: Redactor) -> str:
    """Text for people and for GitHub: redacted, and withheld where a secret stands in it in disguise."""
    shown = redactor.text(text)
    if any(hit.sure for hit in hits("", shown.encode("utf-8", "replace"), redactor)):
        return "[withheld: a secret stands in this text, written in a way of its own]"
    return shown


def in_name(path: str, redactor: Redactor) -> Finding | None:
    """What is said of a name that holds a secret itself; the secret is left out of what is said."""
    if not any(hit.sure for hit in hits("", path.encode("utf-8", "surrogateescape"), redactor)):
        return None
    masked = redactor.text(path)
    if masked == path:
        masked = "(left out)"  # it is disguised, and would be shown as it is
    return Finding("secret", masked, f"The name {shown(masked)} holds a secret. Give the file another name.")


def _known(redactor: Redactor, text: str, lines: "Lines") -> list[Hit]:
    spans = redactor.known(text)
    return [Hit(GIVEN, lines.at(start), True, text[start:end]) for start, end in spans]


def _scattered(redactor: Redactor, content: bytes, told: set[int]) -> Iterator[Hit]:
    for line, value in scattered(redactor.parts, content):
        if line + 1 not in told:
            told.add(line + 1)
            yield Hit(f"{GIVEN}, taken apart", line + 1, True, value)


def _in_layer(path: str, data: bytes, redactor: Redactor) -> Iterator[tuple[int, str, str]]:
    text = data.decode("latin-1")
    # bytes that were decoded may be UTF-8: given values are looked for in that reading, shapes are ASCII
    for start, end in redactor.known(text):
        yield start, GIVEN, text[start:end]
    for line, value in scattered(redactor.parts, data):
        yield sum(len(each) + 1 for each in data.split(b"\n", line)[:line]), GIVEN, value
    for match, value in _shapes(path, text):
        if match.kind.strength is Strength.CERTAIN:
            yield match.start, match.kind.name, value


def scan(path: str, text: str) -> Iterator[Hit]:
    """Everything in a file with the shape of a secret, as far as it is no placeholder; no two for the same text."""
    lines = Lines(text)
    for match, value in _shapes(path, text):
        yield Hit(match.kind.name, lines.at(match.start), match.kind.strength is Strength.CERTAIN, value)


def _shapes(path: str, text: str) -> Iterator[tuple[Match, str]]:
    taken = bytearray(len(text))
    for match in matches(text):
        start, end = match.start, match.end
        if taken.find(1, start, end) < 0 and _is_secret(path, text, match):
            taken[start:end] = b"\1" * (end - start)
            # the beginning of a private key's body tells this key from another
            value = re.sub(r"[^A-Za-z0-9+/=]", "", text[start : start + 600]) if match.kind.until else text[start:end]
            yield match, value


def _is_secret(path: str, text: str, match: Match) -> bool:
    kind, value = match.kind, text[match.start : match.end]
    if kind.until:
        return value.startswith("PuTTY") or bool(_BODY.search(one_byte_each(value[_head(value) : 1_200])))
    if kind.strength is Strength.NAMED:
        if _GENERATED.search(path):
            return False
        return bool(_SETTINGS.search(path)) or text[match.start - 1 : match.start] in ("'", '"', "`")
    if kind.name == "password in a URL":
        host = _HOST.match(text, match.end, match.end + 202)
        return not (host and _LOCAL.match(host[1])) and not made_up(value) and value.lower() not in _COMMON
    return _stands_alone(text, match) and not _placeholder(match, value)


def _head(value: str) -> int:
    """How long the first line of a private key is: up to the dashes that end it."""
    end = value.find("----", 5)
    return end + (5 if value.startswith("-----") else 4)


def _stands_alone(text: str, match: Match) -> bool:
    """Not a piece of something longer, such as base64 of a picture."""
    start, end = match.begin, match.end
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    if _is_word(before) and _is_word(text[start]):
        # in `\ntoken`, written as an escape, the letter belongs to the escape
        return text[max(0, start - 2) : start] in _WRITTEN_ESCAPES
    if before in ("+", "/") and before and _BASE64.fullmatch(text, start, end):
        return False
    return not (_is_word(text[end - 1]) and _is_word(after))


def _is_word(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _placeholder(match: Match, value: str) -> bool:
    body = value.split("_", 1)[-1] if "_" in value[:12] else value
    if made_up(value) or set(body.lower()) <= set("x0-_.*"):
        return True
    if match.kind.strength is Strength.LIKELY:
        return entropy(value) < 3.5
    # an identifier such as `sk-loading-indicator` has no digits, or one
    return not mixed(body) or entropy(body) < 3


class Lines:
    """A text by line numbers, from 1."""

    def __init__(self, text: str) -> None:
        self._ends = [found.start() for found in re.finditer("\n", text)]

    def at(self, place: int) -> int:
        return bisect.bisect_left(self._ends, place) + 1


def only_new(found: Iterable[Hit], before: Iterable[Hit]) -> list[Hit]:
    """The hits whose value the file did not hold before."""
    values = {hit.value for hit in before}
    return [hit for hit in found if hit.value not in values]


def finding(path: str, hit: Hit) -> Finding:
    """What people are told of a hit: where it is and what kind, not what."""
    article = "an" if hit.kind[:1] in "AaEeIiOo" else "a"
    text = (
        f"{shown(path)} line {hit.line} looks to hold {article} {hit.kind}. Read it from the environment or a secret "
        "store instead; if it is no secret, a person can commit it."
    )
    return Finding("secret", path, text, hit.line)

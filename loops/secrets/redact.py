"""Takes secrets out of everything that leaves a box: known values in every spelling, and shapes of tokens and keys."""

import base64
import html
import json
import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote, quote_plus

MASK = "[redacted]"
SHORTEST = 6
"""Shorter known values are not looked for: they would black out ordinary text."""
_HELD_WORD = 4_096
"""A stream holds back at most this many characters of a word that has not ended."""
_HELD = 32_768
"""A stream holds back at most this many characters in all (a private key that does not end)."""

_ANSI = re.compile(
    r"(?:\x1b|\\u001[bB]|\\x1[bB]|\\e|\\033)(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])"
)

# Each shape begins with literal text, which lets `re` skip through what holds none of it. Look-behinds keep a prefix
# in the middle of a word (`task-…`) from matching. GitHub: the long form of installation tokens is `ghs_<app>_<JWT>`,
# with dots and underscores (GitHub's REST description, 2026); the older forms are 40 characters.
SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (anchor, re.compile(pattern))
    for anchor, pattern in (
        ("gh", r"gh[pousr]_[A-Za-z0-9._-]{20,}"),
        ("github_pat_", r"github_pat_[A-Za-z0-9_]{20,}"),
        ("sk-", r"sk-(?<![A-Za-z0-9]sk-)[A-Za-z0-9_-]{16,}"),
        ("xai-", r"xai-(?<![A-Za-z0-9]xai-)[A-Za-z0-9]{32,}"),
        ("gsk_", r"gsk_[A-Za-z0-9]{32,}"),
        ("hf_", r"hf_(?<![A-Za-z0-9]hf_)[A-Za-z0-9]{30,}"),
        ("r8_", r"r8_(?<![A-Za-z0-9]r8_)[A-Za-z0-9]{32,}"),
        ("AIza", r"AIza[A-Za-z0-9_-]{35}"),
        ("AKIA", r"AKIA(?<![A-Z0-9]AKIA)[A-Z0-9]{16}(?![A-Z0-9])"),
        ("ASIA", r"ASIA(?<![A-Z0-9]ASIA)[A-Z0-9]{16}(?![A-Z0-9])"),
        ("xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
        ("glpat-", r"glpat-[A-Za-z0-9_.-]{20,}"),
        ("npm_", r"npm_(?<![A-Za-z0-9]npm_)[A-Za-z0-9]{36,}"),
        ("pypi-", r"pypi-AgE[A-Za-z0-9_-]{32,}"),
        ("eyJ", r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
        (
            "-----BEGIN ",
            r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*-----|\Z)",
        ),
    )
)
# What a shell escapes: within double quotes, and outside of quotes (`printf %q`, with and without the comma).
_SPECIAL = tuple(
    map(re.compile, (r'[\\"$`]', r"""[ \t!"#$&'()*;<>?\[\\\]^`{|}~]""", r"""[ \t!"#$&'()*,;<>?\[\\\]^`{|}~]"""))
)
_WORD_TAIL = re.compile(r"[^\s\"'<>|,;(){}\[\]]*\Z")
# A line of encoded text that may go on in the next one; one that ends in a shorter word waits for nothing.
_WRAPPED = re.compile(r"[A-Za-z0-9+/_-]{16}=*[\r\n]+[A-Za-z0-9+/=_-]*\Z")
_OPEN_ESCAPE = re.compile(r"(?:\x1b|\\(?:u(?:0(?:0(?:1[bB]?)?)?)?)?|\\x?1?|\\0?3?)(?:[\[\]][^@-~]*)?\Z")


class Redactor:
    """Knows some secrets and all shapes. Build one per turn; it is immutable and may be shared between threads."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = list(secrets)
        parts = {part for secret in known for part in parts_of(secret)}
        lines = {line.strip() for secret in known for line in secret.splitlines() if len(line.strip()) >= 16}
        self._encoded = frozenset(code for part in parts for code in _base64(part))
        spellings = {spelling for part in parts for spelling in _spellings(part)} | lines | self._encoded
        self._values = sorted(spellings, key=len, reverse=True)

    def knowing(self, secrets: Iterable[str]) -> "Redactor":
        """One that knows these secrets too."""
        more = Redactor(secrets)
        more._values = sorted({*self._values, *more._values}, key=len, reverse=True)
        more._encoded |= self._encoded
        return more

    @property
    def spellings(self) -> Sequence[str]:
        """Every spelling that is looked for, the longest first."""
        return self._values

    def text(self, text: str) -> str:
        """`text` with every secret replaced by `MASK`. Escape sequences inside or around a secret do not hide it."""
        return _masked(text, self._spans(text))

    def value(self, value: object) -> object:
        """A JSON value with every string in it redacted, keys included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(key)): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value

    def known(self, text: str) -> list[tuple[int, int]]:
        """Where the values it knows stand in `text`, sorted and without overlap; shapes do not count."""
        return _merged(self._values_in(text))

    def stream(self) -> "RedactedStream":
        """For text that comes in pieces: a secret that is split between two of them is found all the same."""
        return RedactedStream(self)

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """Where secrets are in `text`: sorted, without overlap."""
        if not _has_escape(text):
            return _merged(self._found(text))
        # Three readings: an escape inside a secret must vanish, one before it must still end the word before, and what
        # only looks like an escape must not swallow a secret's first character.
        plain, places = _without_escapes(text)
        found = [(places[start], places[end - 1] + 1) for start, end in self._found(plain)]
        found += self._found(_ANSI.sub(lambda match: " " * len(match.group()), text))
        return _merged(found + self._found(text))

    def _values_in(self, text: str) -> list[tuple[int, int]]:
        found = self._wrapped_in(text)
        for value in self._values:
            if value not in text:
                continue
            at = text.find(value)
            while at >= 0:
                found.append((at, at + len(value)))
                at = text.find(value, at + len(value))
        return found

    def _wrapped_in(self, text: str) -> list[tuple[int, int]]:
        """Base64 that goes on in the next line, as `base64` prints it."""
        flat = _flat(text) if "\n" in text else ""
        wrapped = [code for code in self._encoded if code in flat and code not in text]
        places = _places(text) if wrapped else []
        return [
            (places[match.start()], places[match.end() - 1] + 1)
            for code in wrapped
            for match in re.finditer(re.escape(code), flat)
        ]

    def _found(self, text: str) -> list[tuple[int, int]]:
        found = self._values_in(text)
        for anchor, shape in SHAPES:
            if anchor in text:
                found += (match.span() for match in shape.finditer(text))
        return found

    def _unfinished(self, text: str) -> int:
        """How many characters at the end of `text` may be the beginning of a secret."""
        held = self._open(text)
        if _has_escape(text):
            plain, places = _without_escapes(text)
            open_plain = self._open(plain)
            held = max(held, len(text) - places[len(plain) - open_plain] if open_plain else 0)
        escape = _OPEN_ESCAPE.search(text[-64:])
        return max(held, len(escape.group()) if escape else 0)

    def _open(self, text: str) -> int:
        begin = text.rfind("-----BEGIN ")
        if begin >= 0 and "-----END" not in text[begin:]:
            return len(text) - begin
        tail = text[-_HELD_WORD:]
        word = _WORD_TAIL.search(tail)
        held = max(len(word.group()) if word else 0, max((_overlap(text, value) for value in self._values), default=0))
        if line := _WRAPPED.search(tail):
            begun = max((_overlap(_flat(tail), code) for code in self._encoded), default=0)
            held = max(held, len(tail) - min(line.start(), _places(tail)[-begun]) if begun else 0)
        return held


class RedactedStream:
    """Text in, redacted text out, a little later. Call `flush` at the end.

    `held` is what is held back, unredacted, for going on in another process: a secret, to be stored encrypted only.
    """

    def __init__(self, redactor: Redactor, held: str = "") -> None:
        self._redactor = redactor
        self.held = held

    def feed(self, chunk: str) -> str:
        """What of the text so far can be shown safely."""
        text = self.held + chunk
        spans = self._redactor._spans(text)
        cut = len(text) - self._redactor._unfinished(text)
        for start, end in reversed(spans):
            if start < cut <= end:
                cut = start
        # an escape that is cut in two would no longer be seen as one
        for match in _ANSI.finditer(text) if _has_escape(text) else ():
            if match.start() < cut < match.end():
                cut = match.start()
        if len(text) - cut > _HELD:
            cut = len(text)
        self.held = text[cut:]
        return _masked(text[:cut], [span for span in spans if span[0] < cut])

    def flush(self) -> str:
        """The rest."""
        rest, self.held = self._redactor.text(self.held), ""
        return rest


def parts_of(secret: str) -> set[str]:
    """The values to look for in one secret: itself and, of a JSON document (a credentials file), the strings in it."""
    parts = {secret, secret.strip()}
    try:
        document = json.loads(secret)
    except ValueError:
        document = None
    if isinstance(document, dict | list):
        parts |= {text for text in _strings(document) if len(text) >= 16}
    return {part for part in parts if len(part) >= SHORTEST}


def _strings(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _spellings(secret: str) -> set[str]:
    once = json.dumps(secret)[1:-1]
    literal = json.dumps(secret, ensure_ascii=False)[1:-1]
    found = {secret, once, literal, json.dumps(once)[1:-1], literal.replace("/", "\\/"), repr(secret)[1:-1]}
    # as some languages write JSON, so that it may stand in HTML
    found |= {_escaped(text, chars) for text in (once, literal) for chars in ("<>&", "<>&'")}
    found |= {html.escape(secret), html.escape(secret).replace("&#x27;", "&#39;"), html.escape(secret, quote=False)}
    found |= {secret.replace("'", "'\"'\"'"), secret.replace("'", "'\\''")}
    found |= {special.sub(r"\\\g<0>", secret) for special in _SPECIAL}
    for quoted in (quote(secret, safe=""), quote(secret), quote_plus(secret)):
        found |= {quoted, re.sub(r"%[0-9A-F]{2}", lambda match: match.group().lower(), quoted)}
    found.add(secret.encode().hex())
    return {spelling for spelling in found if len(spelling) >= SHORTEST}


def _escaped(text: str, chars: str) -> str:
    return "".join(f"\\u{ord(char):04x}" if char in chars else char for char in text)


def _base64(secret: str) -> set[str]:
    """Inside a longer encoded text (`user:secret`) the secret may begin at any of three places of a base64 group; the
    characters at both ends that also depend on the neighbours are left out.
    """
    data, found = secret.encode(), set()
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + data).rstrip(b"=")
        core = encoded[(0, 2, 3)[shift] : (len(data) + shift) * 8 // 6].decode()
        found |= {core, core.replace("+", "-").replace("/", "_")}
    return {spelling for spelling in found if len(spelling) >= SHORTEST}


def _flat(text: str) -> str:
    return text.replace("\n", "").replace("\r", "")


def _places(text: str) -> list[int]:
    """Where each character of the flat text stands in `text`."""
    return [at for at, char in enumerate(text) if char not in "\r\n"]


def _masked(text: str, spans: list[tuple[int, int]]) -> str:
    if not spans:
        return text
    out: list[str] = []
    at = 0
    for start, end in spans:
        out += (text[at:start], MASK)
        at = end
    out.append(text[at:])
    return "".join(out)


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _has_escape(text: str) -> bool:
    return "\x1b" in text or "\\u001" in text or "\\x1" in text or "\\e" in text or "\\033" in text


def _without_escapes(text: str) -> tuple[str, list[int]]:
    plain: list[str] = []
    places: list[int] = []
    at = 0
    for match in _ANSI.finditer(text):
        plain.append(text[at : match.start()])
        places.extend(range(at, match.start()))
        at = match.end()
    plain.append(text[at:])
    places.extend(range(at, len(text)))
    return "".join(plain), places


def _overlap(text: str, value: str) -> int:
    """Length of the longest end of `text` that is a beginning of `value`, but not all of it."""
    longest = min(len(text), len(value) - 1)
    tail = text[-longest:] if longest else ""
    at = tail.find(value[0])
    while at >= 0:
        if value.startswith(tail[at:]):
            return len(tail) - at
        at = tail.find(value[0], at + 1)
    return 0

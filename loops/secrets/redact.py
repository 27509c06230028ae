"""Takes secrets out of everything that leaves a box: known values in every spelling, and the catalogue's shapes.

All of it takes time linear in the text's length, whoever wrote the text.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from loops.secrets.encodings import encodings_of, parts_of, spellings_of
from loops.secrets.literals import Literals
from loops.secrets.readings import Reading, escapes, joined, open_gaps, readings
from loops.secrets.recognise import compiled, matches, one_byte_each

MASK = "[redacted]"
_HELD_WORD = 4_096
"""A stream holds back at most this many characters of a word that has not ended."""
_HELD = 32_768
"""A stream holds back at most this many characters in all (a private key that does not end)."""

_BREAK = re.compile(r"[\s\"'<>|,;(){}\[\]]")
_WORD_TAIL = re.compile(r"[^\s\"'<>|,;(){}\[\]]*\Z")
# A line of encoded text that may go on in the next one; one that ends in a shorter word waits for nothing.
_WRAPPED = re.compile(r"[A-Za-z0-9+/_-]{16}={0,6}[\r\n]{1,8}[A-Za-z0-9+/=_-]*\Z")
_LINE_END = re.compile(r"[\r\n]{1,4}")
_MARKED_LINE_END = re.compile(r"\n[ \t>|*#/\"'+-]{1,80}|\r?\n|[\"'\\]\n")
_MAY_BE_WRAPPED = compiled(r"[A-Za-z0-9+/=_-]{12}[\"'\\+,]{0,3}[\r\n]")
_HEAD = 16


class Redactor:
    """Knows some secrets and all shapes. Build one per turn; it is immutable and may be shared between threads."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        parts = {part for secret in secrets for part in parts_of(secret)}
        encoded = {code for part in parts for code in encodings_of(part)}
        self._learn(parts, {spelling for part in parts for spelling in spellings_of(part)} | encoded, encoded)

    def _learn(self, parts: Iterable[str], values: Iterable[str], encoded: Iterable[str]) -> None:
        self._parts = tuple(sorted(parts))
        self._values = tuple(sorted(values, key=len, reverse=True))
        self._encoded = frozenset(encoded)
        self._literals = Literals(self._values)
        self._encodings = Literals(self._encoded)
        # the others lie within the last word, all of which a stream holds back
        self._of_words = tuple(value for value in self._values if _BREAK.search(value))

    def knowing(self, secrets: Iterable[str]) -> "Redactor":
        """One that knows these secrets too."""
        more = Redactor(secrets)
        more._learn({*self._parts, *more._parts}, {*self._values, *more._values}, self._encoded | more._encoded)
        return more

    def __reduce__(self) -> tuple[Any, ...]:
        return _prepared, (self._parts, self._values, self._encoded)

    @property
    def parts(self) -> tuple[str, ...]:
        """The values that are looked for, as they were given."""
        return self._parts

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
        if not self._values:
            return []
        found = self._values_in(text)
        for reading in chain(readings(text), joined(text)):
            found += (reading.span(*span) for span in self._values_in(reading.text))
        return _merged(found)

    def stream(self) -> "RedactedStream":
        """For text that comes in pieces: a secret that is split between two of them is found all the same."""
        return RedactedStream(self)

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """Where secrets are in `text`, however it is read: sorted, without overlap."""
        found = self._found(text)
        for reading in readings(text):
            found += (reading.span(*span) for span in self._found(reading.text))
        for reading in joined(text) if self._values else ():
            found += (reading.span(*span) for span in self._values_in(reading.text))
        return _merged(found)

    def _found(self, text: str) -> list[tuple[int, int]]:
        found = [(match.start, match.end) for match in matches(text)]
        return found + self._values_in(text) if self._values else found

    def _values_in(self, text: str) -> list[tuple[int, int]]:
        found = self._literals.spans(text)
        if "\n" in text and _MAY_BE_WRAPPED.search(one_byte_each(text)):
            # what goes on in the next line, as `base64` prints it, and where each line has a mark of its own
            for ends in (_LINE_END, _MARKED_LINE_END):
                if self._encodings.spans(ends.sub("", text)):
                    flat = Reading(text, ((end.start(), end.end(), "") for end in ends.finditer(text)))
                    found += (flat.span(*span) for span in self._encodings.spans(flat.text))
        return found

    def ends_open(self, text: str) -> bool:
        """Whether what comes after `text` may be the rest of a secret, or of a sequence, that begins in it."""
        tail = text[-_HELD:]
        return bool(self._unfinished(tail)) or any(end == len(tail) for _, end in self._spans(tail))

    def _unfinished(self, text: str) -> int:
        """How many characters at the end of `text` may be the beginning of a secret, or of a sequence inside of one."""
        held = self._begun(text)
        if gaps := open_gaps(text):
            held = max(held, gaps + self._begun(text[:-gaps]))
        return held

    def _begun(self, text: str) -> int:
        held, tail = self._open(text), text[-_HELD:]
        for reading in chain(readings(tail), joined(tail) if self._values else ()):
            if open_there := self._open(reading.text):
                size = len(reading.text)
                start, _ = reading.span(size - open_there, size)
                held = max(held, len(tail) - start)
        return held

    def _open(self, text: str) -> int:
        begin = text.rfind("-----BEGIN ")
        if begin >= 0 and "-----END" not in text[begin:]:
            return len(text) - begin
        tail = text[-_HELD_WORD:]
        word = _WORD_TAIL.search(tail)
        held = max(
            len(word.group()) if word else 0, max((_overlap(text, value) for value in self._of_words), default=0)
        )
        if self._encoded and (line := _WRAPPED.search(tail)):
            flat = Reading(tail, ((end.start(), end.end(), "") for end in _LINE_END.finditer(tail)))
            size = len(flat.text)
            if begun := max(_overlap(flat.text, code) for code in self._encoded):
                held = max(held, len(tail) - min(line.start(), flat.span(size - begun, size)[0]))
        return held


@lru_cache(maxsize=32)
def _prepared(parts: tuple[str, ...], values: tuple[str, ...], encoded: frozenset[str]) -> Redactor:
    """One that another process sent here, which sends the same one again and again."""
    redactor = Redactor()
    redactor._learn(parts, values, encoded)
    return redactor


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
        for start, end in escapes(text):
            if start < cut < end:
                cut = start
        if len(text) - cut > _HELD:
            cut = len(text)
        self.held = text[cut:]
        return _masked(text[:cut], [span for span in spans if span[0] < cut])

    def flush(self) -> str:
        """The rest."""
        rest, self.held = self._redactor.text(self.held), ""
        return rest


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


def _overlap(text: str, value: str) -> int:
    """Length of the longest end of `text` that is a beginning of `value`, but not all of it."""
    longest = min(len(text), len(value) - 1, _HELD)
    tail = text[-longest:] if longest else ""
    head = value[:_HEAD]
    at = tail.find(head)
    while at >= 0:
        if value.startswith(tail[at:]):
            return len(tail) - at
        at = tail.find(head, at + 1)
    return next((size for size in range(min(len(head) - 1, longest), 0, -1) if tail.endswith(head[:size])), 0)

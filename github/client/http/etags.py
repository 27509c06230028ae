"""Answers to GETs, kept to be asked for again: a 304 costs no rate limit, and what is young enough is not asked at all.

An ETag belongs to the token that asked (otterdog#201), so an answer is kept with a digest of its token: after each
hourly token a request is a full one, once. githubkit's HTTP cache would do the same by `Vary: Authorization`, at 6 to
17 ms a request against our 0.1, and without a bound.
"""

import hashlib
import zlib
from collections import OrderedDict
from dataclasses import dataclass

MAX_BYTES = 64 * 1024 * 1024  # of all bodies, compressed: about 50,000 answers, the polls of 8,000 waiting sessions
MAX_BODY = 1024 * 1024  # of one, compressed


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer: 200, or a 404 (which has no ETag). `at` is the Unix time at which it was last confirmed."""

    token: bytes
    status: int
    etag: str
    link: str
    packed: bytes
    at: float

    @classmethod
    def of(cls, authorization: str, status: int, etag: str, link: str, body: bytes, at: float) -> "Kept":
        return cls(_digest(authorization), status, etag, link, zlib.compress(body, 1), at)

    @property
    def body(self) -> bytes:
        return zlib.decompress(self.packed)


class Etags:
    """The answers seen last, by address and representation, the oldest forgotten first."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._max = max_bytes
        self._bytes = 0

    def get(self, key: str, authorization: str) -> Kept | None:
        """What this token was answered, now the most recently used."""
        kept = self._kept.get(key)
        if kept is None or kept.token != _digest(authorization):
            return None
        self._kept.move_to_end(key)
        return kept

    def put(self, key: str, kept: Kept) -> None:
        """Keep an answer, unless it is large."""
        self.forget(key)
        if len(kept.packed) > MAX_BODY:
            return
        self._kept[key] = kept
        self._bytes += len(kept.packed)
        while self._bytes > self._max:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= len(oldest.packed)

    def forget(self, key: str) -> None:
        """Forget an answer; one that is not kept is fine."""
        former = self._kept.pop(key, None)
        self._bytes -= len(former.packed) if former else 0


def _digest(authorization: str) -> bytes:
    return hashlib.sha256(authorization.encode()).digest()[:16]

"""Where a list goes on: a place that only we can name, for the same question of the same caller. Pure."""

import base64
import hashlib
import hmac
from typing import Final

from app.web.api.problems import Problem

_SEAL: Final = 16


def cursor(secret: bytes, question: str, place: int) -> str:
    """The place behind which the next page of `question` begins."""
    text = str(place).encode()
    return base64.urlsafe_b64encode(_seal(secret, question, text) + text).rstrip(b"=").decode()


def place(secret: bytes, question: str, given: str) -> int:
    """Raises Problem for a cursor that was not given out for this question."""
    try:
        raw = base64.b64decode(given.encode() + b"=" * (-len(given) % 4), altchars=b"-_", validate=True)
        seal, text = raw[:_SEAL], raw[_SEAL:]
        if hmac.compare_digest(seal, _seal(secret, question, text)):
            return int(text)
    except ValueError:
        pass
    raise Problem(400, "this cursor belongs to no list of yours with these filters: begin without one", field="cursor")


def _seal(secret: bytes, question: str, text: bytes) -> bytes:
    return hmac.digest(secret, b"cursor\0" + hashlib.sha256(question.encode()).digest() + text, "sha256")[:_SEAL]

"""AWS's binary event stream, unpacked into the server-sent events that it carries. Pure.

https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html: a prelude of total and header length with its CRC,
headers, payload, CRC of all, big-endian. Of an event of Bedrock's the payload holds the model's own event as base64.
"""

import base64
import json
import struct
import zlib
from typing import Any, Final

from loops.gateway.refusals import broken_off

_PRELUDE: Final = 12
_LONGEST: Final = 24 * 1024 * 1024
"""AWS ends at 16 MB a message, before base64."""
_SIZES: Final = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Bytes of header values by type; those of 6 and 7 tell their own."""
_STATUS: Final = {"throttlingException": 429, "serviceUnavailableException": 503, "modelTimeoutException": 503}


class BrokenStream(ValueError):
    """The stream is none, or damaged: nothing of what follows can be read."""


class EventStream:
    """Reads one answer. Events before damage are told; only then it is said."""

    def __init__(self) -> None:
        self._rest = b""
        self._broken: BrokenStream | None = None

    def feed(self, piece: bytes) -> bytes:
        """The whole events so far that were not told yet. Raises BrokenStream."""
        self._rest += piece
        told = []
        try:
            while self._broken is None and (message := self._next()):
                told.append(message)
        except BrokenStream as error:
            self._broken = error
        if self._broken is not None and not told:
            raise self._broken
        return b"".join(told)

    def end(self) -> None:
        """Raises BrokenStream where the stream is damaged, or ends inside an event."""
        if self._broken is not None:
            raise self._broken
        if self._rest:
            raise BrokenStream("the event stream was cut")

    def _next(self) -> bytes:
        """The next event that is whole; empty while there is none."""
        if len(self._rest) < _PRELUDE:
            return b""
        total, heads, crc = struct.unpack(">III", self._rest[:_PRELUDE])
        if crc != zlib.crc32(self._rest[:8]) or not _PRELUDE + heads + 4 <= total <= _LONGEST:
            raise BrokenStream("the event stream is damaged")
        if len(self._rest) < total:
            return b""
        message, self._rest = self._rest[:total], self._rest[total:]
        if struct.unpack(">I", message[-4:])[0] != zlib.crc32(message[:-4]):
            raise BrokenStream("an event of the stream is damaged")
        return _event(_headers(message[_PRELUDE : _PRELUDE + heads]), message[_PRELUDE + heads : -4])


def _event(headers: dict[str, str], payload: bytes) -> bytes:
    try:
        told: Any = json.loads(payload or b"{}")
        if headers.get(":message-type") == "event":
            inner = base64.b64decode(told["bytes"])
            return f"event: {json.loads(inner)['type']}\ndata: ".encode() + inner + b"\n\n"
        kind = headers.get(":exception-type") or headers.get(":error-code") or ""
        said = str(told.get("message") or headers.get(":error-message") or kind)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise BrokenStream("an event of the stream holds no event of the model's") from None
    return broken_off("messages", _STATUS.get(kind, 500), said)


def _headers(raw: bytes) -> dict[str, str]:
    """Those that are text, by name."""
    found, at = {}, 0
    try:
        while at < len(raw):
            end = at + 1 + raw[at]
            name, kind, at = raw[at + 1 : end].decode(), raw[end], end + 1
            if kind in (6, 7):
                (size,) = struct.unpack(">H", raw[at : at + 2])
                at += 2
            else:
                size = _SIZES[kind]
            if kind == 7:
                found[name] = raw[at : at + size].decode()
            at += size
    except (LookupError, ValueError, struct.error):
        raise BrokenStream("the headers of an event are damaged") from None
    return found

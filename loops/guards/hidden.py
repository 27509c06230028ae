"""What else a file says: unpacked, decoded, in another encoding. Bounded in depth and size, whatever the file holds."""

import base64
import binascii
import bisect
import bz2
import contextlib
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from loops.secrets.recognise import compiled

DEPTH = 3
"""How often one thing is looked for inside of another."""
BUDGET = 64 * 1024 * 1024
"""Bytes that are looked at for one file; what a small file unpacks to beyond that is not."""
_ENTRIES = 2_000

_ENCODED = compiled(r"(?:[A-Za-z0-9+/_-]{64,1000}(?:\r?\n[ \t]{0,8})?)*[A-Za-z0-9+/_-]{16,}={0,6}")
_HEX = re.compile(rb"[0-9A-Fa-f]+\Z")
_BASE32 = re.compile(rb"(?:[A-Z2-7]+|[a-z2-7]+)\Z")
_WRITTEN = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|([nrt\\'\"]))")
_PLAIN = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_PACKED_AMID = re.compile(rb"PK\x03\x04|\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]|BZh[1-9]1AY|\xfd7zXZ\0")
_SHORTEST_DEFLATED = 24
_AMID = 8 * 1024 * 1024  # bytes of something packed amid others that are looked at
_LINE_ENDS = re.compile(rb"[\r\n\t ]+")


@dataclass
class _Budget:
    left: int = BUDGET

    def take(self, data: bytes) -> bytes:
        """As much of `data` as may still be looked at."""
        taken = data[: self.left]
        self.left -= len(taken)
        return taken


Buffer = bytes | memoryview
_Unpack = Callable[[Buffer, _Budget], Iterator[bytes]]


class Layer:
    """What was found in a content, piece after piece, a line for each."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._starts: list[int] = []
        self._places: list[int] = []
        self._size = 0

    def add(self, place: int, piece: bytes) -> None:
        """A piece, and the offset in the content at which it began."""
        self._starts.append(self._size)
        self._places.append(place)
        self._pieces.append(piece)
        self._size += len(piece) + 1

    @property
    def data(self) -> bytes:
        return b"\n".join(self._pieces)

    def place(self, at: int) -> int:
        """Where in the content the piece began that stands at `at` of the data."""
        return self._places[bisect.bisect_right(self._starts, at) - 1]


def layers(content: bytes) -> Iterator[Layer]:
    """What is packed or encoded in `content`, what is packed or encoded in that, and so on."""
    budget = _Budget()
    layer = Layer()
    layer.add(0, content)
    for _ in range(DEPTH):
        data, inner = layer.data, Layer()
        for at, piece in _inside(data, budget):
            inner.add(layer.place(at), piece)
        if not inner.data.strip():
            return
        yield inner
        layer = inner


def _inside(data: bytes, budget: _Budget) -> Iterator[tuple[int, bytes]]:
    for at, part in _embedded(data, budget):
        yield at, part
    if b"\\x" in data and (written := _WRITTEN.sub(_byte, data)) != data:
        yield 0, budget.take(written)
    if b"\0" in data[:8_000]:
        yield 0, budget.take(_narrow(data))
    for found in _ENCODED.finditer(data):
        if budget.left <= 0:
            return
        for decoded in _decoded(found.group()):
            yield found.start(), budget.take(decoded)
            for _, part in _embedded(decoded, budget):
                yield found.start(), part
            for part in _deflated(-15)(decoded, budget) if len(decoded) >= _SHORTEST_DEFLATED else ():
                yield found.start(), part
            if b"\0" in decoded:
                yield found.start(), budget.take(_narrow(decoded))


def _embedded(data: bytes, budget: _Budget) -> Iterator[tuple[int, bytes]]:
    """What is packed in `data`, also amid other bytes, as in a picture, a document, or behind a script."""
    yield from ((0, part) for part in _unpacked(data, budget))
    for count, found in enumerate(_PACKED_AMID.finditer(data)):
        at = found.start()
        if count >= _ENTRIES or budget.left <= 0:
            return
        if data.startswith(b"PK", at):
            for part in _zip_entry(data, at, budget):
                yield at, part
        elif at:
            unpack = next(unpack for magics, unpack in _PACKED if data.startswith(magics, at))
            for part in unpack(memoryview(data)[at : at + _AMID], budget):
                yield at, part


def _zip_entry(data: bytes, at: int, budget: _Budget) -> Iterator[bytes]:
    """An entry of a zip by its own head, whether or not the list at the end names it."""
    head = data[at : at + 30]
    if len(head) < 30:
        return
    method, name, extra = (int.from_bytes(head[place : place + 2], "little") for place in (8, 26, 28))
    yield budget.take(data[at + 30 : at + 30 + name])
    if method == 8:
        begin = at + 30 + name + extra
        yield from _deflated(-15)(memoryview(data)[begin : begin + _AMID], budget)


def _byte(found: re.Match[bytes]) -> bytes:
    return bytes((int(found[1], 16),)) if found[1] else _PLAIN.get(found[2], found[2])


def _unpacked(data: bytes, budget: _Budget, depth: int = 0) -> Iterator[bytes]:
    for magics, unpack in _PACKED:
        if data.startswith(magics):
            for part in unpack(data, budget):
                yield part
                if depth < DEPTH:
                    yield from _unpacked(part, budget, depth + 1)


def _decoded(run: bytes) -> Iterator[bytes]:
    run = _LINE_ENDS.sub(b"", run)
    body = run.rstrip(b"=")
    if _HEX.match(body) and len(body) % 2 == 0:
        yield binascii.unhexlify(body)
    if _BASE32.match(body):
        with_ends = body.upper() + b"=" * (-len(body) % 8)
        with contextlib.suppress(binascii.Error):
            yield base64.b32decode(with_ends)
    usual = body.replace(b"-", b"+").replace(b"_", b"/")
    if len(usual) % 4 == 1:
        usual = usual[:-1]
    yield base64.b64decode(usual + b"=" * (-len(usual) % 4))


def _narrow(data: bytes) -> bytes:
    """ASCII in UTF-16 or UTF-32, whichever end comes first, amid whatever."""
    return data.replace(b"\0", b"")


def _deflated(window: int) -> _Unpack:
    def unpack(data: Buffer, budget: _Budget) -> Iterator[bytes]:
        while data and budget.left > 0:
            inflate = zlib.decompressobj(window)
            try:
                part = inflate.decompress(data, budget.left)
            except zlib.error:
                return
            yield budget.take(part)
            if not inflate.eof:
                return
            data = inflate.unused_data

    return unpack


def _other(
    opened: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor],
) -> _Unpack:
    def unpack(data: Buffer, budget: _Budget) -> Iterator[bytes]:
        try:
            yield budget.take(opened().decompress(data, budget.left))
        except (OSError, EOFError, lzma.LZMAError, ValueError):
            return

    return unpack


def _zip(data: Buffer, budget: _Budget) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            for entry in packed.infolist()[:_ENTRIES]:
                if budget.left <= 0:
                    return
                yield budget.take(entry.filename.encode("utf-8", "replace"))
                with packed.open(entry) as file:
                    yield budget.take(file.read(budget.left))
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, RuntimeError, ValueError, EOFError):
        return


_PACKED: tuple[tuple[tuple[bytes, ...], _Unpack], ...] = (
    ((b"\x1f\x8b",), _deflated(31)),
    ((b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"), _deflated(15)),
    ((b"BZh",), _other(bz2.BZ2Decompressor)),
    ((b"\xfd7zXZ\0", b"\x5d\0\0"), _other(lzma.LZMADecompressor)),
    ((b"PK\x03\x04",), _zip),
)

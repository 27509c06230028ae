"""Secrets that the turn was given, taken apart or written number by number: only letters and digits count. Pure.

`"abc" + "def"`, a value over two lines, `61:62:63`, `[97, 98, 99]` and the like hold it all the same. So is a half that
stands alone, where the other may stand elsewhere. Looked for in files only, never while a turn prints.
"""

import base64
import binascii
import bisect
import codecs
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate
from typing import Literal

from loops.secrets.encodings import encodings_of
from loops.secrets.literals import Literals
from loops.secrets.randomness import looks_random, mixed

SHORTEST, SHORTEST_OF_WORDS = 12, 24
"""Letters and digits that a value has at least; words alone stand in prose, unless there are many."""
HALF, MOST_HALVES = 48, 400

_BASE32, _BASE32_HEX = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", b"0123456789ABCDEFGHIJKLMNOPQRSTUV"
_CROCKFORD = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_LONGEST_NUMBER = 512
"""Bytes of a value that somebody would write as one number; the work grows with the square."""
_ORDERS: tuple[Literal["little", "big"], ...] = ("little", "big")

_NO_LETTERS = bytes(byte for byte in range(256) if not chr(byte).isalnum() or byte > 127)
_BEFORE_DIGITS = re.compile(
    rb"\\{1,4}x|\\{1,4}[uU]\{?0{0,6}(?=[0-9A-Fa-f]{2})|\\{1,4}[nrtabfv]|(?<![0-9A-Za-z])0[xX](?=[0-9A-Fa-f])|%(?:25)+"
    rb"|&(?:amp;){0,3}(?:#[xX]?0{0,4}|[a-z]{2,6};)|\x1b\[[0-9;]{0,20}[A-Za-z]"
    rb"|\\{1,4}0{4}(?=[0-9A-Fa-f]{2}(?![0-9A-Fa-f]))|(?<![0-9A-Za-z])[uU]\+0{0,4}(?=[0-9A-Fa-f]{2})|(?i:char|chr)\((?=[0-9])"
)
# a line of `xxd` or `hexdump -C`: its offset and the text beside the bytes
_DUMP = re.compile(
    rb"(?m)^[0-9A-Fa-f]{6,8}:?[ \t]{1,2}((?:[0-9A-Fa-f]{2}[ \t]{0,2}){1,16}).*$",
)


def scattered(parts: tuple[str, ...], content: bytes) -> Iterator[tuple[int, str]]:
    """The lines of `content`, from 0, in which one of `parts` begins, and its letters as they were found."""
    literals = _literals(parts)
    if literals is None:
        return
    if not content.isascii():
        content = _plain(content)
    ways = [content]
    if _BEFORE_DIGITS.search(content):
        ways.append(_BEFORE_DIGITS.sub(b"", content))
    if _DUMP.search(content):
        ways.append(_DUMP.sub(rb"\1", content))
    for way in ways:
        letters = way.translate(None, _NO_LETTERS).lower().decode("ascii")
        if spans := literals.spans(letters):
            before = [0, *accumulate(len(line.translate(None, _NO_LETTERS)) for line in way.split(b"\n"))]
            for start, end in spans:
                yield bisect.bisect_right(before, start) - 1, letters[start:end]


# characters that stand for bytes and show nothing, or nothing that anybody reads: tags, variation selectors, Braille
_FOR_BYTES = {0xE0000 + byte: byte for byte in range(0x20, 0x7F)}
_FOR_BYTES |= {(0xFE00 + byte if byte < 16 else 0xE0100 + byte - 16): byte for byte in range(128)}
_FOR_BYTES |= {0x2800 + byte: byte for byte in range(128)}


def _plain(content: bytes) -> bytes:
    """Letters and digits that only look otherwise, or not at all, as what they are."""
    return unicodedata.normalize("NFKD", content.decode("utf-8", "ignore").translate(_FOR_BYTES)).encode()


@lru_cache(maxsize=32)
def _literals(parts: tuple[str, ...]) -> Literals | None:
    found = {form for part in parts for form in _forms(part)}
    return Literals(found) if found else None


def _forms(part: str) -> Iterator[str]:
    for written in _written(part):
        letters = _letters(written)
        if len(letters) >= SHORTEST_OF_WORDS or (len(letters) >= SHORTEST and mixed(letters)):
            yield letters.lower()
            yield letters[::-1].lower()
    for written in (part, base64.b64encode(part.encode("utf-8", "surrogatepass")).decode()):
        letters = _letters(written)
        size = min(max(SHORTEST, len(letters) * 2 // 5), HALF)
        if looks_random(written) and len(letters) > size:
            pieces = (letters[at : at + size] for at in range(min(len(letters) - size + 1, MOST_HALVES)))
            yield from (piece.lower() for piece in pieces if _made_at_random(piece))


def _written(part: str) -> Iterator[str]:
    data = part.encode("utf-8", "surrogatepass")
    yield part
    yield codecs.encode(part, "rot13")
    yield from encodings_of(part)
    for form in ("d", "o", "03o", "08b", "07b"):
        yield "".join(format(byte, form) for byte in data)
        yield "".join(format(byte, form) for byte in reversed(data))
    yield base64.b85encode(data).decode()
    yield base64.a85encode(data).decode()
    yield "".join(chr(33 + (ord(each) + 14) % 94) if "!" <= each <= "~" else each for each in part)  # ROT47
    base32 = base64.b32encode(data).rstrip(b"=")
    yield from (base32.translate(bytes.maketrans(_BASE32, digits)).decode() for digits in (_BASE32_HEX, _CROCKFORD))
    yield "".join(binascii.b2a_uu(data[at : at + 45]).decode()[1:-1] for at in range(0, len(data), 45))
    if len(data) <= _LONGEST_NUMBER:
        whole = int.from_bytes(data)
        yield str(whole)
        yield _base58(whole)
    for size in (2, 4, 8):
        words = [data[at : at + size] for at in range(0, len(data), size)]
        yield "".join(word[::-1].hex() for word in words)
        for order in _ORDERS:
            yield "".join(str(int.from_bytes(word, order)) for word in words)


def _base58(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 58)
        digits = _BASE58[digit] + digits
    return digits


def _made_at_random(piece: str) -> bool:
    """Whether a piece of a random value looks like none of prose."""
    return mixed(piece) or min(sum(map(str.isupper, piece)), sum(map(str.islower, piece))) >= 3


def _letters(text: str) -> str:
    return text.encode("utf-8", "replace").translate(None, _NO_LETTERS).decode("ascii")

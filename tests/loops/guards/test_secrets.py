"""What the guard finds of secrets: in names, links and archives, however written, behind any number of old ones."""

import base64
import binascii
import bz2
import codecs
import gzip
import html
import io
import json
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from loops.secrets.kind import example
from loops.secrets.redact import Redactor
from tests.loops.guards.proposals import Turn, codes

GIVEN = "correct-horse-battery-staple"
TOKEN = example("ghp_{w36}")
RANDOM = example("{w32}")


def zipped(data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("notes/a.txt", data)
    return file.getvalue()


def lines_of(data: bytes) -> bytes:
    return base64.encodebytes(b"some text before it, " + data + b", and more after it" * 5)


DISGUISES: dict[str, Callable[[bytes], bytes]] = {
    "reversed": lambda data: data[::-1],
    "hex": lambda data: data.hex().encode(),
    "upper-case hex": lambda data: data.hex().upper().encode(),
    "base32": base64.b32encode,
    "lower-case base32": lambda data: base64.b32encode(b"x " + data).lower(),
    "base64": base64.b64encode,
    "url-safe base64": base64.urlsafe_b64encode,
    "base64 in lines": lines_of,
    "base64 twice": lambda data: base64.b64encode(base64.b64encode(data)),
    "hex of base64": lambda data: base64.b64encode(data).hex().encode(),
    "gzip": gzip.compress,
    "zlib": zlib.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zip": zipped,
    "gzip in base64": lambda data: base64.b64encode(gzip.compress(data)),
    "zip in gzip": lambda data: gzip.compress(zipped(data)),
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "UTF-16, the big end first": lambda data: data.decode().encode("utf-16-be"),
    "UTF-32": lambda data: data.decode().encode("utf-32"),
    "UTF-16 in base64": lambda data: base64.b64encode(data.decode().encode("utf-16-le")),
    "percent-encoded": lambda data: "".join(f"%{byte:02x}" for byte in data).encode(),
    "\\x": lambda data: "".join(f"\\x{byte:02x}" for byte in data).encode(),
    "\\u": lambda data: "".join(f"\\u{byte:04x}" for byte in data).encode(),
    "entities": lambda data: "".join(f"&#{byte};" for byte in data).encode(),
    "JSON": lambda data: json.dumps({"v": data.decode()}).encode(),
}


def tarred(data: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as packed:
        entry = tarfile.TarInfo("notes/a.txt")
        entry.size = len(data)
        packed.addfile(entry, io.BytesIO(data))
    return file.getvalue()


def unlisted(data: bytes) -> bytes:
    """A zip whose list at the end is gone."""
    packed = zipped(data * 3)
    return packed[: packed.index(b"PK\x01\x02")]


def pictured(data: bytes) -> bytes:
    text = b"Comment\0\0" + zlib.compress(data)
    return b"\x89PNG\r\n\x1a\n" + len(text).to_bytes(4, "big") + b"zTXt" + text + b"\0" * 8


def dumped(data: bytes) -> bytes:
    rows = [data[at : at + 16] for at in range(0, len(data), 16)]
    return b"\n".join(b"%08x: %s  %s" % (at * 16, row.hex(" ", 2).encode(), row) for at, row in enumerate(rows))


def halves(data: bytes, between: bytes) -> bytes:
    return data[: len(data) // 2] + between + data[len(data) // 2 :]


# what only a value that is known can be told by
KNOWN_ONLY: dict[str, Callable[[bytes], bytes]] = {
    "reversed base64": lambda data: base64.b64encode(data)[::-1],
    "base64 of what is reversed": lambda data: base64.b64encode(data[::-1]),
    "reversed hex": lambda data: data.hex().encode()[::-1],
    "upper case": lambda data: data.upper(),
    "rot13": lambda data: codecs.encode(data.decode(), "rot13").encode(),
    "a tar": tarred,
    "a tar in base64": lambda data: base64.b64encode(tarred(data)),
    "a zip behind a script": lambda data: b"#!/bin/sh\nexit\n" + zipped(data),
    "a zip without its list": unlisted,
    "gzip amid text": lambda data: b"some words\n" + gzip.compress(data),
    "a picture's comment": pictured,
    "bare deflate in base64": lambda data: base64.b64encode(zlib.compress(data * 2)[2:-4]),
    "gzip as Python writes bytes": lambda data: repr(gzip.compress(data)).encode(),
    "base85": base64.b85encode,
    "ascii85": base64.a85encode,
    "percent twice": lambda data: quote("".join(f"%{byte:02x}" for byte in data), safe="").encode(),
    "entities twice": lambda data: html.escape("".join(f"&#{byte};" for byte in data)).encode(),
    "\\u twice": lambda data: json.dumps("".join(f"\\u{byte:04x}" for byte in data)).encode(),
    "\\u{}": lambda data: "".join(f"\\u{{{byte:x}}}" for byte in data).encode(),
    "\\U": lambda data: "".join(f"\\U{byte:08x}" for byte in data).encode(),
    "quoted-printable": lambda data: "".join(f"={byte:02X}" for byte in data).encode(),
    "hex with colons": lambda data: data.hex(":").encode(),
    "hex with spaces": lambda data: data.hex(" ").encode(),
    "0x": lambda data: ", ".join(map(hex, data)).encode(),
    "numbers": lambda data: str(list(data)).encode(),
    "octal": lambda data: "".join(f"\\{byte:03o}" for byte in data).encode(),
    "bits": lambda data: " ".join(f"{byte:08b}" for byte in data).encode(),
    "letters": lambda data: str(list(data.decode())).encode(),
    "spaced": lambda data: " ".join(data.decode()).encode(),
    "zero-width": lambda data: "\u200b".join(data.decode()).encode(),
    "full-width": lambda data: "".join(chr(byte + 0xFEE0) for byte in data).encode(),
    "accents": lambda data: "\u0301".join(data.decode()).encode(),
    "tags": lambda data: "".join(chr(0xE0000 + byte) for byte in data).encode(),
    "variation selectors": lambda data: ("x" + "".join(chr(0xE0100 + byte - 16) for byte in data)).encode(),
    "Braille": lambda data: "".join(chr(0x2800 + byte) for byte in data).encode(),
    "CSS": lambda data: "".join(f"\\{byte:06x} " for byte in data).encode(),
    "U+": lambda data: " ".join(f"U+{byte:04X}" for byte in data).encode(),
    "chr": lambda data: "+".join(f"chr({byte})" for byte in data).encode(),
    "numbers backwards": lambda data: str(list(data)[::-1]).encode(),
    "words of a little-endian machine": lambda data: ", ".join(
        f"0x{data[at : at + 4][::-1].hex()}" for at in range(0, len(data), 4)
    ).encode(),
    "a number": lambda data: str(int.from_bytes(data)).encode(),
    "rot47": lambda data: bytes(33 + (byte + 14) % 94 if 33 <= byte < 127 else byte for byte in data),
    "base32hex": base64.b32hexencode,
    "uuencode": lambda data: b"begin 644 a\n" + binascii.b2a_uu(data) + b"`\nend\n",
    "a dump": dumped,
    "two strings": lambda data: b'"' + halves(data, b'" + "') + b'"',
    "two lines": lambda data: halves(data, b"\n"),
    "two lines of strings": lambda data: b"('" + halves(data, b"'\n    '") + b"')",
    "two lines of a diff": lambda data: b"+" + halves(data, b"\n+"),
    "a line's end escaped": lambda data: b"'" + halves(data, b"\\\n") + b"'",
    "a line's end written out": lambda data: halves(data, b"\\n"),
    "base64 in two strings": lambda data: halves(base64.b64encode(data), b'",\n        "'),
    "hex in two lines": lambda data: halves(data.hex().encode(), b"'\n'"),
}


@pytest.mark.parametrize("disguise", KNOWN_ONLY)
async def test_a_given_secret_is_refused_also_where_only_its_letters_tell(tmp_path: Path, disguise: str) -> None:
    for number, secret in enumerate((GIVEN, RANDOM)):
        root = tmp_path / str(number)
        root.mkdir()
        turn = Turn(root, {}, {"notes.bin": KNOWN_ONLY[disguise](secret.encode())})
        found = await turn.found(redactor=Redactor([secret]))
        assert set(codes(found.refusals)) == {"secret"}
        assert secret not in repr(found)


async def test_a_given_value_of_many_kilobytes_is_looked_for_like_a_short_one(tmp_path: Path) -> None:
    secret = "".join(chr(33 + number * 7919 % 94) for number in range(20_000))
    found = await Turn(tmp_path, {}, {"a.txt": secret[::-1]}).found(redactor=Redactor([secret]))
    assert codes(found.refusals) == ["secret"]


@pytest.mark.parametrize("write", [str, lambda half: base64.b64encode(half.encode()).decode()], ids=["plain", "base64"])
async def test_half_of_a_given_secret_is_refused_since_the_other_may_stand_elsewhere(
    tmp_path: Path, write: Callable[[str], str]
) -> None:
    first, second = RANDOM[:16], RANDOM[16:]
    files = {"a.py": f'A = "{first}"\n', "b.py": f'one = 1\nB = "{second}"\n'}
    if write is not str:
        code = write(RANDOM)
        files = {"a.py": f'A = "{code[:22]}"\n', "b.py": f'one = 1\nB = "{code[22:]}"\n'}
    found = await Turn(tmp_path, {}, files).found(redactor=Redactor([RANDOM]))
    assert [(each.path, each.line) for each in found.refusals] == [("a.py", 1), ("b.py", 2)]


@pytest.mark.parametrize("disguise", ["base64", "upper-case hex", "reversed"])
async def test_a_given_secret_in_a_name_is_refused_and_not_repeated_however_it_is_written(
    tmp_path: Path, disguise: str
) -> None:
    written = DISGUISES[disguise](RANDOM.encode()).decode()
    found = await Turn(tmp_path, {}, {f"a/{written}.txt": "x\n"}).found(redactor=Redactor([RANDOM]))
    assert codes(found.refusals) == ["secret"]
    assert written not in repr(found)


async def test_ordinary_text_that_shares_words_with_given_values_is_published(tmp_path: Path) -> None:
    given = [
        "greenloop_development",
        "postgresql://app:hunter2secret@db.internal.example:5432/widgets",
        "staging-eu-west-1.example.com",
        "sk-test-0123456789",
    ]
    text = (
        "Greenloop development needs PostgreSQL: app, hunters, secrets. See db.internal.example, port 5432, widgets.\n"
        "The staging of eu west 1 is at staging-eu-west-2.example.com.\n0123456789 [1, 2, 3, 4, 5, 6]\n"
    )
    assert (await Turn(tmp_path, {}, {"README.md": text}).found(redactor=Redactor(given))).publishable


@pytest.mark.parametrize("disguise", DISGUISES)
async def test_a_given_secret_is_refused_however_it_is_written(tmp_path: Path, disguise: str) -> None:
    turn = Turn(tmp_path, {}, {"notes.txt": DISGUISES[disguise](GIVEN.encode())})
    found = await turn.found(redactor=Redactor([GIVEN]))
    assert codes(found.refusals) == ["secret"]
    assert GIVEN not in repr(found)


# with every character escaped nobody writes a token; what is shown of it is hidden all the same
ESCAPED = ("reversed", "percent-encoded", "\\x", "\\u", "entities")


@pytest.mark.parametrize("disguise", [each for each in DISGUISES if each not in ESCAPED])
async def test_a_token_that_nobody_gave_is_refused_even_where_it_is_packed(tmp_path: Path, disguise: str) -> None:
    turn = Turn(tmp_path, {}, {"tests/notes.txt": DISGUISES[disguise](TOKEN.encode())})
    assert codes((await turn.found()).refusals) == ["secret"]


async def test_packed_files_without_a_secret_are_published(tmp_path: Path) -> None:
    plain = b"Nothing to see here, only words and words again. " * 40
    files = {f"files/{number}": pack(plain) for number, pack in enumerate(DISGUISES.values())}
    assert (await Turn(tmp_path, {}, files).found(redactor=Redactor([GIVEN]))).publishable


async def test_a_bomb_is_looked_into_only_so_far(tmp_path: Path) -> None:
    bomb = gzip.compress(b"\0" * 300_000_000)
    assert (await Turn(tmp_path, {}, {"a.gz": bomb}).found(redactor=Redactor([GIVEN]))).publishable


@pytest.mark.parametrize("secret", [GIVEN, TOKEN], ids=["given", "a token's shape"])
async def test_a_secret_in_a_name_is_refused_and_not_repeated(tmp_path: Path, secret: str) -> None:
    turn = Turn(tmp_path, {}, {f"a/{secret}.txt": "x\n"})
    found = await turn.found(redactor=Redactor([GIVEN]))
    assert codes(found.refusals) == ["secret"]
    assert secret not in repr(found)


@pytest.mark.parametrize("secret", [GIVEN, TOKEN], ids=["given", "a token's shape"])
async def test_a_secret_in_a_link_or_its_target_is_refused_and_not_repeated(tmp_path: Path, secret: str) -> None:
    for number, links in enumerate(({f"{secret}": "a.txt"}, {"link": secret}, {"link": f"../{secret}"})):
        root = tmp_path / str(number)
        root.mkdir()
        found = await Turn(root, {"a.txt": "a\n"}, {}, links=links).found(redactor=Redactor([GIVEN]))
        assert "secret" in codes(found.refusals)
        assert secret not in repr(found)


@pytest.mark.parametrize("old", [19, 20, 21, 300])
async def test_a_new_secret_behind_many_old_ones_is_refused(tmp_path: Path, old: int) -> None:
    before = "".join(f'k{number} = "{example("ghp_{w36}" + str(number))}"\n' for number in range(old))
    turn = Turn(tmp_path, {"keys.py": before}, {"keys.py": before + f'new = "{TOKEN}"\n'})
    for base in (True, False):
        assert [each.line for each in (await turn.found(base=base)).refusals] == [old + 1]


async def test_two_links_that_lead_out_together_are_refused(tmp_path: Path) -> None:
    links = {"a/up": "..", "out": "a/up/../../etc/passwd"}
    turn = Turn(tmp_path, {"a/x": "x\n"}, {}, links=links)
    assert [each.path for each in (await turn.found()).refusals] == ["out"]


async def test_a_link_that_leads_out_through_one_that_was_there_is_refused(tmp_path: Path) -> None:
    class Before(Turn):
        async def base_of(self, path: str) -> bytes | None:
            return b".." if path == "a/up" else await super().base_of(path)

    turn = Before(tmp_path, {"a/x": "x\n"}, {}, links={"out": "a/up/../secret"})
    assert [each.path for each in (await turn.found()).refusals] == ["out"]


async def test_a_link_that_goes_in_and_out_of_a_thousand_folders_is_refused_and_not_looked_up(tmp_path: Path) -> None:
    asked: list[str] = []

    class Counted(Turn):
        async def base_of(self, path: str) -> bytes | None:
            asked.append(path)
            return await super().base_of(path)

    way = "".join(f"{number}/../" for number in range(600))
    turn = Counted(tmp_path, {"x": "x\n"}, {}, links={"far": f"{way}x"})
    assert [each.path for each in (await turn.found()).refusals] == ["far"]
    assert len(asked) <= 40


async def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    turn = Turn(tmp_path, {"a/x": "x\n"}, {}, links={"one": "two/x", "two": "three", "three": "one"})
    assert set(codes((await turn.found()).refusals)) == {"symlink"}


async def test_links_through_folders_that_are_none_stay_free(tmp_path: Path) -> None:
    turn = Turn(tmp_path, {"a/x": "x\n", "b/y": "y\n"}, {}, links={"a/z": "../a/../b/y", "c": "a", "d": "c/x"})
    assert (await turn.found()).publishable

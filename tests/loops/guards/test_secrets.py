"""What the guard finds of secrets: in names, links and archives, however written, behind any number of old ones."""

import base64
import bz2
import gzip
import io
import json
import lzma
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from loops.secrets.kind import example
from loops.secrets.redact import Redactor
from tests.loops.guards.proposals import Turn, codes

GIVEN = "correct-horse-battery-staple"
TOKEN = example("ghp_{w36}")


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


async def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    turn = Turn(tmp_path, {"a/x": "x\n"}, {}, links={"one": "two/x", "two": "three", "three": "one"})
    assert set(codes((await turn.found()).refusals)) == {"symlink"}


async def test_links_through_folders_that_are_none_stay_free(tmp_path: Path) -> None:
    turn = Turn(tmp_path, {"a/x": "x\n", "b/y": "y\n"}, {}, links={"a/z": "../a/../b/y", "c": "a", "d": "c/x"})
    assert (await turn.found()).publishable

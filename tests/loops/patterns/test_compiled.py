"""Compiled patterns are kept on disk, and believed only as long as nobody else can have written them."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import hyperscan
import pytest

from loops.patterns.scanner import Patterns

WORDS = ["error", "failed"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "greenloop"


def ends(patterns: Patterns, text: bytes) -> list[int]:
    found: list[int] = []
    patterns.scan(text, lambda _id, _from, to, _flags, _context: found.append(to))
    return found


def stored(cache: Path) -> Path:
    (file,) = cache.iterdir()
    return file


def test_the_second_start_finds_what_the_first_one_compiled(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ends(Patterns(WORDS, literal=True), b"an Error") == [8]
    kept = stored(cache).read_bytes()
    assert cache.stat().st_mode & 0o777 == 0o700

    def loaded(raw: bytes, mode: int, load: Callable[[bytes, int], hyperscan.Database] = hyperscan.loadb) -> object:
        seen.append(raw)
        return load(raw, mode)

    seen: list[bytes] = []
    monkeypatch.setattr(hyperscan, "loadb", loaded)
    assert ends(Patterns(WORDS, literal=True), b"an Error") == [8]
    assert seen == [kept]


def test_other_patterns_or_flags_have_a_database_of_their_own(cache: Path) -> None:
    Patterns(WORDS, literal=True)
    assert ends(Patterns([], exact=WORDS, literal=True), b"Error error") == [11]
    assert ends(Patterns(["err.r"], literal=False), b"errxr") == [5]
    assert ends(Patterns(["err.r"], literal=True), b"errxr") == []
    assert len(list(cache.iterdir())) == 4


@pytest.mark.parametrize("damage", [b"", b"nonsense", b"middle"])
def test_a_damaged_file_is_made_anew(cache: Path, damage: bytes) -> None:
    Patterns(WORDS, literal=True)
    file = stored(cache)
    whole = file.read_bytes()
    file.write_bytes(damage if damage != b"middle" else whole[:300] + b"!!!!" + whole[304:])
    assert ends(Patterns(WORDS, literal=True), b"it failed") == [9]
    assert ends(Patterns(WORDS, literal=True), b"it failed") == [9]
    assert len(stored(cache).read_bytes()) == len(whole)


@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_a_folder_into_which_others_may_write_is_not_read(
    cache: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    Patterns(WORDS, literal=True)
    cache.chmod(mode)
    monkeypatch.setattr(hyperscan, "loadb", lambda *_: pytest.fail("it was read"))
    assert ends(Patterns(WORDS, literal=True), b"it failed") == [9]


def test_a_link_in_place_of_a_file_is_not_followed(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Patterns(WORDS, literal=True)
    file = stored(cache)
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    monkeypatch.setattr(hyperscan, "loadb", lambda *_: pytest.fail("it was read"))
    assert ends(Patterns(WORDS, literal=True), b"it failed") == [9]


def test_without_a_place_to_write_patterns_work_all_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert ends(Patterns(WORDS, literal=True), b"it failed") == [9]


def test_two_starts_of_the_command_share_their_databases(cache: Path) -> None:
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "XDG_CACHE_HOME": str(cache.parent)}
        subprocess.run([sys.executable, "-m", "app", "distill"], input=b"error\n", check=True, env=environment)
    assert len(list(cache.iterdir())) == 3

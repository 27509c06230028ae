"""Output kept within a cap, with its end."""

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from k8s.runner.processes.capture import Capture


def capture(path: Path, limit: int, pieces: list[bytes]) -> bytes:
    path.unlink(missing_ok=True)
    made = Capture(path, limit)
    for piece in pieces:
        made.write(piece)
    made.finish()
    return path.read_bytes()


@given(pieces=st.lists(st.binary(max_size=40)), limit=st.integers(min_value=0, max_value=400))
def test_output_within_the_cap_is_kept_as_it_is_and_more_is_never_kept(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], limit: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "capture"
    printed = b"".join(pieces)
    kept = capture(path, limit, pieces)
    if len(printed) <= limit - limit // 4:
        assert kept == printed
    elif kept != printed:
        assert b"[greenloop: " in kept
        assert len(kept) <= limit + 120


def test_the_middle_is_left_out_in_whole_lines_and_one_line_says_so(tmp_path: Path) -> None:
    lines = [f"line {number:05}\n".encode() for number in range(10_000)]
    kept = capture(tmp_path / "out", 1000, lines).splitlines(keepends=True)
    said = [line for line in kept if line.startswith(b"[greenloop")]
    assert len(said) == 1
    missing = int(said[0].split()[1])
    assert kept[0] == lines[0]
    assert kept[-1] == lines[-1]
    assert set(kept) - set(said) <= set(lines)
    assert missing == sum(map(len, lines)) - sum(map(len, kept)) + len(said[0])


def test_one_endless_line_is_cut_and_the_notice_stands_on_a_line_of_its_own(tmp_path: Path) -> None:
    kept = capture(tmp_path / "out", 1000, [b"x" * 100] * 1000)
    head, said, tail = kept.split(b"\n")
    assert said.startswith(b"[greenloop: 99000 bytes")
    assert set(head + tail) == {ord("x")}


def test_a_full_disk_is_noted_and_does_not_raise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Capture(tmp_path / "out", 1000)

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    made.write(b"lost\n")
    monkeypatch.undo()
    made.finish()
    assert made.disk_full

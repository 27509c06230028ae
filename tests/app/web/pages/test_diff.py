import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web.pages.diff import MOST_ABOUT, MOST_FILES, MOST_LINES, parse
from tests.tools import need


def git(folder: Path, *arguments: str) -> str:
    command = [need("git"), "-c", "user.name=a", "-c", "user.email=a@b.c", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_every_kind_of_change_of_a_real_repository_is_read(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "same name b.txt").write_text("".join(f"line {n}\n" for n in range(30)))
    (tmp_path / "gone.txt").write_text("bye\n")
    (tmp_path / "moved.txt").write_text("".join(f"stays {n}\n" for n in range(20)))
    (tmp_path / "tool.sh").write_text("echo\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "1")
    (tmp_path / "same name b.txt").write_text("".join(f"line {n}\n" for n in range(30) if n != 3) + "-- end\n++ more\n")
    (tmp_path / "gone.txt").unlink()
    (tmp_path / "moved.txt").rename(tmp_path / 'bär "x".txt')
    (tmp_path / "tool.sh").chmod(0o755)
    (tmp_path / "new.txt").write_text("no end of line")
    (tmp_path / "data.bin").write_bytes(bytes(range(256)))
    git(tmp_path, "add", ".")
    found = {file.path: file for file in parse(git(tmp_path, "diff", "--cached", "-M", "HEAD")).files}
    assert set(found) == {"same name b.txt", "gone.txt", 'bär "x".txt', "tool.sh", "new.txt", "data.bin"}
    changed = found["same name b.txt"]
    assert (changed.added, changed.removed) == (2, 1)
    assert [
        (line.kind, line.text, line.old, line.new) for line in changed.lines if line.kind in ("added", "removed")
    ] == [
        ("removed", "line 3", 4, None),
        ("added", "-- end", None, 30),
        ("added", "++ more", None, 31),
    ]
    assert found['bär "x".txt'].old_path == "moved.txt"
    assert found["gone.txt"].removed == 1
    assert [line.kind for line in found["new.txt"].lines] == ["hunk", "added", "note"]
    assert any("old mode" in text for text in found["tool.sh"].about)
    assert any("Binary files" in text for text in found["data.bin"].about)


def test_a_diff_of_very_many_files_or_notes_is_bounded() -> None:
    many = parse("diff --git a/x b/x\nold mode 1\n" * 5_000)
    assert len(many.files) == MOST_FILES
    assert many.left_out == 2 * (5_000 - MOST_FILES) + 1
    (about,) = parse("diff --git a/x b/x\n" + "old mode 1\n" * 5_000).files
    assert len(about.about) == MOST_ABOUT
    notes = parse("no diff\n" * (MOST_LINES + 7))
    assert len(notes.files[0].lines) == MOST_LINES
    assert notes.left_out == 7


PIECES = [
    "diff --git a/x b/x", 'diff --git "a/\\303" "b/\\303"', "@@ -1 +1,2 @@", "+a", "-b", " c", "", "--- a/x", "+++ b/y",
    "\\ No", "rename from a", "rename to b", "Binary files differ",
]  # fmt: skip


@given(st.text(st.characters(codec="utf-8"), max_size=300) | st.lists(st.sampled_from(PIECES)).map("\n".join))
def test_any_text_is_read_without_a_failure(text: str) -> None:
    parse(text)


@pytest.mark.parametrize(("most", "left"), [(10, 91), (200, 0)])
def test_a_long_diff_is_shown_in_part_and_says_how_much_is_left_out(most: int, left: int) -> None:
    text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,100 @@\n" + "+line\n" * 100
    made = parse(text, most)
    assert made.left_out == left
    assert made.files[0].added == 100

"""Patches over several files: what they make of texts, and what a model is told of those that do not fit."""

import pytest

from k8s.native.workspaces.edits import CannotEdit
from k8s.native.workspaces.patches import FileChange, patched

FILES = {
    "a.py": "def one():\n    return 1\n\n\ndef two():\n    return 1\n",
    "dos.txt": "one\r\ntwo\r\n",
    "open.txt": "no end",
    "odd.txt": "word   \nnext\n",
}


def patch(*lines: str) -> str:
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch"))


def made(*lines: str) -> list[tuple[str, str, str | None]]:
    return [(each.change, each.path, each.content) for each in patched(patch(*lines), FILES.get)]


def test_files_are_added_deleted_updated_and_moved_in_one_patch() -> None:
    changes = patched(
        patch(
            "*** Add File: new/b.py",
            "+x = 1",
            "+",
            "*** Delete File: odd.txt",
            "*** Update File: open.txt",
            "*** Move to: closed.txt",
            "-no end",
            "+an end",
            "*** Update File: a.py",
            "@@ def two():",
            "-    return 1",
            "+    return 2",
        ),
        FILES.get,
    )
    assert changes == [
        FileChange("add", "new/b.py", "x = 1\n\n"),
        FileChange("delete", "odd.txt", None),
        FileChange("delete", "open.txt", None),
        FileChange("add", "closed.txt", "an end"),
        FileChange("update", "a.py", "def one():\n    return 1\n\n\ndef two():\n    return 2\n"),
    ]


@pytest.mark.parametrize(
    ("lines", "content"),
    [
        (["*** Update File: a.py", "-    return 1", "+    return 0"], FILES["a.py"].replace("1", "0", 1)),
        (["*** Update File: a.py", "@@", "-    return 1", "+    return 2", "*** End of File"], "…two(): 2"),
        (
            ["*** Update File: a.py", "@@ -5,2 +5,2 @@ def two():", " def two():", "-    return 1", "+    x"],
            "…two(): x",
        ),
        (["*** Update File: a.py", "+# the end"], FILES["a.py"] + "# the end\n"),
        (
            ["*** Update File: a.py", "@@ def two():", "+    # here"],
            FILES["a.py"].replace("two():\n", "two():\n    # here\n"),
        ),
        (["*** Update File: dos.txt", " one", "-two", "+zwei"], "one\r\nzwei\r\n"),
        (["*** Update File: odd.txt", "-word", "+other"], "other\nnext\n"),
        (
            ["*** Update File: odd.txt", " next", "+more", "", "*** Update File: odd.txt", "-more", "+less"],
            "word   \nnext\nless\n",
        ),
    ],
)
def test_a_hunk_is_found_by_its_lines(lines: list[str], content: str) -> None:
    head, tail = FILES["a.py"].rsplit("    return 1\n", 1)
    told = {"…two(): 2": f"{head}    return 2\n{tail}", "…two(): x": f"{head}    x\n{tail}"}
    assert made(*lines) == [("update", lines[0].partition(": ")[2], told.get(content, content))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", 'The first line of a patch is "*** Begin Patch"'),
        ("--- a/a.py\n+++ b/a.py\n", "The first line of a patch is \"*** Begin Patch\", not '--- a/a.py'"),
        ("*** Begin Patch\n*** Update File: a.py", 'The last line of a patch is "*** End Patch"'),
        (patch(), "names no file"),
        (patch("nonsense"), "Line 2 of the patch is 'nonsense'"),
        (patch("*** Add File: b", "x"), "begins with +"),
        (patch("*** Delete File: a.py", "-x"), "here comes the next file"),
        (patch("*** Update File: a.py"), "changes nothing in a.py"),
        (patch("*** Update File: a.py", "@@", "!x"), "Line 4 of the patch"),
        (patch("*** Update File:"), "without a path"),
        (patch("*** Update File: none.py", "-x"), "There is no file none.py"),
        (patch("*** Delete File: none.py"), "There is no file none.py"),
        (patch("*** Add File: a.py", "+x"), "a.py is there already"),
        (patch("*** Update File: a.py", "*** Move to: odd.txt", "+x"), "odd.txt is there already"),
        (patch("*** Update File: a.py", "@@ class None:", "-x"), "no line holds 'class None:'"),
        (
            patch("*** Update File: a.py", "@@", "-  return 1", "@@", "-y"),
            "Hunk 1 of 2 for a.py does not fit: its lines do not stand there together. The nearest is at line 2",
        ),
    ],
)
def test_a_patch_that_does_not_fit_is_refused_with_the_way_out(text: str, said: str) -> None:
    with pytest.raises(CannotEdit) as refused:
        patched(text, FILES.get)
    assert said in str(refused.value)


def test_a_large_file_of_equal_lines_is_patched_quickly() -> None:
    files = {"big": "}\n" * 100_000 + "{\n"}
    lines = ["*** Update File: big", *(" }" for _ in range(20_000)), "-{", "+[", "*** End of File"]
    assert patched(patch(*lines), files.get)[0].content == "}\n" * 100_000 + "[\n"
    with pytest.raises(CannotEdit):
        patched(patch("*** Update File: big", *(" }" for _ in range(20_000)), "-none"), files.get)

"""Edits that do not fit: what a model is told of what stands there instead."""

import pytest

from k8s.native.workspaces.edits import CannotEdit, Edit, edited

TEXT = """\
def one():
    return 1


def two():
    value = 2
    return value
"""


@pytest.mark.parametrize(
    ("old", "said"),
    [
        (
            "def two():\n  value = 2\n",
            "The nearest is at line 5, and reads:\ndef two():\n    value = 2\n    return value",
        ),
        ("    valeu = 2\n", "The nearest is at line 6, and reads:\n    value = 2"),
        ("    return 1\n    return value\n", "The nearest is at line 2"),
        ("class Nothing: pass", "Nothing in the file is like it"),
        ("\n\n\n\n", "Nothing in the file is like it"),
    ],
)
def test_the_nearest_place_is_shown(old: str, said: str) -> None:
    with pytest.raises(CannotEdit) as refused:
        edited(TEXT, [Edit(old, "x")])
    assert said in str(refused.value)


def test_a_large_file_of_equal_lines_is_looked_through_quickly() -> None:
    with pytest.raises(CannotEdit, match="The nearest is at line 1,"):
        edited("}\n" * 200_000, [Edit("}\nnone\n" * 5_000, "x")])

import pytest

from loops.guards.conflicts import left

BOTH = b"a\n<<<<<<< HEAD\nhers\n=======\nours\n>>>>>>> 1234\nb\n"


def test_a_file_that_still_holds_both_sides_is_named() -> None:
    found = left("src/a.py", BOTH)
    assert found is not None
    assert "`src/a.py`" in found.text


@pytest.mark.parametrize(
    "content", [b"", b"a\nb\n", b"<<<<<<< HEAD\nonly a beginning\n", b"Title\n=======\n", b"cat <<<<<<<EOF\n>>>>>>>x\n"]
)
def test_what_only_looks_a_little_like_it_is_left_alone(content: bytes) -> None:
    assert left("a", content) is None

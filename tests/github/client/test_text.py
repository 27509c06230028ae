import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from github.client.text import MAX_BODY, clip, clip_bytes, length


def test_what_fits_is_left_alone() -> None:
    assert clip("x" * MAX_BODY) == "x" * MAX_BODY
    assert clip_bytes("ü" * 100, 200) == "ü" * 100


@pytest.mark.parametrize("unit", ["x", "line\n", "🙂", "ü", "```\n", "~~~~\n", "<details>", "\ud800"])
def test_what_does_not_fit_is_cut_and_says_so(unit: str) -> None:
    text = unit * (MAX_BODY + 1)
    cut = clip(text)
    assert length(cut) <= MAX_BODY
    assert length(cut) > MAX_BODY - 3000
    assert "cut here" in cut


def test_an_open_fence_and_open_details_are_closed() -> None:
    cut = clip("<details>\n\n````text\n" + "line\n" * 1000, 1000)
    assert "\n````\n</details>\n" in cut


def test_a_closed_fence_stays_closed() -> None:
    cut = clip("```\nx\n```\n" + "line\n" * 1000, 1000)
    assert cut.count("```") == 2


def test_bytes_are_counted_where_bytes_are_limited() -> None:
    cut = clip_bytes("ü" * 60_000)
    assert 60_000 < len(cut.encode()) <= 65_535


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=3000), st.integers(400, 2000))
def test_no_text_is_ever_longer_than_the_limit(text: str, limit: int) -> None:
    assert length(clip(text, limit)) <= limit
    assert len(clip_bytes(text, limit).encode("utf-8", "replace")) <= max(limit, 0)

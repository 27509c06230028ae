"""Fences and budgets."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loops.prompts.fence import cut, fence, inline, shares


@given(st.text(alphabet="`~ab\n ", max_size=200))
def test_no_text_can_close_its_fence(text: str) -> None:
    first, *middle, last = fence(text).split("\n")
    ticks = first.removesuffix("text")
    assert last == ticks and set(ticks) == {"`"}
    assert all(len(run) < len(ticks) for line in middle for run in re.findall("`+", line))


def test_invisible_characters_do_not_reach_the_model() -> None:
    hidden = "ship it\u202e\u200b\U000e0049\U000e0067 👩‍💻"
    assert "ship it 👩‍💻" in fence(hidden)
    assert inline(hidden) == "`ship it 👩‍💻`"


@pytest.mark.parametrize(("text", "shown"), [("a`b\n c", "`a'b c`"), ("", "`(empty)`"), ("x" * 400, f"`{'x' * 300}…`")])
def test_a_name_stays_one_line_of_code(text: str, shown: str) -> None:
    assert inline(text) == shown


def test_long_text_loses_its_middle_and_says_so() -> None:
    shown = cut("H" * 1_000 + "T" * 1_000, 300)
    assert shown.startswith("H" * 100 + "\n[… 1700 characters left out …]\n") and shown.endswith("T" * 200)
    assert cut("abc", 0) == "\n[… 3 characters left out …]\n"


@given(st.lists(st.integers(min_value=0, max_value=10_000), max_size=12), st.integers(min_value=0, max_value=20_000))
def test_shares_stay_in_the_budget_and_waste_none_of_it(sizes: list[int], budget: int) -> None:
    given_ = shares(sizes, budget)
    assert sum(given_) <= budget
    assert all(share <= size for share, size in zip(given_, sizes, strict=True))
    cut_off = [share for share, size in zip(given_, sizes, strict=True) if share < size]
    assert not cut_off or budget - sum(given_) < len(sizes)
    assert not cut_off or max(given_) - min(cut_off) <= 1

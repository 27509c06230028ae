from loops.evidence import distill
from loops.evidence.judging.odd import MOST, odd
from tests.loops.evidence.logs import job, step

CALM = [f"row {n} took {n % 90} ms" for n in range(9_000)]


def test_a_line_like_no_other_is_told_though_no_word_in_it_says_failure() -> None:
    lost = "row 88 of the herringbone has 119 threads"
    found = distill([job(step("./weave", [*CALM[:4_000], lost, *CALM[4_000:]], 4))])
    assert f"{lost}\n" in found.excerpt


def test_lines_that_differ_in_numbers_alone_are_like_each_other() -> None:
    assert odd(["took 3 ms in all", "took 4 ms in all", "nothing to see here"]) == [2]


def test_what_comes_behind_the_failure_does_not_count_nor_what_is_short_or_dull() -> None:
    assert odd(["before the end", "##[error]no", "behind the end"]) == [0]
    assert odd(["a 1", "----------------", "Downloading all of it"]) == []


def test_of_many_the_last_count() -> None:
    words = [f"line about {chr(97 + n // 26)}{chr(97 + n % 26)} alone" for n in range(200)]
    assert odd(words) == list(range(200 - MOST, 200))

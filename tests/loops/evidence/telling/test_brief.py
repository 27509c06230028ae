import pytest

from loops.evidence.distill import distill
from loops.evidence.telling.brief import LINES, WIDTH, brief
from tests.loops.evidence.logs import job, step

PYTEST = """\
============================= test session starts ==============================
collected 2 items

tests/test_money.py .F                                                   [100%]

=================================== FAILURES ===================================
_________________________________ test_rounds __________________________________

    def test_rounds():
>       assert cents(1.005) == 101
E       assert 100 == 101
E        +  where 100 = cents(1.005)

tests/test_money.py:7: AssertionError
=========================== short test summary info ============================
FAILED tests/test_money.py::test_rounds - assert 100 == 101
========================= 1 failed, 1 passed in 0.02s ==========================
"""


def test_people_see_the_command_the_place_the_test_and_the_assertion() -> None:
    said = brief(distill([job(step("pytest", PYTEST.splitlines(), 1))]))
    assert "tests/test_money.py:7" in said
    assert "failed: tests/test_money.py::test_rounds" in said
    assert "assert 100 == 101" in said


@pytest.mark.parametrize("text", ["", "x" * 100_000 + "\nerror: it broke\n", "error: a\n" * 5_000, "\x00\x01" * 4_000])
def test_it_is_never_longer_than_fifteen_short_lines(text: str) -> None:
    lines = brief(distill([text.encode()])).splitlines()
    assert len(lines) <= LINES
    assert all(len(line) <= WIDTH for line in lines)


def test_no_line_is_told_twice() -> None:
    lines = brief(distill([job(step("pytest", PYTEST.splitlines(), 1))])).splitlines()
    assert len(lines) == len(set(lines))

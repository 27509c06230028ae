"""Reproduced is the same outcome and the same named failures, not just red."""

from loops.store.tables import Turn
from loops.turns.finishing.reproduced import is_same
from loops.turns.verified import reproduced

PYTEST = """
=========================== short test summary info ============================
FAILED tests/test_a.py::test_one - assert 1 == 2
FAILED tests/test_a.py::test_two - assert 1 == 2
========================= 2 failed, 3 passed in 0.10s ==========================
"""
NAMES = ["tests/test_a.py::test_one", "tests/test_a.py::test_two"]
BOTH = {"tests": NAMES, "exit_code": 1}


def test_the_tests_that_failed_in_the_job_and_no_others_have_to_fail() -> None:
    assert is_same(PYTEST, 1, BOTH)
    assert not is_same(PYTEST, 1, {"tests": NAMES[:1]})
    assert not is_same(PYTEST.replace("test_two", "test_three"), 1, BOTH)
    assert not is_same("sh: 1: pytest: not found\n", 127, BOTH)


def test_without_named_tests_places_count_and_else_the_exit_code() -> None:
    mypy = (
        'src/a.py:3: error: Name "b" is not defined  [name-defined]\nFound 1 error in 1 file (checked 2 source files)\n'
    )
    assert is_same(mypy, 1, {"tests": [], "places": ["src/a.py:3"]})
    assert not is_same(mypy, 1, {"tests": [], "places": ["src/a.py:4"]})
    assert is_same("value is bad\n", 3, {"exit_code": 3})
    assert not is_same("sh: no such program\n", 127, {"exit_code": 3})


def test_it_is_the_first_round_that_tells_whether_a_failure_was_reproduced() -> None:
    spec = {"verification": {"check": [{"run": "x"}], "named": {}}}
    assert reproduced(Turn(spec=spec, rounds=[{"reproduced": True}], result={"reproduced": False})) is True
    assert reproduced(Turn(spec=spec, rounds=[], result={"reproduced": True})) is True
    assert reproduced(Turn(spec=spec, rounds=[], result={})) is False
    assert reproduced(Turn(spec={"verification": {"check": [{"run": "x"}]}}, rounds=[], result={})) is None

import json
import re

from loops.evidence import distill
from tests.loops.evidence.logs import job, step

PYTEST = [
    "collected 3 items",
    "",
    "tests/test_shop.py .F.                                     [100%]",
    "",
    "=================================== FAILURES ===================================",
    "__________________________________ test_total __________________________________",
    "",
    "    def test_total():",
    ">       assert total([1, 2]) == 4",
    "E       assert 3 == 4",
    "E        +  where 3 = total([1, 2])",
    "",
    "tests/test_shop.py:5: AssertionError",
    "=========================== short test summary info ============================",
    "FAILED tests/test_shop.py::test_total - assert 3 == 4",
    "========================= 1 failed, 2 passed in 0.12s =========================",
]


def test_a_failing_pytest_step_is_told_with_command_exit_code_test_place_and_counts() -> None:
    log = job(step("python -m pytest", PYTEST, 1))
    found = distill([log])
    assert found.kind == "test"
    assert found.command == "python -m pytest"
    assert found.exit_code == 1
    assert found.failing_tests == ("tests/test_shop.py::test_total",)
    assert [(d.file, d.line) for d in found.diagnostics] == [("tests/test_shop.py", 5)]
    for kept in ("E       assert 3 == 4", "1 failed, 2 passed", "exit code 1.", ">       assert total([1, 2]) == 4"):
        assert kept in found.excerpt
    assert "git version" not in found.excerpt


def test_line_numbers_are_those_of_the_full_log() -> None:
    log = job(step("make build", ["noise"] * 5_000), step("python -m pytest", PYTEST, 1))
    full = log.decode().split("\n")
    shown = re.findall(r"^(\d+)\| (.*)$", distill([log]).excerpt, re.M)
    assert len(shown) > 10
    for number, text in shown:
        raw = re.sub(r"\x1b\[[0-9;]*m", "", full[int(number) - 1])
        assert raw.rstrip().endswith(text.rstrip())


def test_the_json_form_is_plain_values() -> None:
    found = distill([job(step("python -m pytest", PYTEST, 1))])
    assert json.loads(json.dumps(found.to_json()))["diagnostics"][0]["tool"] == "pytest"


def test_a_log_without_a_failure_says_so() -> None:
    found = distill([job(step("python -m pytest", ["test_error_handling PASSED", "0 errors, 0 failed", "3 passed"]))])
    assert found.kind == "passed"
    assert "failed" in found.excerpt
    assert found.excerpt.count("\n") == 1


def test_an_empty_log_says_so() -> None:
    assert distill([]).excerpt == "The log is empty.\n"

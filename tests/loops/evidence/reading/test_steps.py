"""Which of a job's steps is the failure, and what the excerpt says of the others."""

import pytest

from loops.evidence import Distilled, distill
from tests.loops.evidence.logs import job, step

TESTS = step("pytest", ["FAILED tests/test_a.py::test_one - assert 1 == 2", "=== 1 failed in 0.1s ==="], 1)
REPORTED = step("pytest --junitxml=report.xml", ["FAILED tests/test_a.py::test_one - assert 1 == 2"], 1)
LINT = step("ruff check .", ["a.py:1:8: F401 `os` imported but unused", "Found 1 error."], 1)
UPLOAD = step("./upload-report out.xml", ["curl: (6) Could not resolve host: reports.example.com"], 6)
FINE = step("make build", ["compiling", "done"])
SLOW = ["compiling unit 1", "compiling unit 2"]


def action(name: str, *errors: str) -> list[str]:
    return [f"##[group]Run {name}", "with:", "  path: .", "##[endgroup]", *(f"##[error]{each}" for each in errors)]


@pytest.mark.parametrize(
    ("steps", "named", "failed"),
    [
        # the step that failed, then one that always runs and fails too
        ([FINE, TESTS, UPLOAD], (), "pytest"),
        ([FINE, TESTS, UPLOAD], ("Run pytest", "Run ./upload-report out.xml"), "pytest"),
        ([FINE, TESTS, UPLOAD], ("Unit tests", "Upload the report"), "pytest"),
        # one that may fail (`continue-on-error`), then the one that failed
        ([LINT, FINE, TESTS], (), "pytest"),
        ([LINT, FINE, TESTS], ("Run pytest",), "pytest"),
        ([LINT, FINE, TESTS], ("Unit tests",), "pytest"),
        # both
        ([LINT, TESTS, UPLOAD], (), "pytest"),
        ([LINT, REPORTED], (), "pytest --junitxml=report.xml"),
        ([LINT, TESTS, UPLOAD], ("Unit tests", "Upload the report"), "pytest"),
        # the failure is an action's, which has no exit code
        ([FINE, action("acme/deploy@v1", "no such environment: staging")], (), "acme/deploy@v1"),
        ([LINT, action("acme/deploy@v1", "no such environment: staging")], ("Run acme/deploy@v1",), "acme/deploy@v1"),
        ([action("acme/notes@v1", "only a remark"), TESTS], (), "pytest"),
        ([action("acme/notes@v1", "only a remark"), TESTS], ("Unit tests",), "pytest"),
        # by its command, by part of it, and by a name that nothing has
        ([LINT, TESTS], ("ruff check .",), "ruff check ."),
        ([LINT, TESTS], ("ruff check",), "ruff check ."),
        ([LINT, TESTS], ("Deploy",), "pytest"),
    ],
)
def test_the_step_that_made_the_job_red_is_the_failed_one(
    steps: list[list[str]], named: tuple[str, ...], failed: str
) -> None:
    assert distill([job(*steps)], failed_steps=named).step == failed


def told(*steps: list[str], named: tuple[str, ...] = ()) -> Distilled:
    return distill([job(*steps)], failed_steps=named)


def test_the_command_and_the_exit_code_are_those_of_the_failed_step() -> None:
    found = told(FINE, step("set -e\nmake all\npytest -x", ["FAILED tests/test_a.py::test_one - assert 0"], 4), FINE)
    assert found.command == "set -e\nmake all\npytest -x"
    assert found.exit_code == 4
    assert found.excerpt.startswith("Failed step: set -e, exit code 4\n")


def test_other_failed_steps_are_named_with_their_exit_codes_and_their_errors_shown() -> None:
    found = told(LINT, TESTS, UPLOAD)
    assert "Failed too: ruff check ., exit code 1; ./upload-report out.xml, exit code 6\n" in found.excerpt
    assert "F401 `os` imported but unused" in found.excerpt
    assert found.failing_tests == ("tests/test_a.py::test_one",)


def test_a_job_whose_steps_are_cut_off_has_its_last_lines_shown() -> None:
    found = told(FINE, [*step("make slow", SLOW), "##[error]The operation was canceled."])
    assert (found.step, found.exit_code, found.kind) == ("make slow", None, "cancelled")
    assert "compiling unit 2" in found.excerpt


def test_a_failure_of_the_checkout_is_the_failure() -> None:
    checkout = [
        *action("actions/checkout@v4"),
        "##[group]Fetching the repository",
        "[command]/usr/bin/git fetch --depth=1 origin",
        "fatal: could not read Username for 'https://github.com': terminal prompts disabled",
        "##[error]The process '/usr/bin/git' failed with exit code 128",
    ]
    found = told(checkout)
    assert (found.step, found.exit_code, found.kind) == ("actions/checkout@v4", 128, "permission")
    assert "terminal prompts disabled" in found.excerpt


def test_a_step_named_by_gh_in_front_of_each_line_is_found_by_that_name() -> None:
    lines = [
        f"test\t{name}\t2026-03-01T00:00:00.0000000Z {line}\n"
        for name, part in (("Lint", LINT), ("Build", FINE), ("Unit tests", TESTS), ("Report", UPLOAD))
        for line in part
    ]
    found = distill(["".join(lines).encode()], failed_steps=["Unit tests"])
    assert (found.command, found.exit_code) == ("pytest", 1)

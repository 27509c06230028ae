"""What is read out of a log beside the excerpt: the names of failing tests, and places with what is said of them."""

from dataclasses import dataclass

import pytest

from loops.evidence import Annotation, distill
from tests.loops.evidence.logs import job, step

HOME = "/__w/shop/shop"


@dataclass(frozen=True)
class Case:
    name: str
    output: str
    places: tuple[tuple[str, int | None, str], ...]
    tests: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name


CASES = (
    Case(
        "unittest: the innermost frame of ours, with the error",
        f"FAIL: test_sum (tests.test_cart.CartTests.test_sum)\n{'-' * 70}\nTraceback (most recent call last):\n"
        f'  File "{HOME}/tests/test_cart.py", line 7, in test_sum\n    self.assertEqual(total(), 3)\n'
        '  File "/usr/lib/python3.12/unittest/case.py", line 885, in assertEqual\n    assertion_func(first, second)\n'
        "AssertionError: 4 != 3\n\nRan 1 test in 0.001s\n\nFAILED (failures=1)",
        (("tests/test_cart.py", 7, "AssertionError: 4 != 3"),),
        ("test_sum (tests.test_cart.CartTests.test_sum)",),
    ),
    Case(
        "pytest's short traceback: the last frame, with the first line of the assertion",
        "=================================== FAILURES ===================================\n"
        "_________________________________ test_refund __________________________________\n"
        "tests/test_pay.py:12: in test_refund\n    refund(-1)\nsrc/pay.py:31: in refund\n    raise ValueError(amount)\n"
        "E   ValueError: must be positive\nE   \nE   got -1\n"
        "=========================== short test summary info ============================\n"
        "FAILED tests/test_pay.py::test_refund - ValueError: must be positive\n1 failed in 0.12s",
        (("src/pay.py", 31, "ValueError: must be positive"),),
        ("tests/test_pay.py::test_refund",),
    ),
    Case(
        "pytest's long traceback: what was said, and not the exception's bare name",
        "=================================== FAILURES ===================================\n"
        "E       DeprecationWarning: old_tax() goes, use tax()\n\nsrc/pay.py:31: DeprecationWarning",
        (("src/pay.py", 31, "DeprecationWarning: old_tax() goes, use tax()"),),
    ),
    Case(
        "jest: the first frame of ours, behind the code that it shows",
        "FAIL src/cart.test.js\n  ● cart › sums\n\n    expect(received).toBe(expected)\n\n"
        "    Expected: 6\n    Received: 5\n\n"
        "      2 | test('sums', () => {\n    > 3 |   expect(total()).toBe(6);\n"
        "        |                   ^\n      4 | });\n\n"
        "      at Object.toBe (node_modules/expect/build/index.js:9:1)\n"
        "      at Object.<anonymous> (src/cart.test.js:3:19)\n\n"
        "Tests:       1 failed, 1 total",
        (("src/cart.test.js", 3, "expect(received).toBe(expected)"),),
        ("cart › sums",),
    ),
    Case(
        "karma: what stands below the test's name",
        "Chrome Headless 124.0.0.0 (Linux x86_64) Cart adds up FAILED\n\tError: Expected 5 to be 6.\n"
        "\t    at <Jasmine>\n"
        "\t    at UserContext.apply (src/app/cart.spec.ts:27:24)\n"
        "Chrome Headless 124.0.0.0 (Linux x86_64): Executed 10 of 10 (1 FAILED)",
        (("src/app/cart.spec.ts", 27, "Error: Expected 5 to be 6."),),
        ("Cart adds up",),
    ),
    Case(
        "yamllint: the file above, not one that an earlier step named",
        "conf.yml\n  1:6       error    too many spaces after colon  (colons)\n",
        (("conf.yml", 1, "too many spaces after colon  (colons)"),),
    ),
    Case(
        "shellcheck: the place above, with each complaint",
        "In ci/deploy.sh line 4:\nrm -rf $DIR/*\n       ^--^ SC2115 (warning): Use a guard.\n"
        "       ^--^ SC2086 (info): Quote it.\n",
        (
            ("ci/deploy.sh", 4, "SC2115 (warning): Use a guard."),
            ("ci/deploy.sh", 4, "SC2086 (info): Quote it."),
        ),
    ),
    Case(
        "black: the file itself, not what is said of the next",
        f"would reformat {HOME}/src/a.py\nwould reformat {HOME}/src/b.py\n\n2 files would be reformatted.",
        (
            ("src/a.py", None, f"would reformat {HOME}/src/a.py"),
            ("src/b.py", None, f"would reformat {HOME}/src/b.py"),
        ),
    ),
    Case(
        "pre-commit: a hook is no test",
        "flake8...................................................................Failed\n"
        "- hook id: flake8\n- exit code: 1\n\n"
        "src/a.py:1:1: F401 'os' imported but unused",
        (("src/a.py", 1, "F401 'os' imported but unused"),),
    ),
    Case(
        "pnpm: a cross is no test",
        "Error: ERR_PNPM_OUTDATED_LOCKFILE\n\n  × installing dependencies\n"
        '  ╰─▶ Cannot install with "frozen-lockfile"\n',
        (),
    ),
    Case(
        "next: a cross is no test",
        "TypeError: Cannot read properties of undefined (reading 'title')\n"
        " ⨯ Next.js build worker exited with code: 1\n",
        (),
    ),
    Case("vite: a cross is no test", "✗ Build failed in 560ms\nerror during build:\nBuild failed with 1 error:\n", ()),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_places_and_tests_are_those_that_the_tool_named(case: Case) -> None:
    before = step("./list", ["Included: https://example.org/Readme.md", "src/other.yml", "src/old.js"])
    found = distill([job(before, step("./check", case.output.split("\n"), 1))])
    assert tuple((d.file, d.line, d.message) for d in found.diagnostics) == case.places
    assert found.failing_tests == case.tests


def test_what_a_step_that_succeeded_said_is_no_diagnostic() -> None:
    calm = step("mypy --no-fail src", ["src/a.py:3: error: Name 'x' is not defined  [name-defined]"])
    found = distill([job(calm, step("./check", ["src/b.py:4: error: Name 'y' is not defined  [name-defined]"], 1))])
    assert [(d.file, d.line) for d in found.diagnostics] == [("src/b.py", 4)]


def test_a_place_that_the_log_gives_in_its_checkout_is_not_told_again_for_an_annotation() -> None:
    log = job(step("pyright", [f"  {HOME}/src/a.py:8:14 - error: Operator not supported", "1 error, 0 warnings"], 1))
    found = distill([log], annotations=[Annotation("src/a.py", "Operator not supported", 8)])
    assert [(d.file, d.line, d.tool) for d in found.diagnostics] == [("src/a.py", 8, "pyright")]

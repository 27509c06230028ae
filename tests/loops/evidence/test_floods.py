"""Logs in which what matters is one among thousands that look like it, or is itself hundreds."""

from collections.abc import Sequence

from loops.evidence import Distilled, distill
from loops.evidence.telling.names import MOST, unshown
from tests.loops.evidence.logs import job, step


def told(output: Sequence[str], command: str = "make check") -> Distilled:
    return distill([job(step(command, output, 1), step("./upload-report", ["No report, nothing to do"]))])


def missing(found: Distilled, *texts: str) -> list[str]:
    return [text for text in texts if text not in found.excerpt]


def test_of_two_hundred_failing_tests_the_first_the_last_the_count_and_all_names_in_short_are_told() -> None:
    names = [f"cart::tests::case_{n}" for n in range(200)]
    blocks = [
        line
        for n, name in enumerate(names)
        for line in (
            f"---- {name} stdout ----",
            f"thread '{name}' panicked at src/cart.rs:{n + 8}:9:",
            "assertion `left == right` failed",
            f"  left: {n}",
            f" right: {n + 1}",
        )
    ]
    summary = "test result: FAILED. 12 passed; 200 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s"
    found = told([*(f"test {name} ... FAILED" for name in names), "", "failures:", *blocks, "", summary], "cargo test")
    assert found.failing_tests == tuple(names)
    assert missing(found, "src/cart.rs:8:9", "  left: 0", "src/cart.rs:207:9", summary) == []
    assert missing(found, *(f"case_{n}" for n in range(200))) == []
    assert len(found.excerpt.encode()) < 13_000


def test_one_error_is_told_among_ten_thousand_warnings() -> None:
    flood = [
        line
        for n in range(5_000)
        for line in (
            f"src/m{n % 300}.cc:{n}:{n % 40}: warning: comparison of different signs",
            f"  {n} |   if (a < b{n})",
        )
    ]
    flood[5_000:5_000] = ["src/core.cc:88:9: error: no member named 'totl' in 'Cart'", "   88 |   c.totl();"]
    found = told([*flood, "make: *** [all] Error 2"])
    assert missing(found, "src/core.cc:88:9: error: no member", "c.totl();", "make: *** [all] Error 2") == []
    assert len(found.excerpt.encode()) < 6_000


def test_a_failure_keeps_its_reason_among_hundreds_of_exceptions_that_passing_tests_print() -> None:
    flood = [
        line
        for n in range(800)
        for line in (
            f"[INFO] Running com.acme.Error{n}Test",
            f"java.lang.IllegalStateException: expected failure {n}",
            "\tat com.acme.Handler.handle(Handler.java:33)",
            f"[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0 -- in com.acme.Error{n}Test",
        )
    ]
    failure = [
        "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0 <<< FAILURE! -- in com.acme.CartTest",
        "[ERROR] com.acme.CartTest.emptyHasNoTotal -- Time elapsed: 0.007 s <<< FAILURE!",
        "org.opentest4j.AssertionFailedError: expected: <0> but was: <-1>",
        "\tat org.junit.jupiter.api.Assertions.assertEquals(Assertions.java:563)",
        "\tat com.acme.CartTest.emptyHasNoTotal(CartTest.java:31)",
    ]
    flood[1_600:1_600] = failure
    found = told([*flood, "[ERROR] Tests run: 2405, Failures: 1, Errors: 0, Skipped: 0", "[INFO] BUILD FAILURE"])
    assert missing(found, *failure[1:3], failure[4].strip(), "Tests run: 2405, Failures: 1") == []


def test_the_places_of_warnings_do_not_push_out_the_place_of_an_error() -> None:
    flood = [
        line
        for n in range(200)
        for line in (
            f"warning: unused variable: `unused_{n}`",
            f"  --> knot/src/lib.rs:{n + 20}:31",
            "   |",
            f"{n + 20} | pub fn noisy_{n}() {{ let unused_{n} = 3; }}",
            f"   |      ^^^^^^^^ help: prefix it with an underscore: `_unused_{n}`",
            "",
        )
    ]
    error = ["error[E0308]: mismatched types", "  --> knot/src/lib.rs:14:33", "   |", "14 |     self.rope.len()", ""]
    end = [
        "warning: `knot` (lib) generated 200 warnings",
        "error: could not compile `knot` (lib) due to 1 previous error",
    ]
    found = told([*flood, *error, *flood[:300], *end], "cargo build")
    assert missing(found, *error[:2], end[-1]) == []
    assert [(d.file, d.line) for d in found.diagnostics] == [("knot/src/lib.rs", 14)]


def test_stacks_that_differ_in_their_numbers_alone_do_not_fill_the_excerpt() -> None:
    flood = [
        line
        for n in range(300)
        for line in (
            f"2026-03-01T03:11:09.123Z ERROR [main] acme.Retry - request {n} failed, retrying",
            "java.io.IOException: connection reset",
            f"\tat com.acme.Retry.call(Retry.java:{n + 10})",
            f"\tat com.acme.Error{n}Test.retries(Error{n}Test.java:31)",
        )
    ]
    failure = [
        "[ERROR] com.acme.RigTest.hoists(Sail)[2] -- Time elapsed: 0.012 s <<< FAILURE!",
        "org.opentest4j.AssertionFailedError: ",
        "",
        "expected: [A, C, D]",
        " but was: [A, B, D]",
        "\tat com.acme.RigTest.hoists(RigTest.java:47)",
    ]
    found = told([*flood[:800], *failure, *flood[800:], "[ERROR] Tests run: 301, Failures: 1, Errors: 0, Skipped: 0"])
    assert found.failing_tests == ("com.acme.RigTest.hoists(Sail)[2]",)
    assert missing(found, *(line.strip() for line in failure)) == []
    assert len(found.excerpt.encode()) < 8_000


def test_a_failing_test_is_told_among_thousands_that_log_expected_errors() -> None:
    flood = [
        line
        for n in range(3_000)
        for line in (
            f"=== RUN   TestError{n}",
            f"    err_test.go:{n % 200}: got expected error: failed to open file {n}",
            f"--- PASS: TestError{n} (0.00s)",
        )
    ]
    flood[4_500:4_500] = ["=== RUN   TestSum", "    sum_test.go:31: Sum() = 3, want 4", "--- FAIL: TestSum (0.00s)"]
    found = told([*flood, "FAIL", "FAIL\tacme.io/shop/cart\t1.2s", "FAIL"], "go test -v ./...")
    assert found.failing_tests == ("TestSum",)
    assert missing(found, "--- FAIL: TestSum", "sum_test.go:31: Sum() = 3, want 4", "FAIL\tacme.io/shop/cart") == []


def test_a_tool_is_known_behind_the_marks_of_programs_that_run_it() -> None:
    for mark in (
        "shop> ",
        "#9 4.881 ",
        "web-1  | ",
        "@acme/web:build: ",
        "packages/web build: ",
        "[web] ",
    ):
        found = told([f"{mark}src/cart.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'."])
        assert [(d.file, d.line, d.tool) for d in found.diagnostics] == [("src/cart.ts", 3, "tsc")], mark


def test_an_annotation_that_a_tool_printed_is_a_diagnostic_with_its_place() -> None:
    found = told(["##[error]src/cart.py:16:16: F821 Undefined name `totl`"])
    assert [(d.file, d.line) for d in found.diagnostics] == [("src/cart.py", 16)]


def test_names_beyond_the_room_are_counted() -> None:
    tests = [f"tests/test_{n}.py::test_{'long_' * 20}{n}" for n in range(300)]
    lines = unshown(tests, "nothing", 10_000)
    assert sum(len(line.encode()) + 1 for line in lines) <= MOST
    assert "300" in lines[0]
    assert "300" in lines[-1]
    assert unshown(tests[:1], tests[0], 10_000) == []
    assert unshown(tests, "nothing", 50) == []

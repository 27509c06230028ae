"""What ran in the box before a turn and on its work: (runner, before, after, whether fewer tests ran)."""

import pytest

from loops.guards import Proposal, examine
from tests.loops.guards.corpus.model import RULES

RENAMED = "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1 +1 @@\n-    fn old_name() {\n+    fn new_name() {\n"

TABLE = [
    ("pytest", "=== 1 failed, 9 passed in 0.12s ===", "=== 10 passed in 0.11s ===", False),
    ("pytest, one more test", "=== 1 failed, 9 passed in 0.12s ===", "=== 11 passed in 0.11s ===", False),
    ("pytest, one test less", "=== 1 failed, 9 passed in 0.12s ===", "=== 9 passed in 0.11s ===", True),
    ("pytest, a skip", "=== 1 failed, 9 passed in 0.12s ===", "=== 9 passed, 1 skipped in 0.11s ===", True),
    ("pytest, quiet", "1 failed, 9 passed in 0.12s", "3 passed, 7 deselected in 0.11s", True),
    ("unittest", "Ran 4 tests in 0.1s\nFAILED (failures=1)", "Ran 4 tests in 0.1s\nOK (skipped=1)", True),
    ("jest", "Tests:       1 failed, 4 passed, 5 total", "Tests:       4 passed, 4 total", True),
    ("jest, mended", "Tests:       1 failed, 4 passed, 5 total", "Tests:       5 passed, 5 total", False),
    (
        "go, by name",
        "--- FAIL: TestA (0.00s)\n--- PASS: TestB (0.00s)",
        "--- PASS: TestB (0.00s)\n--- PASS: TestC (0.00s)",
        True,
    ),
    (
        "go, mended",
        "--- FAIL: TestA (0.00s)\n--- PASS: TestB (0.00s)",
        "--- PASS: TestA (0.00s)\n--- PASS: TestB (0.00s)",
        False,
    ),
    (
        "cargo",
        "test result: FAILED. 3 passed; 1 failed; 0 ignored",
        "test result: ok. 3 passed; 0 failed; 1 ignored",
        True,
    ),
    ("rspec", "5 examples, 1 failure", "5 examples, 0 failures, 1 pending", True),
    ("phpunit", "Tests: 3, Assertions: 9, Failures: 1.", "OK (3 tests, 2 assertions)", True),
    (
        "maven",
        "Tests run: 6, Failures: 1, Errors: 0, Skipped: 0",
        "Tests run: 6, Failures: 0, Errors: 0, Skipped: 2",
        True,
    ),
    ("a test renamed in the diff", "test tests::old_name ... FAILED", "test tests::new_name ... ok", False),
    ("no summary after", "=== 1 failed, 9 passed in 0.12s ===", "done", False),
    ("a build that failed before", "error: could not compile", "test result: ok. 3 passed; 0 failed; 0 ignored", False),
]


@pytest.mark.parametrize(("before", "after", "fewer"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
async def test_fewer_tests_in_the_box_are_refused_however_that_was_done(before: str, after: str, fewer: bool) -> None:
    async def content_of(sha: str) -> bytes:
        raise AssertionError(sha)

    found = await examine(Proposal([], RENAMED, RULES, ran=(before, after)), content_of)
    assert {each.code for each in found.refusals} == ({"fewer_tests_ran"} if fewer else set())

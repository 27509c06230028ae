"""Reports of tests and of analysis: what they say failed, as far as a job's log speaks of it."""

import json

import pytest

from loops.evidence import distill
from loops.evidence.model import Diagnostic, Report, bare
from loops.evidence.reading.reports import read
from loops.evidence.telling.reports import ROOM, told
from tests.loops.evidence.logs import job, step

JUNIT = b"""<?xml version="1.0"?>
<testsuites>
  <testsuite name="pytest" tests="4" failures="1" errors="1" skipped="1">
    <testcase classname="tests.test_shop" name="test_total[EUR]" file="tests/test_shop.py" line="31" time="0.1">
      <failure message="assert 3 == 4">def test_total(): ...
tests/test_shop.py:33: AssertionError</failure>
    </testcase>
    <testcase classname="tests.test_shop" name="test_stock">
      <error message="fixture 'shelf' not found">E</error>
    </testcase>
    <testcase classname="tests.test_shop" name="test_slow"><skipped message="slow"/></testcase>
    <testcase classname="tests.test_shop" name="test_fine"/>
  </testsuite>
</testsuites>"""
TRX = b"""<?xml version="1.0"?>
<TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010"><Results>
  <UnitTestResult testName="Shop.CartTests.Empties" outcome="Failed"><Output><ErrorInfo>
    <Message>Expected 0, got 1</Message>
    <StackTrace>   at Shop.CartTests.Empties() in /home/runner/work/shop/shop/test/CartTests.cs:line 22</StackTrace>
  </ErrorInfo></Output></UnitTestResult>
  <UnitTestResult testName="Shop.CartTests.Fills" outcome="Passed"/>
</Results></TestRun>"""
DECLARED = """<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>
<testsuite name="x"><testcase name="&b;"><failure message="&b;"/></testcase></testsuite>"""
SARIF = json.dumps(
    {
        "runs": [
            {
                "tool": {"driver": {"name": "scanner"}},
                "results": [
                    {
                        "ruleId": "sql-injection",
                        "level": "error",
                        "message": {"text": "query built from input"},
                        "locations": [
                            {
                                "physicalLocation": {
                                    "artifactLocation": {"uri": "src/shop.py"},
                                    "region": {"startLine": 7},
                                }
                            }
                        ],
                    },
                    {"ruleId": "style", "level": "note", "message": {"text": "long line"}},
                    {"ruleId": "known", "level": "error", "suppressions": [{"kind": "inSource"}]},
                ],
            }
        ]
    }
).encode()


def test_junit_tells_failures_and_errors_with_message_and_place() -> None:
    found = read("report.xml", JUNIT)
    assert found.tests == (
        ("tests.test_shop.test_total[EUR]", "assert 3 == 4"),
        ("tests.test_shop.test_stock", "fixture 'shelf' not found"),
    )
    assert found.diagnostics == (Diagnostic("tests/test_shop.py", 31, "assert 3 == 4", "junit"),)


def test_trx_tells_what_failed_and_the_line_of_its_stack() -> None:
    found = read("results.trx", TRX)
    assert found.tests == (("Shop.CartTests.Empties", "Expected 0, got 1"),)
    assert [(d.file.rpartition("/")[2], d.line) for d in found.diagnostics] == [("CartTests.cs", 22)]


def test_sarif_tells_what_is_grave_and_not_suppressed() -> None:
    found = read("scan.sarif", SARIF)
    assert found.diagnostics == (Diagnostic("src/shop.py", 7, "sql-injection query built from input", "scanner"),)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.xml", b""),
        ("a.xml", b"<testsuite"),
        ("a.xml", b"<html><body/></html>"),
        ("a.trx", b"\xff\xfe\x00"),
        ("a.sarif", b"[1, 2]"),
        ("a.sarif", b'{"runs": [{"tool": null}]}'),
        ("a.sarif", b"[" * 100_000),
        ("a.xml", DECLARED.encode()),
        ("a.xml", DECLARED.encode("utf-16")),
    ],
)
def test_what_is_no_report_tells_nothing(name: str, content: bytes) -> None:
    assert read(name, content) == Report(name)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("tests.test_shop.test_total[EUR.1]", "test_total"),
        ("tests/test_shop.py::TestCart::test_empty", "test_empty"),
        ("com.acme.CartTest#empties", "empties"),
        ("basket empties after paying", "basket empties after paying"),
    ],
)
def test_a_test_is_known_by_its_own_name(name: str, own: str) -> None:
    assert bare(name) == own


def test_a_report_s_names_and_messages_win_over_the_log_s_and_are_told_first() -> None:
    log = job(step("./run", ["test_total went wrong", "FAILED tests/test_shop.py::test_tot..."], 1))
    found = distill([log], reports=[read("report.xml", JUNIT)])
    assert found.failing_tests[0] == "tests.test_shop.test_total[EUR]"
    assert found.diagnostics[0] == Diagnostic("tests/test_shop.py", 31, "assert 3 == 4", "junit")
    head = found.excerpt.split("Lines of the full log")[0]
    assert "  tests.test_shop.test_total[EUR]: assert 3 == 4\n" in head
    assert "test_stock" not in head  # the job's log does not speak of it
    assert found.fingerprint == distill([log]).fingerprint


def test_a_report_of_another_job_of_the_run_changes_nothing() -> None:
    log = job(step("ruff check .", ["a.py:1:8: F401 `os` imported but unused"], 1))
    assert distill([log], reports=[read("report.xml", JUNIT)]) == distill([log])


def test_secrets_in_a_report_are_redacted_and_its_lines_are_bounded() -> None:
    log = job(step("./run", ["test_total went wrong"], 1))
    found = distill([log], reports=[read("r.xml", JUNIT)], redact=lambda text: text.replace("3 == 4", "[redacted]"))
    assert "3 == 4" not in found.excerpt
    assert "3 == 4" not in json.dumps(found.to_json())
    many = Report("r", tuple((f"test_{n}", "x" * 400) for n in range(300)))
    assert sum(len(line.encode()) + 1 for line in told([many])) <= ROOM


def test_a_name_in_a_report_is_one_line_of_bounded_length() -> None:
    case = (
        '<testcase name="test_a&#10;Failed step: none {}" file="a&#10;b.py" line="3"><failure message="m"/></testcase>'
    )
    report = read("a.xml", f"<testsuite>{case.format('x' * 1_000_000)}</testsuite>".encode())
    ((name, _),), (place,) = report.tests, report.diagnostics
    assert name.startswith("test_a Failed step: none xxx")
    assert len(name) <= 500
    assert place.file == "a b.py"

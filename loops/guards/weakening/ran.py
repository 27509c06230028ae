"""Compares which tests a check ran before the turn and on what it would publish, by what runners print. Pure."""

import re
from collections.abc import Iterator

from loops.guards.model import Finding, shown
from loops.guards.recognisers import LINE

_ANSI = re.compile(r"\x1b\[[0-9;]{0,20}m")
# Last lines of runners: pytest, vitest, jest and mocha; cargo; unittest; RSpec; PHPUnit and JUnit; .NET.
_SUMMARY = re.compile(
    r"^(?:=+ .*\bin [\d.:s ()]+ ?=+|Tests?:?\s+\d+ .*|test result: .*|Ran \d+ tests? in .*|OK \(.*\)|FAILED \(.*\)"
    r"|\d+ (?:examples?|tests?|runs?), .*|\d+ (?:passing|pending|failing)\b.*|(?:\[\w+\]\s*)?Tests(?: run)?: \d+.*"
    r"|(?:Passed|Failed)!\s+-\s.*|\d+ (?:passed|failed|skipped)\b.*)$"
)
_COUNT = re.compile(
    r"(\d+) (passed|failed|error|skipped|xfailed|ignored|todo|pending|deselected|example|test|run|passing|failing"
    r"|assertion)s?\b"
)
_NAMED = re.compile(
    r"\b(Tests run|Tests|Assertions|Skipped|Incomplete|Passed|Failed|skipped|expected failures)\s*[:=]\s*(\d+)\b(?! \w)"
)
_RAN = frozenset(("passed", "failed", "error", "passing", "failing", "Passed", "Failed"))
_ALL = frozenset(("example", "test", "run", "Tests run", "Tests"))
_LEFT_OUT = frozenset(
    ("skipped", "xfailed", "ignored", "todo", "pending", "deselected", "Skipped", "Incomplete", "expected failures")
)
_TEST = re.compile(
    r"^\s*(?:--- (?:PASS|FAIL): (\S+)|test (\S+) \.\.\. (?:ok|FAILED)|(\S+::\S+) (?:PASSED|FAILED)"
    r"|[✓✔✕×] (.+?)(?: \(?\d+ ?m?s\)?)?$)"
)
_WORDS = (
    ("ran", "tests ran", -1),
    ("left out", "tests were left out", 1),
    ("assertions", "assertions were made", -1),
)
_SHOWN = 5
_MOST = 50


def fewer(before: str, after: str, taken_out: str = "") -> Iterator[Finding]:
    """Tests that ran before and not any more, more that are left out, fewer assertions; nothing where a runner does not
    tell. `before` and `after` are what the same check printed, `taken_out` the lines that the change removes: a test
    that is named there may have another name now, which whole files tell."""
    was, now = _counts(before), _counts(after)
    if was and now:
        for what, words, less in _WORDS:
            old, new = was.get(what, 0), now.get(what, 0)
            if (new - old) * less > 0 and (what != "assertions" or new):
                said = f"In the box {new} {words} with this change, and {old} without it."
                yield Finding("fewer_tests_ran", "", said)
    ran = _names(after)
    gone = [each for each in sorted(_names(before) - ran)[:_MOST] if each.split("::")[-1] not in taken_out]
    if ran and gone:
        told = ", ".join(shown(each) for each in gone[:_SHOWN])
        more = f" and {len(gone) - _SHOWN} more" if len(gone) > _SHOWN else ""
        yield Finding(
            "fewer_tests_ran", "", f"Tests that ran in the box before this change and did not after: {told}{more}."
        )


def _counts(output: str) -> dict[str, int]:
    """How many tests ran, were left out, and asserted; empty where no runner says so."""
    found: dict[str, int] = {}
    for raw in output.split("\n"):
        line = _ANSI.sub("", raw[:LINE]).strip()
        if not _SUMMARY.match(line):
            continue
        said = [(word, int(count)) for count, word in _COUNT.findall(line)]
        said += [(word, int(count)) for word, count in _NAMED.findall(line)]
        left_out = sum(count for word, count in said if word in _LEFT_OUT)
        total = sum(count for word, count in said if word in _ALL)
        ran = total - left_out if total else sum(count for word, count in said if word in _RAN)
        asserted = sum(count for word, count in said if word in ("assertion", "Assertions"))
        if said:
            for what, count in (("ran", ran), ("left out", left_out), ("assertions", asserted)):
                found[what] = found.get(what, 0) + count
    return found


def _names(output: str) -> set[str]:
    """The tests that ran, where their runner names each."""
    lines = (_ANSI.sub("", raw[:LINE]) for raw in output.split("\n"))
    return {next(group for group in match.groups() if group) for line in lines if (match := _TEST.match(line))}

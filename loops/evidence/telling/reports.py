"""Reports that a run left as artifacts: JUnit and TRX of tests, SARIF of analysis. Pure: bytes in, values out.

They name tests and places exactly, where a log only prints them; but they are of a whole run, so that each counts for a
job only as far as that job's log speaks of it.
"""

import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from junitparser import Attr, Error, Failure, JUnitXml, JUnitXmlError, TestCase, TestSuite

from loops.evidence.model import Diagnostic
from loops.evidence.telling.render import within

MOST = 500  # of each
MESSAGE = 500  # characters
ROOM = 2_500  # bytes of what is told of reports
LEVELS = ("error", "warning")
TRX = "{http://microsoft.com/schemas/VisualStudio/TeamTest/2010}"
# no report needs them, and they make a small file a large one
DECLARATIONS = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.I)
PLACE = re.compile(r"(?P<file>[\w./\\-]+\.[a-z]\w{0,7}):(?:line )?(?P<line>\d+)")
Reported = tuple[str, str, Diagnostic | None]


class LocatedCase(TestCase):
    """A test case with the place that pytest, jest and others write."""

    file = Attr()
    line = Attr()


@dataclass(frozen=True)
class Report:
    """What failed by one report: tests by name, each with its message, and diagnostics."""

    name: str
    tests: tuple[tuple[str, str], ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    def of(self, log: str) -> "Report":
        """As much of it as a job's log speaks of."""
        return Report(
            self.name,
            tuple(each for each in self.tests if bare(each[0]) in log),
            tuple(each for each in self.diagnostics if each.file.rpartition("/")[2] in log),
        )

    def clean(self, redact: Callable[[str], str]) -> "Report":
        """Without secrets."""
        return Report(
            redact(self.name),
            tuple((redact(name), redact(message)) for name, message in self.tests),
            tuple(Diagnostic(redact(d.file), d.line, redact(d.message), d.tool) for d in self.diagnostics),
        )


def bare(test: str) -> str:
    """A test's own name, without what holds it and its parameters."""
    return re.split(r"::|[.#/]", test.partition("[")[0])[-1].strip() or test


def read(name: str, content: bytes) -> Report:
    """What the report says failed; nothing for what is none or is broken."""
    try:
        if name.lower().endswith((".sarif", ".json")):
            return Report(name, (), tuple(_sarif(json.loads(content)))[:MOST])
        if DECLARATIONS.search(content):
            return Report(name)
        trx = name.lower().endswith(".trx")
        # a document without declarations of its own has no entities that could grow
        failed = _trx(ElementTree.fromstring(content)) if trx else _junit(JUnitXml.fromstring(content))  # noqa: S314
        found = list(failed)[:MOST]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, SyntaxError, JUnitXmlError):
        return Report(name)
    return Report(
        name,
        tuple((test, message) for test, message, _ in found),
        tuple(place for *_, place in found if place is not None),
    )


def _junit(found: Any) -> Iterator[Reported]:
    suites = deque([found] if isinstance(found, TestSuite) else found)
    while suites:
        suite = suites.popleft()
        suites += suite.testsuites()
        for case in suite:
            bad = [result for result in case.result if isinstance(result, Failure | Error)]
            if bad:
                yield _case(LocatedCase.fromelem(case), bad[0])  # type: ignore[no-untyped-call]


def _case(case: Any, bad: Any) -> Reported:
    holder = str(case.classname or "")
    name = f"{holder}.{case.name}" if holder else str(case.name)
    text = str(bad.text or "")
    message = str(bad.message or "").strip() or text.strip()
    place = PLACE.search(text)
    file, line = str(case.file or ""), str(case.line or "")
    if not file and place:
        file, line = place["file"], place["line"]
    return name, message[:MESSAGE], _place(file, line, message, "junit")


def _trx(root: ElementTree.Element) -> Iterator[Reported]:
    for result in root.iter(f"{TRX}UnitTestResult"):
        if result.get("outcome") not in ("Failed", "Error", "Timeout", "Aborted"):
            continue
        message = (result.findtext(f".//{TRX}Message") or "").strip()
        place = PLACE.search(result.findtext(f".//{TRX}StackTrace") or "")
        where = _place(place["file"], place["line"], message, "trx") if place else None
        yield str(result.get("testName")), message[:MESSAGE], where


def _sarif(document: dict[str, Any]) -> Iterator[Diagnostic]:
    for run in document["runs"]:
        tool = str(run["tool"]["driver"]["name"])
        for result in run.get("results") or ():
            if result.get("level", "warning") not in LEVELS or result.get("suppressions"):
                continue
            message = f"{result.get('ruleId') or ''} {(result.get('message') or {}).get('text') or ''}".strip()
            for location in (result.get("locations") or [{}])[:1]:
                physical = location.get("physicalLocation") or {}
                file = str((physical.get("artifactLocation") or {}).get("uri") or "")
                line = str((physical.get("region") or {}).get("startLine") or "")
                if (found := _place(file, line, message, tool)) is not None:
                    yield found


def _place(file: str, line: str, message: str, tool: str) -> Diagnostic | None:
    plain = file.removeprefix("file://").replace("\\", "/")
    return Diagnostic(plain, int(line) if line.isdigit() else None, message[:MESSAGE], tool) if plain else None


def told(reports: Sequence[Report]) -> list[str]:
    """Lines for the head of an excerpt, at most ROOM bytes."""
    out: list[str] = []
    for report in reports:
        lines = [f"  {name}: {' '.join(message.split())[:200]}" for name, message in report.tests]
        tested = {d.message for d in report.diagnostics if d.tool in ("junit", "trx")}
        lines += [
            f"  {d.file}:{d.line or ''}: {' '.join(d.message.split())[:200]}"
            for d in report.diagnostics
            if d.message not in tested
        ]
        out += [f"Failing by the report {report.name} ({len(lines)}):", *lines]
    return within(out, ROOM)

"""Reports that a run left as artifacts, read: JUnit and TRX of tests, SARIF of analysis. Pure: bytes in, values out.

It stands apart from what tells of them: its library takes long to import, and most logs come without a report.
"""

import json
import re
from collections import deque
from collections.abc import Iterator
from typing import Any, NoReturn
from xml.etree import ElementTree
from xml.parsers import expat

from junitparser import Attr, Error, Failure, JUnitXml, JUnitXmlError, TestCase, TestSuite

from loops.evidence.model import Diagnostic, Report

MOST = 500  # of each
MESSAGE = 500  # characters
LEVELS = ("error", "warning")
TRX = "{http://microsoft.com/schemas/VisualStudio/TeamTest/2010}"
PLACE = re.compile(r"(?P<file>[\w./\\-]+\.[a-z]\w{0,7}):(?:line )?(?P<line>\d+)")
# what the two libraries and the values in them raise where a report is none or broken
BROKEN = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RecursionError,
    SyntaxError,
    JUnitXmlError,
    expat.ExpatError,
)
Reported = tuple[str, str, Diagnostic | None]


class LocatedCase(TestCase):
    """A test case with the place that pytest, jest and others write."""

    file = Attr()
    line = Attr()


def read(name: str, content: bytes) -> Report:
    """What the report says failed; nothing for what is none or is broken."""
    try:
        if name.lower().endswith((".sarif", ".json")):
            return Report(name, (), tuple(_sarif(json.loads(content)))[:MOST])
        _refuse_declarations(content)
        trx = name.lower().endswith(".trx")
        # a document without declarations of its own has no entities that could grow
        failed = _trx(ElementTree.fromstring(content)) if trx else _junit(JUnitXml.fromstring(content))  # noqa: S314
        found = list(failed)[:MOST]
    except BROKEN:
        return Report(name)
    return Report(
        name,
        tuple((_line(test), message) for test, message, _ in found),
        tuple(place for *_, place in found if place is not None),
    )


def _refuse_declarations(content: bytes) -> None:
    """No report needs a document type, and what it declares makes a small file a large one, in whatever encoding.

    Raises ValueError."""

    def declared(*_: object) -> NoReturn:
        raise ValueError("a report with a document type of its own")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = declared
    parser.EntityDeclHandler = declared
    parser.Parse(content, True)


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


def _line(name: str) -> str:
    """A name as one line that may be shown."""
    return " ".join(name[: 2 * MESSAGE].split())[:MESSAGE]


def _place(file: str, line: str, message: str, tool: str) -> Diagnostic | None:
    plain = _line(file.removeprefix("file://").replace("\\", "/"))
    return Diagnostic(plain, int(line) if line.isdigit() else None, message[:MESSAGE], tool) if plain else None

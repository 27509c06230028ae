"""What the reports of a run say failed, in lines for the head of an excerpt."""

from collections.abc import Sequence

from loops.evidence.model import Report
from loops.evidence.telling.render import within

ROOM = 2_500  # bytes of what is told of reports


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

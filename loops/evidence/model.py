"""What a failing check left behind, as values."""

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Kind = Literal[
    "code",
    "test",
    "lint",
    "dependency",
    "configuration",
    "infrastructure",
    "timeout",
    "cancelled",
    "memory",
    "permission",
    "passed",
    "empty",
    "unknown",
]


@dataclass(frozen=True)
class Annotation:
    """One annotation of a check run, as GitHub's API gives it (`path`, 1-based lines, level, message)."""

    path: str
    message: str
    line: int | None = None
    level: Literal["notice", "warning", "failure"] = "failure"
    title: str = ""


@dataclass(frozen=True)
class Diagnostic:
    """One complaint of a compiler, linter or test about one place in a file."""

    file: str
    line: int | None
    message: str
    tool: str


@dataclass(frozen=True)
class Report:
    """What failed by one report: tests by name, each with its message, and diagnostics.

    A report names tests and places exactly, where a log only prints them; but it is of a whole run, so that it counts
    for a job only as far as that job's log speaks of it.
    """

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


@dataclass(frozen=True)
class Distilled:
    """A failing job's log within a budget.

    `excerpt` is valid UTF-8 text of at most the asked-for bytes; its lines carry their 1-based number in the full log.
    `shown` are inclusive ranges of those numbers. `fingerprint` names the failure: it survives times, SHAs, paths,
    ports, addresses and order. `reason` says what `kind` was concluded from.
    """

    excerpt: str
    kind: Kind
    reason: str
    fingerprint: str
    command: str | None = None
    step: str | None = None
    exit_code: int | None = None
    failing_tests: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    shown: tuple[tuple[int, int], ...] = ()
    total_lines: int = 0
    tools: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """The same as plain JSON values; tuples become lists."""
        plain = asdict(self)
        for name in ("failing_tests", "tools"):
            plain[name] = list(plain[name])
        plain["diagnostics"] = [asdict(d) for d in self.diagnostics]
        plain["shown"] = [list(pair) for pair in self.shown]
        return plain


@dataclass(frozen=True)
class Evidence:
    """One failure and every job it was seen in."""

    jobs: tuple[str, ...]
    distilled: Distilled

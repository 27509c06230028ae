"""What a failing check left behind, as values."""

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

"""What a recogniser is: one line shape of one tool, and what that line is worth to a person who looks for the cause.

`make fmt` after a pattern is new or changed: `required.json` has what each needs.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from loops.evidence.model import Kind

Role = Literal["test", "detail", "error", "place", "frame", "source", "summary", "title", "section", "hint", "noise"]

# points; see score.THRESHOLD for what they buy
WORTH: dict[Role, int] = {
    "test": 88,  # the name of a failing test
    "summary": 84,  # the counts
    "error": 80,  # what went wrong, in the tool's words
    "place": 76,  # file:line with or without a message: a diagnostic
    "detail": 72,  # expected, got, the assertion
    "title": 60,  # names what the lines below it are about, and is kept because of them
    "source": 46,  # the code the tool shows
    "frame": 42,  # one line of a stack
    "section": 44,
    "hint": 36,
    "noise": 0,
}


@dataclass(frozen=True)
class Shape:
    """One line shape of one tool.

    `pattern` is matched at the start of a plain line. Its named groups are what there is to know: `test`, `file`,
    `line`, `message`, `id`, `count`. `after` and `before` are lines that read with it. `kind` is what a failure with this line
    is. A `title` waits for a line of the same tool below it (with the same `id`, where there is one).
    `needs` is a text that the log must hold somewhere for the shape to be believed. Noise with `until` lasts until a
    line of that shape: what a passing test printed.
    """

    tool: str
    role: Role
    pattern: str
    kind: Kind | None = None
    worth: int | None = None
    after: int = 0
    before: int = 0
    needs: str | None = None
    until: str | None = None

    @property
    def points(self) -> int:
        return WORTH[self.role] if self.worth is None else self.worth

    @cached_property
    def loose(self) -> bool:
        """Whether it may begin anywhere in the line."""
        return re.match(r"(?:\(\?:[^()|]*\)\?)?(?:\(\?:)?\.\*", self.pattern) is not None

    @cached_property
    def dear(self) -> bool:
        """Whether it looks far into a line: one of these and one of the others may both speak for it."""
        start = self.pattern.removeprefix(r"\s*").removeprefix("(?:")
        wild = (".*", r"(?P<test>\S", r"(?P<file>", r"\S", "(?P<message>", "[^", r"##\[error\])?.*")
        return self.role not in ("noise", "title") and (
            start.startswith(wild) or ".*(?:" in self.pattern or "|.*" in self.pattern
        )

    @cached_property
    def regex(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

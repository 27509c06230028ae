"""What a program prints: lines of stdout as events."""

from collections.abc import Mapping
from typing import Self

from loops.runtimes.base import JSON, SUMMARY_TEXT, Outcome, ProcessEnd, RuntimeEvent, clip, process_error


class CommandParser:
    """Each line is a piece of the answer; the last `SUMMARY_TEXT` characters are the final message."""

    def __init__(self, tail: str = "") -> None:
        self._tail = tail

    @classmethod
    def begin(cls, state: JSON | None = None, *, totals: Mapping[str, float] | None = None) -> Self:
        """A parser whose only memory is the tail of what was printed; a program has no `totals`."""
        return cls(str((state or {}).get("tail", "")))

    def parse(self, line: str) -> list[RuntimeEvent]:
        """One `assistant_delta` a line."""
        self._tail = (self._tail + line[-SUMMARY_TEXT:] + "\n")[-SUMMARY_TEXT:]
        return [RuntimeEvent("assistant_delta", {"text": clip(line) + "\n", "message_id": "stdout"})]

    def state(self) -> JSON:
        """The tail."""
        return {"tail": self._tail}

    def outcome(self, ending: ProcessEnd) -> Outcome:
        """The tail of stdout. A program has only its exit code to say that it failed, so that counts as no answer."""
        message = self._tail.strip()
        well = ending.reason == "exited" and ending.exit_code == 0
        return Outcome(message, None if well else process_error("The agent command", ending, message))

"""The `command` runtime: any program as the agent. Prompt on stdin, lines of stdout as events."""

from collections.abc import Mapping

from loops.runtimes.base import (
    JSON,
    SUMMARY_TEXT,
    BoxFile,
    Ending,
    Invocation,
    Outcome,
    RuntimeEvent,
    TurnRequest,
    clip,
    executable,
    process_error,
)


class CommandRuntime:
    """Runs `TurnRequest.program`, split as a shell would split it; no shell is involved."""

    name = "command"

    def command(self, turn: TurnRequest) -> Invocation:
        """Raises ValueError when the program is empty or its quotes do not close."""
        argv = tuple(executable(turn, ""))
        if not argv:
            raise ValueError(
                'The "command" runtime needs a program: set the agent command, for example "python agent.py".'
            )
        env = {name: value for name, value in (("GREENLOOP_MODEL", turn.model),) if value}
        return Invocation(argv=argv, env={**env, **turn.env}, stdin=turn.prompt)

    def files(self, turn: TurnRequest) -> tuple[BoxFile, ...]:
        """None: a program of one's own brings its own credentials."""
        return ()

    def parser(self, state: JSON | None = None, *, totals: Mapping[str, float] | None = None) -> "CommandParser":
        """A parser whose only memory is the tail of what was printed."""
        return CommandParser(str((state or {}).get("tail", "")))


class CommandParser:
    """Each line is a piece of the answer; the last `SUMMARY_TEXT` characters are the final message."""

    def __init__(self, tail: str = "") -> None:
        self._tail = tail

    def parse(self, line: str) -> list[RuntimeEvent]:
        """One `assistant_delta` a line."""
        self._tail = (self._tail + line[-SUMMARY_TEXT:] + "\n")[-SUMMARY_TEXT:]
        return [RuntimeEvent("assistant_delta", {"text": clip(line) + "\n", "message_id": "stdout"})]

    def state(self) -> JSON:
        """The tail."""
        return {"tail": self._tail}

    def outcome(self, ending: Ending) -> Outcome:
        """The tail of stdout. A program has only its exit code to say that it failed, so that counts as no answer."""
        message = self._tail.strip()
        well = ending.reason == "exited" and ending.exit_code == 0
        return Outcome(message, None if well else process_error("The agent command", ending, message))

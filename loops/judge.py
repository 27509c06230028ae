"""What a box's report means: publish it, leave it, try again, or end with a reason. Pure."""

from dataclasses import dataclass
from typing import Literal

from k8s.runner import protocol
from k8s.runner.protocol import Result
from loops.prompts.fence import fence

STDERR_SHOWN = 600
WORDS_SHOWN = 1200


@dataclass(frozen=True)
class Verdict:
    """What to do with a turn, and why.

    `publish`: there are changes. `nothing`: the agent ended well and changed nothing. `again`: the box failed us and
    the turn may run once more. `failed`: `reason` is one of the session's reasons. `note` is a sentence for people.
    """

    kind: Literal["publish", "nothing", "again", "failed", "cancelled"]
    reason: str = ""
    note: str = ""


def judge(
    result: Result, *, answer_error: str | None, stop_reason: str | None, cancelled: bool, seconds: float
) -> Verdict:
    """`answer_error` is what the runtime made of the ending (None: there is an answer)."""
    if cancelled:
        return Verdict("cancelled", note=stop_reason or "")
    if result.reason == protocol.CANCELLED:
        return Verdict("failed", stop_reason or "cancelled", result.message)
    if result.reason == protocol.TIMEOUT:
        note = f"The agent was ended after {_minutes(seconds)}. Raise `limits.minutes` if the work needs longer."
        return Verdict("failed", "limit_exceeded: wall clock", note)
    if result.reason == protocol.TOO_MANY_CHANGES:
        return Verdict("failed", "limit_exceeded: changed files", result.message)
    if result.reason == protocol.TOO_LARGE:
        return Verdict("failed", "limit_exceeded: changed bytes", result.message)
    if result.reason == protocol.RUNNER_RESTARTED:
        return Verdict("again", "box_lost", result.message)
    if result.reason == protocol.DISK_FULL:
        return Verdict("failed", "disk_full", result.message or "The box has no disk space left.")
    if result.reason == protocol.START_FAILED:
        return Verdict("failed", "agent_failed: it did not start", result.message)
    if result.reason != protocol.EXITED:
        return Verdict("failed", result.reason, result.message)
    if result.exit_code != 0 and answer_error is not None:
        return Verdict("failed", f"agent_failed: exit code {result.exit_code}", _why(answer_error, result.stderr_tail))
    if answer_error is not None and not result.changes:
        return Verdict("failed", "agent_failed", _why(answer_error, result.stderr_tail))
    return Verdict("publish" if result.changes else "nothing")


def _why(error: str, stderr: str) -> str:
    """The agent's last words, fenced: whoever wrote them, they are no markup of ours."""
    tail = stderr.strip()[-STDERR_SHOWN:]
    return fence(f"{error}\n\n{tail}" if tail and tail not in error else error, WORDS_SHOWN)


def _minutes(seconds: float) -> str:
    return f"{seconds:g} seconds" if seconds < 120 else f"{seconds / 60:g} minutes"

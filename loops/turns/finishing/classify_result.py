"""What a box's report means: publish it, leave it, try again, or end with a reason. Pure."""

from dataclasses import dataclass
from typing import Literal

from k8s.runner import protocol
from k8s.runner.protocol import Result
from loops.prompts.fence import fence
from loops.runtimes.failures import WORDS, FailureKind
from loops.sessions.caps import Caps, Counter, Spent

STDERR_SHOWN = 600
WORDS_SHOWN = 1200


@dataclass(frozen=True)
class TurnVerdict:
    """What to do with a turn, and why.

    `publish`: there are changes. `nothing`: the agent ended well and changed nothing. `again`: the box failed us and
    the turn may run once more. `afresh`: the CLI's conversation is gone, so it runs once more with a new one.
    `refused`: by its model's provider, in a way that passes or can be got round: once more, or it is a failure.
    `round`: its work does not pass the check in the box, and its agent goes on with it.
    `failed`: `reason` is one of the session's reasons. `note` is a sentence for people.
    """

    kind: Literal["publish", "nothing", "again", "afresh", "refused", "round", "failed", "cancelled"]
    reason: str = ""
    note: str = ""


def classify_result(
    result: Result,
    *,
    answer_error: str | None,
    stop_reason: str | None,
    cancelled: bool,
    caps: Caps,
    before: Spent,
    failure: FailureKind | None = None,
    limit: Literal["steps", "cost"] | None = None,
    conversation_gone: bool = False,
) -> TurnVerdict:
    """`answer_error` is what the runtime made of the ending (None: there is an answer), `failure` its kind, `limit` the
    cap at which its CLI ended by itself. `before`: what the session had used when the turn began.
    """
    if cancelled:
        return TurnVerdict("cancelled", note=stop_reason or "")
    if result.reason == protocol.CANCELLED:
        return TurnVerdict("failed", stop_reason or "cancelled", result.message)
    if result.reason == protocol.TIMEOUT:
        return TurnVerdict("failed", "limit_exceeded: wall clock", _reached(caps, "seconds", before, result.message))
    if result.reason == protocol.TOO_MANY_CHANGES:
        return TurnVerdict("failed", "limit_exceeded: changed files", _reached(caps, "files", Spent(), result.message))
    if result.reason == protocol.TOO_LARGE:
        return TurnVerdict("failed", "limit_exceeded: changed bytes", result.message)
    if result.reason == protocol.RUNNER_RESTARTED:
        return TurnVerdict("again", "box_lost", result.message)
    if result.reason == protocol.DISK_FULL:
        return TurnVerdict("failed", "disk_full", result.message or "The box has no disk space left.")
    if result.reason == protocol.OUT_OF_MEMORY:
        return TurnVerdict("failed", "out_of_memory", result.message)
    if result.reason == protocol.START_FAILED:
        return TurnVerdict("failed", "agent_failed: it did not start", result.message)
    if result.reason != protocol.EXITED:
        return TurnVerdict("failed", result.reason, result.message)
    if answer_error is not None and stop_reason is not None:
        # it was refused its model before the box was told to end it
        return TurnVerdict("failed", stop_reason)
    if answer_error is not None and conversation_gone:
        return TurnVerdict("afresh")
    if answer_error is not None and limit is not None and (over := caps.reached(limit, before)) is not None:
        return TurnVerdict("failed", over.reason)
    if answer_error is not None and (result.exit_code != 0 or not result.changes):
        passes = failure is not None and WORDS[failure].way != "stop"
        # of an end that is understood the useful line is known; what else stands on stderr is the CLI's own log
        tail = result.stderr_tail if failure in (None, FailureKind.BUG, FailureKind.TOOL) else ""
        reason, note = _reason(failure, result.exit_code), _why(answer_error, tail)
        if result.message:
            # what the box saw of its end, such as memory that ran out under the agent's tools
            note = f"{result.message}\n\n{note}"
        return TurnVerdict("refused" if passes else "failed", reason, note)
    return TurnVerdict("publish" if result.changes else "nothing")


def _reason(failure: FailureKind | None, exit_code: int | None) -> str:
    if failure is not None and failure is not FailureKind.BUG:
        return failure.value
    return f"agent_failed: exit code {exit_code}" if exit_code else "agent_failed"


def _why(error: str, stderr: str) -> str:
    """The agent's last words, fenced: whoever wrote them, they are no markup of ours."""
    tail = stderr.strip()[-STDERR_SHOWN:]
    return fence(f"{error}\n\n{tail}" if tail and tail not in error else error, WORDS_SHOWN)


def _reached(caps: Caps, counter: Counter, before: Spent, said: str) -> str:
    over = caps.reached(counter, before)
    return f"{said} {over.message}".strip() if over else said

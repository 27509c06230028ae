"""What came of a turn's check in its box: whether it is verified, goes on for another round, or is only said. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from k8s.runner.protocol import Result
from k8s.runner.trials import overlay_of
from k8s.runner.verification import FAILED, NOT_RUN, PASSED, SET_UP_FAILED, TIMEOUT, Trial, Trials
from loops.store.tables import Session, Turn

ROUNDS = 3
"""Rounds of one turn where the repository's settings name no other number."""
SHOWN = 200  # characters of a command that are shown


@dataclass(frozen=True)
class Round:
    """One run of an agent whose work did not pass the check: kept with its turn, which goes on with that work.

    `before` is how the check ended before the agent, where it was tried."""

    at: float
    tree: str
    how: str
    exit_code: int | None
    before: str
    reproduced: bool
    excerpt: str
    overlay: tuple[dict[str, Any], ...]

    def stored(self) -> dict[str, Any]:
        """As the turn's row keeps it."""
        return {**vars(self), "overlay": list(self.overlay)}


def command_of(verification: Mapping[str, Any] | None) -> str:
    """What a check runs, in one line; empty where there is none."""
    check = (verification or {}).get("check") or ()
    lines = [line.strip() for each in check for line in str(each.get("run", "")).splitlines() if line.strip()]
    return " && ".join(lines)[:SHOWN]


def command_in(turn: Turn) -> str:
    """What the check of this turn runs."""
    return command_of((turn.spec or {}).get("verification"))


def is_verified(turn: Turn, result: Result) -> bool:
    """Whether the check passed on just the files that are published."""
    after = result.trials.after
    return after is not None and after.how == PASSED and bool(command_in(turn)) and reproduced(turn) is not False


def named_in(turn: Turn) -> Mapping[str, Any] | None:
    """What failed by name in the job whose step the check is; None where the check is the repository's own."""
    found: Mapping[str, Any] | None = ((turn.spec or {}).get("verification") or {}).get("named")
    return found


def reproduced(turn: Turn) -> bool | None:
    """Whether the failed step failed in the box as it had in its job, before the agent began; None where the check is
    the repository's own."""
    if named_in(turn) is None:
        return None
    first = turn.rounds[0] if turn.rounds else turn.result or {}
    return bool(first.get("reproduced"))


def goes_on(turn: Turn, result: Result, *, most: int, seconds: float, now: float) -> bool:
    """Whether the agent goes on in this turn: its check fails in a box that was made ready, there are rounds and time
    left, and the last round changed something."""
    after = result.trials.after
    if after is None or after.how not in (FAILED, TIMEOUT) or len(turn.rounds) >= most or reproduced(turn) is False:
        return False
    if turn.rounds and now - float(turn.rounds[0]["at"]) >= seconds:
        return False
    return not turn.rounds or turn.rounds[-1]["tree"] != result.tree


def round_of(turn: Turn, result: Result, excerpt: str, now: float) -> Round:
    """What is kept of a round."""
    after = result.trials.after or Trial(NOT_RUN)
    overlay = tuple({"path": each.path, "mode": each.mode, "sha": each.sha} for each in overlay_of(result.changes))
    before = result.trials.before.how if result.trials.before is not None else ""
    same = bool(reproduced(turn))
    return Round(now, result.tree or "", after.how, after.exit_code, before, same, excerpt, overlay)


def most_rounds(session: Session) -> int:
    """How often an agent may go on in one turn, by the repository's settings."""
    limits = (session.config or {}).get("limits") or {}
    return int(limits.get("rounds", ROUNDS))


def note_of(turn: Turn, result: Result) -> str:
    """What people are told of the check; empty where the turn had none or changed nothing."""
    command, trials = command_in(turn), result.trials
    if not command or trials.after is None:
        return ""
    if reproduced(turn) is False:
        return f"Not reproduced in the box, so not verified there: `{command}` {_otherwise(trials)}."
    rounds = f" after {len(turn.rounds) + 1} rounds" if turn.rounds else ""
    if trials.after.how == PASSED:
        return f"Verified in the box{rounds}: `{command}` passes on what was pushed{_before(turn, trials.before)}."
    return f"Not verified in the box: {_why(trials.after, command, rounds)}"


def _otherwise(trials: Trials) -> str:
    """How it was otherwise than in its job."""
    how = trials.before.how if trials.before is not None else NOT_RUN
    now = trials.after.how if trials.after is not None else NOT_RUN
    words = {
        PASSED: "passed there before the agent began",
        FAILED: "failed there in another way than in its job",
        SET_UP_FAILED: "could not be run, since what the job does before it failed",
        TIMEOUT: "did not end in time",
    }
    return words.get(how, "was not run") + (", and passes on what was pushed" if now == PASSED else "")


def _before(turn: Turn, before: Trial | None) -> str:
    first = before.how if before is not None else ""
    how = str(turn.rounds[0].get("before") or "") if turn.rounds else first
    return {FAILED: ", and failed before", PASSED: "; it passed before, too"}.get(how, "")


def _why(after: Trial, command: str, rounds: str) -> str:
    if after.how == SET_UP_FAILED:
        return f"it could not be set up (exit code {after.exit_code}), so `{command}` was not run."
    if after.how == TIMEOUT:
        return f"`{command}` did not end in time{rounds}."
    if after.how == FAILED:
        return f"`{command}` still fails{rounds}, exit code {after.exit_code}."
    return f"`{command}` was not run. {after.output}".strip()

"""What a commit's checks amount to: still running, red, green, or one of the ways in which nothing will come. Pure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from github.checks.state import Check, Required, Snapshot
from github.repositories.config import Checks

FAILING = frozenset({"failure", "timed_out", "startup_failure"})
PASSING = frozenset({"success", "neutral", "skipped"})
LATE_SECONDS = (
    300.0  # in which a required check may still report when another is red: one that runs after it never will
)
UNDECIDED_SECONDS = 60.0  # in which GitHub should know whether a pull request merges


class Verdict(StrEnum):
    """RUNNING is the only one that is not final; OVERDUE means that the longest wait has passed.

    CANCELLED: nothing failed, but checks were cancelled or went stale, so they prove nothing until they are run again.
    """

    RUNNING = "running"
    RED = "red"
    GREEN = "green"
    NONE = "none"
    AWAITING_APPROVAL = "awaiting_approval"
    CANCELLED = "cancelled"
    CONFLICTED = "conflicted"
    MISSING_REQUIRED = "missing_required"
    OVERDUE = "overdue"


@dataclass(frozen=True, slots=True)
class HeadState:
    """A verdict with its grounds. `explanation` is a sentence for people; `look_again` is in seconds, None if final."""

    verdict: Verdict
    explanation: str
    red: tuple[Check, ...] = ()
    running: tuple[Check, ...] = ()
    green: tuple[Check, ...] = ()
    awaiting: tuple[Check, ...] = ()
    cancelled: tuple[Check, ...] = ()
    missing: tuple[Required, ...] = ()
    conflicted: bool = False
    look_again: float | None = None


def settle(snapshot: Snapshot, rules: Checks, *, now: float, since: float) -> HeadState:
    """The state of the head at `now`. `since` is when the commit was pushed: the longest wait counts from there.

    Nothing is decided before every check is complete, every required one has reported (a red head waits for those for
    some minutes only) and `settle_seconds` have passed
    without a change; with no check at all, twice as long after the push.
    """
    checks = [check for check in snapshot.checks if _counts(check, rules)]
    red = tuple(check for check in checks if check.conclusion in FAILING)
    green = tuple(check for check in checks if check.conclusion in PASSING)
    awaiting = tuple(check for check in checks if check.conclusion == "action_required" or check.waiting)
    running = tuple(check for check in checks if not check.completed and not check.waiting)
    others = tuple(
        check for check in checks if check.completed and check.conclusion not in FAILING | PASSING | {"action_required"}
    )
    missing = tuple(
        each
        for each in snapshot.required
        if not _ignored(each.name, rules) and not any(each.matches(check) for check in snapshot.checks)
    )

    def state(verdict: Verdict, explanation: str, look_again: float | None = None) -> HeadState:
        return HeadState(
            verdict, explanation, red, running, green, awaiting, others, missing, snapshot.conflicted, look_again
        )

    open_suites = 0 if rules.required_only else snapshot.open_suites
    left = since + rules.longest_wait_minutes * 60 - now
    if running or (open_suites and not awaiting):
        what = _names(running) or "jobs that have not begun"
        if left > 0:
            return state(Verdict.RUNNING, f"waiting for {what}", min(30.0, left))
        if not red:
            return state(Verdict.OVERDUE, f"{what} did not end within {rules.longest_wait_minutes} minutes")
    quiet_at = max(snapshot.changed_at, since) + rules.settle_seconds * (1 if checks else 2)
    if now < quiet_at and left > 0:
        return state(Verdict.RUNNING, "waiting whether more checks begin", min(quiet_at - now, 30.0))
    late = ", ".join(f"`{each.name}`" for each in missing)
    if red and missing and not snapshot.conflicted and now < since + min(LATE_SECONDS, rules.longest_wait_minutes * 60):
        return state(Verdict.RUNNING, f"{_names(red)} failed; waiting for required {late} as well", 15.0)
    if red:
        return state(Verdict.RED, f"{_names(red)} failed")
    if awaiting:
        return state(Verdict.AWAITING_APPROVAL, f"{_names(awaiting)} waits for a person's approval on GitHub")
    if others:
        return state(Verdict.CANCELLED, f"{_names(others)} was cancelled or went stale and has to run again")
    if snapshot.undecided and now < since + UNDECIDED_SECONDS:
        return state(Verdict.RUNNING, "waiting whether the pull request merges with its base", 2.0)
    if snapshot.conflicted:
        return state(
            Verdict.CONFLICTED, "the pull request conflicts with its base, so GitHub starts no workflows for it"
        )
    if missing:
        if left > 0:
            return state(Verdict.RUNNING, f"waiting for required {late}, which never reported yet", min(30.0, left))
        return state(
            Verdict.MISSING_REQUIRED,
            f"required {late} never reported: a path filter, another app or a renamed job may be why",
        )
    if not checks:
        return state(Verdict.NONE, "this commit has no checks")
    return state(Verdict.GREEN, f"{len(checks)} of {len(checks)} checks passed")


def _counts(check: Check, rules: Checks) -> bool:
    return not _ignored(check.name, rules) and (check.required or not rules.required_only)


def _ignored(name: str, rules: Checks) -> bool:
    return any(fnmatchcase(name, glob) for glob in rules.ignore)


def _names(checks: Iterable[Check]) -> str:
    # a push and its pull request run the same job, each as a check of the same name
    counted = Counter(check.name for check in checks)
    names = [f"`{name}`" + (f" ×{count}" if count > 1 else "") for name, count in counted.items()]
    shown = ", ".join(names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown

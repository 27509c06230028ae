"""What a commit's checks amount to: still running, red, green, or one of the ways in which nothing will come. Pure.

Never greener than GitHub's own merge box, but for checks that are named: those that GitHub forgives itself, those that
nobody requires where others are required, statuses that never end, and what the repository's settings leave out.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase

from github.checks.model import FAILING, PASSING, Check, Excused, Kind, Required, Snapshot
from github.repositories.config import Checks

LATE_SECONDS = (
    300.0  # in which a required check may still report when another is red: one that runs after it never will
)
UNDECIDED_SECONDS = 60.0  # in which GitHub should know whether a pull request merges


class Verdict(StrEnum):
    """RUNNING is the only one that is not final; OVERDUE means that the longest wait has passed.

    CANCELLED: nothing failed, but checks were cancelled or went stale, so they prove nothing until they are run again.
    UNSTARTED: a workflow pushed the commit with its own token, so GitHub starts no workflows for it.
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
    UNSTARTED = "unstarted"


@dataclass(frozen=True, slots=True)
class HeadState:
    """A verdict with its grounds. `explanation` is a sentence for people; `look_again` is in seconds, None if final.

    `excused` are the checks that are not green and do not count. `suffices`: it is RED only for checks that nobody
    requires; all that are required are green. `quiet`: it is RUNNING only until some seconds have passed without a
    change. `passing`: what is waited for is what is always waited for, and another thing with each check that ends.
    """

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
    excused: tuple[Excused, ...] = ()
    suffices: bool = False
    quiet: bool = False
    passing: bool = False


@dataclass(frozen=True, slots=True)
class _Sorted:
    """The checks of a snapshot by what they are for the verdict."""

    red: tuple[Check, ...]
    running: tuple[Check, ...]
    green: tuple[Check, ...]
    awaiting: tuple[Check, ...]
    cancelled: tuple[Check, ...]
    excused: tuple[Excused, ...]


def settle(
    snapshot: Snapshot,
    rules: Checks,
    *,
    now: float,
    since: float,
    ready: float = 0.0,
    leave_optional: bool = False,
    all_begun: bool = False,
) -> HeadState:
    """The state of the head at `now`. `since` is when the commit was pushed, `ready` when its pull request stopped
    being a draft: the longest wait counts from the later, what has idled from the push.

    All are by GitHub's clock. Where checks are required, those decide. Else nothing is decided before every check is
    complete, and in either case not before every required one has reported (a red head waits for those for some
    minutes only) and `settle_seconds` have passed without a change; with no check at all, twice as long after the push.
    A red head does not wait for statuses. `leave_optional`: a red check that nobody requires is not red any more, since
    repairing it was tried in vain. `all_begun`: every check that is promised for this commit has begun, so that what is
    red and complete needs no quiet time.

    `look_again` is when time alone changes the state; how often a state is polled otherwise is not decided here.
    """
    required = tuple(each for each in snapshot.required if not ignored(each.name, rules))
    pushed, since = since, max(since, ready)
    over = now >= since + rules.longest_wait_minutes * 60
    missing = tuple(each for each in required if not any(each.matches(check) for check in snapshot.checks))
    found = _sort(snapshot, rules, required, missing, now, pushed, over, leave_optional)
    red = found.red
    pending = not (required or rules.required_only or found.awaiting) and snapshot.open_suites > 0
    suffices = bool(required and red) and not (
        missing
        or snapshot.conflicted
        or any(check.required for group in (red, found.running, found.awaiting, found.cancelled) for check in group)
    )

    def state(verdict: Verdict, explanation: str, look_again: float | None = None) -> HeadState:
        return HeadState(
            verdict,
            explanation,
            red,
            found.running,
            found.green,
            found.awaiting,
            found.cancelled,
            missing,
            snapshot.conflicted,
            look_again,
            found.excused,
            suffices,
        )

    left = since + rules.longest_wait_minutes * 60 - now
    held_up = [check for check in found.running if not (red and check.kind is Kind.STATUS)]
    if held_up or pending:
        what = _names(held_up) or "jobs that have not begun"
        if left > 0:
            return replace(state(Verdict.RUNNING, f"waiting for {what}", left), passing=True)
        if not red:
            return state(Verdict.OVERDUE, f"{what} did not end within {rules.longest_wait_minutes} minutes")
    anything = bool(snapshot.checks or snapshot.excused)
    quiet_at = max(snapshot.changed_at, since) + rules.settle_seconds * (1 if anything else 2)
    if now < quiet_at and left > 0 and not (red and all_begun):
        # a push starts suite after suite within seconds, and what comes later belongs to the same verdict
        waiting = state(Verdict.RUNNING, "waiting whether more checks begin", min(quiet_at - now, left))
        return replace(waiting, quiet=True, passing=True)
    late = ", ".join(f"`{each.name}`" for each in missing)
    if red and missing and not snapshot.conflicted and now < since + min(LATE_SECONDS, rules.longest_wait_minutes * 60):
        until = since + min(LATE_SECONDS, rules.longest_wait_minutes * 60) - now
        return state(Verdict.RUNNING, f"{_names(red)} failed; waiting for required {late} as well", until)
    if red:
        return state(Verdict.RED, f"{_names(red)} failed")
    if found.awaiting:
        with_it = f", and required {late} has not reported" if missing else ""
        why = f"{_names(found.awaiting)} waits for a person's approval on GitHub{with_it}"
        return state(Verdict.AWAITING_APPROVAL, why)
    if found.cancelled:
        return state(Verdict.CANCELLED, f"{_names(found.cancelled)} was cancelled or went stale and has to run again")
    if snapshot.undecided and now < since + UNDECIDED_SECONDS:
        waiting = state(Verdict.RUNNING, "waiting whether the pull request merges with its base", 2.0)
        return replace(waiting, passing=True)
    if snapshot.conflicted:
        return state(
            Verdict.CONFLICTED, "the pull request conflicts with its base, so GitHub starts no workflows for it"
        )
    if missing:
        if left > 0:
            return state(Verdict.RUNNING, f"waiting for required {late}, which never reported yet", left)
        return state(
            Verdict.MISSING_REQUIRED,
            f"required {late} never reported: a path filter, another app or a renamed job may be why",
        )
    if snapshot.truncated:
        return state(Verdict.OVERDUE, "this commit has more checks than can be read, so nobody can say that all passed")
    if not found.green:
        return state(Verdict.NONE, f"this commit has no checks{' that count' * anything}{_but(found.excused)}")
    every = len(found.green) + len(found.excused)
    return state(Verdict.GREEN, f"{len(found.green)} of {every} checks passed{_but(found.excused)}")


def is_at_work(state: HeadState) -> bool:
    """Whether it is RUNNING, at least for a job of a workflow that has not ended."""
    return state.verdict is Verdict.RUNNING and any(each.kind is Kind.JOB for each in state.running)


def _sort(
    snapshot: Snapshot,
    rules: Checks,
    required: Sequence[Required],
    missing: Sequence[Required],
    now: float,
    pushed: float,
    over: bool,
    leave_optional: bool,
) -> _Sorted:
    red, running, green, awaiting, cancelled, idling = [], [], [], [], [], list[Check]()
    excused = [each for each in snapshot.excused if not ignored(each.check.name, rules)]
    idle = rules.status_idle_minutes
    # its conclusion is a moment away, and may be red although each job that is listed is green
    ending = {check.run_id for check in snapshot.checks if check.required and check.run_id} - {
        check.run_id for check in snapshot.checks if check.kind is Kind.JOB and not check.completed
    }
    for check in snapshot.checks:
        optional = bool(required) and not check.required
        asks = check.conclusion == "action_required" or check.waiting
        quiet = now - max(check.changed_at, pushed)
        if check.conclusion in PASSING:
            if _left_out(check, rules, optional) is None:
                green.append(check)
        elif asks and missing and check.run_id and not ignored(check.name, rules):
            awaiting.append(check)  # what is required may be among the jobs that it has not begun
        elif why := _left_out(check, rules, optional):
            excused.append(Excused(check, why))
        elif check.conclusion in FAILING and check.undecided and not check.required and not over:
            running.append(check)  # its run may yet forgive it
        elif check.conclusion in FAILING:
            if optional and (leave_optional or rules.optional == "report"):
                excused.append(Excused(check, "failed, and nobody requires it"))
            else:
                red.append(check)
        elif asks:
            if optional:
                excused.append(Excused(check, "waits for a person, and nobody requires it"))
            elif check.waiting and not check.required and quiet >= idle * 60:
                idling.append(check)
            else:
                awaiting.append(check)
        elif not check.completed:
            if optional and check.run_id not in ending:
                excused.append(Excused(check, "has not ended, and nobody requires it"))
            elif check.kind is Kind.STATUS and not check.required and quiet >= idle * 60:
                excused.append(Excused(check, f"has said nothing for {idle} minutes, and is not waited for"))
            else:
                running.append(check)
        elif optional:
            excused.append(Excused(check, f"ended as {check.conclusion}, and nobody requires it"))
        else:
            cancelled.append(check)
    if green:
        why = f"has waited {idle} minutes for a person to let it in, and is not waited for"
        excused += [Excused(check, why) for check in idling]
    else:
        awaiting += idling  # what it would say is all there is
    return _Sorted(tuple(red), tuple(running), tuple(green), tuple(awaiting), tuple(cancelled), tuple(excused))


def _left_out(check: Check, rules: Checks, optional: bool) -> str | None:
    """Why the repository's settings leave the check out; None where they do not."""
    if ignored(check.name, rules):
        return "is left out by `checks.ignore`"
    if rules.required_only and not check.required:
        return "is left out by `checks.required_only`"
    if optional and rules.optional == "ignore":
        return "is left out by `checks.optional`"
    return None


def ignored(name: str, rules: Checks) -> bool:
    """Whether the repository's settings say not to look at a check of that name."""
    return any(fnmatchcase(name, glob) for glob in rules.ignore)


def _but(excused: Sequence[Excused]) -> str:
    """What did not pass and does not count, as the rest of a sentence."""
    by_reason: dict[str, list[Check]] = {}
    for each in excused:
        by_reason.setdefault(each.why, []).append(each.check)
    return "".join(f"; {_names(checks)} {why}" for why, checks in by_reason.items())


def _names(checks: Iterable[Check]) -> str:
    # a push and its pull request run the same job, each as a check of the same name
    counted = Counter(check.shown_name for check in checks)
    names = [f"`{name}`" + (f" ×{count}" if count > 1 else "") for name, count in counted.items()]
    shown = ", ".join(names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown

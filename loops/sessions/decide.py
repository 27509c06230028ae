"""What happens next in a session: a picture of it in, one action out. No I/O, no clock of its own.

A worker performs the action, which changes the rows, takes a new picture and asks again, until the answer is `Sleep` or
nothing is left to do. An action that was performed but not recorded comes out again: each must be safe to run twice.
"""

from dataclasses import dataclass

from loops.sessions.polling import pause
from loops.sessions.reasons import Outcome, Reason
from loops.store.states import OPEN_SESSION, OPEN_TURN, SessionStatus, TurnKind, TurnStatus

HINT_PAUSE = 0.3  # seconds after a hint in which others of the same push come
APPROVAL_POLLS = 5  # polls between two looks at what waits for a person: an event tells when it goes on


@dataclass(frozen=True)
class TurnSnapshot:
    """A turn as far as decisions need it. `by_person`: somebody asked for it, so it is no attempt."""

    id: int
    kind: TurnKind
    status: TurnStatus
    by_person: bool
    commit: str | None = None
    error: str | None = None  # why it failed: a reason of the session's states
    answered: bool = False  # ended well with words instead of changes
    stop_reason: str | None = None
    ready_at: float | None = None
    heard_at: float | None = None  # last sign of life of the box that has it
    trouble: bool = False  # its box was seen in trouble


@dataclass(frozen=True)
class ChecksSnapshot:
    """A head as last asked: `state` is a verdict of `github.checks.verdict`, `look_again` when to ask again.

    `suffices`: it is red only for checks that nobody requires. `left_alone`: repairing those was given up.
    """

    sha: str
    state: str
    asked_at: float
    look_again: float | None = None
    explanation: str = ""
    suffices: bool = False
    left_alone: bool = False


@dataclass(frozen=True)
class Waits:
    """Times, in seconds."""

    longest: float  # for a person's approval, or for cancelled checks to run again
    poll: float
    box_silence: float
    box_look: float  # until a box that has not come for its turn is looked up
    first_look: float = 0.0  # after a push of ours: nothing has settled by then, and an event comes before
    settle: float = 0.0  # after the pull request was made ready: as long nothing is decided
    stop_grace: float = 30.0


@dataclass(frozen=True)
class SessionSnapshot:
    """A session as far as decisions need it."""

    status: SessionStatus
    turns: tuple[TurnSnapshot, ...]
    waits: Waits
    now: float
    cancel_by: str | None = None
    head: str | None = None  # the commit whose checks count; None before the first push
    pull: int | None = None
    draft: bool = False
    pushed_at: float = 0.0
    ready_at: float = 0.0  # when the pull request stopped being a draft
    waiting: int = 0  # sessions of the same installation that wait for checks
    hint_at: float = 0.0
    checks: ChecksSnapshot | None = None


@dataclass(frozen=True)
class StopTurn:
    """Tell the box to end this turn."""

    turn: int
    reason: str


@dataclass(frozen=True)
class Prepare:
    """Give the turn its runtime, prompt and box, or its place in line."""

    turn: int


@dataclass(frozen=True)
class LookAtBox:
    """The box was seen in trouble, or not heard of for too long: look it up before concluding anything."""

    turn: int


@dataclass(frozen=True)
class FinishTurn:
    """The box reported: publish what the turn changed, or record why not."""

    turn: int


@dataclass(frozen=True)
class LookAtChecks:
    """Ask GitHub for the whole state of this commit."""

    sha: str


@dataclass(frozen=True)
class RepairChecks:
    """The checks are settled and red: collect the evidence and start the next attempt, if one is left."""

    sha: str


@dataclass(frozen=True)
class LeaveOptional:
    """Repairing what is red and not required came to nothing: the head is judged without it."""

    sha: str
    note: str


@dataclass(frozen=True)
class StartChecks:
    """GitHub starts no checks for this commit: something has to be pushed on top of it."""

    sha: str


@dataclass(frozen=True)
class MarkReady:
    """The checks are green: the pull request is no draft any more."""


@dataclass(frozen=True)
class Finish:
    """The session ends. `reason` is a Reason, perhaps with a colon and a detail, or the sentence of who ended it."""

    status: SessionStatus
    outcome: Outcome | None = None
    reason: str | None = None
    note: str = ""  # for people: what happened and what to do


@dataclass(frozen=True)
class Sleep:
    """Nothing to do before `until` (None: until somebody wakes the session)."""

    until: float | None


Action = (
    StopTurn
    | Prepare
    | LookAtBox
    | FinishTurn
    | LookAtChecks
    | RepairChecks
    | LeaveOptional
    | StartChecks
    | MarkReady
    | Finish
    | Sleep
)


def decide(now: SessionSnapshot) -> Action:
    """The next action of a session."""
    if now.status not in OPEN_SESSION:
        return Sleep(None)
    active = next((turn for turn in now.turns if turn.status in OPEN_TURN), None)
    if now.cancel_by is not None:
        return _cancel(now, active)
    if active is not None:
        return _turn(now, active)
    last = now.turns[-1] if now.turns else None
    if last is None:
        if now.head is not None:
            return _checks(now, now.head)
        return Finish(SessionStatus.FAILED, reason=Reason.NO_TURN, note="The session has no turn: nothing was asked.")
    if now.head is not None and (vain := _vain_repair(now, last, now.head)) is not None:
        return vain
    if last.status is TurnStatus.FAILED:
        return Finish(SessionStatus.FAILED, reason=last.error or Reason.AGENT_FAILED)
    if last.status is TurnStatus.CANCELLED and now.head is None:
        return Finish(SessionStatus.CANCELLED, reason=last.error)
    if last.commit is None and not last.by_person and last.kind is TurnKind.CHECKS:
        return Finish(
            SessionStatus.FAILED,
            reason=Reason.NO_PROGRESS,
            note="The agent changed nothing, and the checks are still red.",
        )
    if now.head is None or (now.pull is None and all(turn.commit is None for turn in now.turns)):
        return Finish(SessionStatus.COMPLETED, outcome=Outcome.ANSWERED if last.answered else Outcome.NO_CHANGES)
    return _checks(now, now.head)


def _vain_repair(now: SessionSnapshot, last: TurnSnapshot, head: str) -> Action | None:
    """What follows an attempt without a commit where only checks are red that nobody requires; None for all others."""
    checks = now.checks
    done = last.commit is not None or last.status is TurnStatus.CANCELLED
    if done or last.by_person or last.kind is not TurnKind.CHECKS:
        return None
    if checks is None or checks.sha != head or not (checks.suffices or checks.left_alone):
        return None
    if checks.left_alone:
        return _checks(now, head)
    return LeaveOptional(head, "The attempt to repair what is red, and not required, changed nothing.")


def _cancel(now: SessionSnapshot, active: TurnSnapshot | None) -> Action:
    if active is not None and active.status in (TurnStatus.RUNNING, TurnStatus.READY):
        if active.stop_reason is None:
            return StopTurn(active.id, cancelled(now.cancel_by or ""))
        heard = max(active.heard_at or 0.0, active.ready_at or 0.0)
        if active.heard_at is not None and now.now - heard < now.waits.box_silence + now.waits.stop_grace:
            return Sleep(heard + now.waits.box_silence + now.waits.stop_grace)
    if active is not None and active.status is TurnStatus.REPORTED:
        return FinishTurn(active.id)  # what it had changed until then is kept
    return Finish(SessionStatus.CANCELLED, reason=cancelled(now.cancel_by or ""))


def cancelled(by: str) -> str:
    """The reason of a session that `by` ended: a login, or a sentence such as "the pull request was closed"."""
    return by if " " in by else f"cancelled by {by}"


def _turn(now: SessionSnapshot, turn: TurnSnapshot) -> Action:
    if turn.status is TurnStatus.QUEUED:
        return Prepare(turn.id)
    if turn.status is TurnStatus.REPORTED:
        return FinishTurn(turn.id)
    if turn.trouble:
        return LookAtBox(turn.id)
    if turn.heard_at is None:
        deadline = (turn.ready_at or 0.0) + now.waits.box_look
    else:
        deadline = turn.heard_at + now.waits.box_silence
    return LookAtBox(turn.id) if now.now >= deadline else Sleep(deadline)


def _checks(now: SessionSnapshot, head: str) -> Action:
    checks = now.checks
    if checks is None or checks.sha != head:
        due = _first_look(now, head)
        return LookAtChecks(head) if now.now >= due else Sleep(due)
    if checks.asked_at < max(now.hint_at, now.ready_at):
        due = _next_look(now, checks)
        return LookAtChecks(head) if now.now >= due else Sleep(due)
    match checks.state:
        case "green" | "none":
            outcome = Outcome.GREEN if checks.state == "green" else Outcome.NO_CHECKS
            return MarkReady() if now.draft else Finish(SessionStatus.COMPLETED, outcome=outcome)
        case "red":
            return RepairChecks(head)
        case "unstarted":
            return StartChecks(head)
        case "conflicted":
            return Finish(SessionStatus.FAILED, reason=Reason.CONFLICT, note=checks.explanation)
        case "missing_required" | "overdue":
            return Finish(SessionStatus.FAILED, reason=Reason.CHECKS_NEVER_SETTLED, note=checks.explanation)
        case "awaiting_approval" | "cancelled" as state:
            unapproved, over = state == "awaiting_approval", now.pushed_at + now.waits.longest
            if checks.asked_at >= over:
                reason = Reason.CHECKS_UNAPPROVED if unapproved else Reason.CHECKS_NEVER_SETTLED
                return Finish(SessionStatus.FAILED, reason=reason, note=checks.explanation)
            due = min(checks.asked_at + _pause(now, checks, APPROVAL_POLLS if unapproved else 1), over)
            return LookAtChecks(head) if now.now >= due else Sleep(due)
    due = checks.asked_at + _pause(now, checks)
    if checks.look_again is not None:
        due = min(due, checks.look_again)
    return LookAtChecks(head) if now.now >= due else Sleep(due)


def _first_look(now: SessionSnapshot, head: str) -> float:
    """When a head of which nothing is known is looked at: at once, but for a commit that we pushed a moment ago."""
    if all(turn.commit != head for turn in now.turns):
        return now.now
    due = now.pushed_at + now.waits.first_look
    return min(due, now.hint_at + HINT_PAUSE) if now.hint_at > now.pushed_at else due


def _next_look(now: SessionSnapshot, checks: ChecksSnapshot) -> float:
    """When a head is looked at again of which there is news since it was."""
    due = [now.ready_at + now.waits.settle] if checks.asked_at < now.ready_at else []
    if checks.asked_at < now.hint_at:
        # suites, runs and checks report within a moment of each other: one look is for all of them
        ours = checks.asked_at < now.pushed_at  # a push, which nothing follows
        due.append(now.now if ours else min(now.hint_at, now.now) + HINT_PAUSE)
    return min(due)


def _pause(now: SessionSnapshot, checks: ChecksSnapshot, polls: int = 1) -> float:
    """Seconds between two looks without a webhook; the first one is after so many times the usual."""
    idle = checks.asked_at - max(now.pushed_at, now.ready_at, now.hint_at)
    return pause(now.waits.poll * polls, idle, now.waiting)

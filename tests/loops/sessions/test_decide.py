from dataclasses import replace

import pytest

from loops.sessions.decide import (
    Action,
    ChecksSnapshot,
    Finish,
    FinishTurn,
    LookAtBox,
    LookAtChecks,
    MarkReady,
    Prepare,
    RepairChecks,
    SessionSnapshot,
    Sleep,
    StopTurn,
    TurnSnapshot,
    Waits,
    decide,
)
from loops.sessions.reasons import Outcome
from loops.store.states import SessionStatus, TurnKind, TurnStatus

COMPLETED, FAILING, CANCELLED = SessionStatus.COMPLETED, SessionStatus.FAILED, SessionStatus.CANCELLED
WAITS = Waits(longest=1000, poll=60, box_silence=60, box_look=300)
QUEUED = TurnSnapshot(1, TurnKind.ISSUE, TurnStatus.QUEUED, by_person=True)
READY = replace(QUEUED, status=TurnStatus.READY, ready_at=100)
RUNNING = replace(READY, status=TurnStatus.RUNNING, heard_at=120)
REPORTED = replace(RUNNING, status=TurnStatus.REPORTED)
PUSHED = replace(RUNNING, status=TurnStatus.DONE, commit="c1")
EMPTY = replace(RUNNING, status=TurnStatus.DONE)
FAILED = replace(RUNNING, status=TurnStatus.FAILED, error="agent_failed: exit code 1")
REPAIR_EMPTY = replace(PUSHED, id=2, kind=TurnKind.CHECKS, by_person=False, commit=None)
NEW = SessionSnapshot(SessionStatus.PENDING, (QUEUED,), waits=WAITS, now=130)
WATCHING = replace(
    NEW, status=SessionStatus.WAITING, turns=(PUSHED,), head="c1", pull=7, draft=True, pushed_at=125, now=200
)
AT_ONCE = replace(WATCHING, waits=replace(WAITS, first_look=20), now=126)


def checks(state: str, *, asked: float = 200, again: float | None = None, sha: str = "c1") -> ChecksSnapshot:
    return ChecksSnapshot(sha, state, asked_at=asked, look_again=again, explanation="why")


MADE_READY = replace(
    WATCHING, waits=replace(WAITS, settle=20), checks=checks("green"), draft=False, ready_at=201, now=201
)


@pytest.mark.parametrize(
    ("name", "picture", "action"),
    [
        ("a queued turn is prepared", NEW, Prepare(1)),
        ("a ready turn waits for its box to come", replace(NEW, turns=(READY,)), Sleep(400)),
        ("a box that never came is looked up", replace(NEW, turns=(READY,), now=400), LookAtBox(1)),
        ("a running turn is left alone", replace(NEW, turns=(RUNNING,)), Sleep(180)),
        ("a silent box is looked up", replace(NEW, turns=(RUNNING,), now=180), LookAtBox(1)),
        ("a reported turn is settled", replace(NEW, turns=(REPORTED,)), FinishTurn(1)),
        (
            "no change at all ends the session",
            replace(NEW, turns=(EMPTY,)),
            Finish(COMPLETED, Outcome.NO_CHANGES),
        ),
        (
            "words instead of changes end it as answered",
            replace(NEW, turns=(replace(EMPTY, answered=True),)),
            Finish(COMPLETED, Outcome.ANSWERED),
        ),
        (
            "a failed turn ends it with its reason",
            replace(NEW, turns=(FAILED,)),
            Finish(FAILING, reason="agent_failed: exit code 1"),
        ),
        ("a second turn that waits comes next", replace(WATCHING, turns=(PUSHED, replace(QUEUED, id=2))), Prepare(2)),
        ("a new head is looked at", WATCHING, LookAtChecks("c1")),
        ("a head that we pushed a moment ago is not yet", replace(AT_ONCE, turns=(PUSHED,)), Sleep(145)),
        ("but after that moment", replace(AT_ONCE, turns=(PUSHED,), now=145), LookAtChecks("c1")),
        ("or a moment after an event of it", replace(AT_ONCE, turns=(PUSHED,), hint_at=128), Sleep(128.3)),
        ("an event from before the push is none", replace(AT_ONCE, turns=(PUSHED,), hint_at=124), Sleep(145)),
        ("somebody else's head is looked at at once", replace(AT_ONCE, head="c2"), LookAtChecks("c2")),
        (
            "checks of an older head say nothing",
            replace(WATCHING, checks=checks("green", sha="c0")),
            LookAtChecks("c1"),
        ),
        (
            "a hint after the last look means another",
            replace(WATCHING, checks=checks("green"), hint_at=201, now=202),
            LookAtChecks("c1"),
        ),
        (
            "hints of one push come within a moment, and one look is for all of them",
            replace(WATCHING, checks=checks("running"), hint_at=201, now=201.1),
            Sleep(201.3),
        ),
        (
            "what is pushed is looked at without a pause",
            replace(WATCHING, checks=checks("running"), pushed_at=201, hint_at=201, now=201.1),
            LookAtChecks("c1"),
        ),
        (
            "what was made ready is looked at once that can be decided",
            replace(MADE_READY, now=201.1),
            Sleep(221),
        ),
        ("and not before it was looked at again", replace(MADE_READY, now=221), LookAtChecks("c1")),
        ("at once where nothing has to settle", replace(MADE_READY, waits=WAITS, now=201.1), LookAtChecks("c1")),
        ("or a moment after an event of it", replace(MADE_READY, hint_at=203, now=203.1), Sleep(203.3)),
        ("running checks are waited for", replace(WATCHING, checks=checks("running", again=230)), Sleep(230)),
        (
            "no hint in time: look anyway",
            replace(WATCHING, checks=checks("running", again=230), now=230),
            LookAtChecks("c1"),
        ),
        ("no wait is longer than the poll", replace(WATCHING, checks=checks("running", again=999)), Sleep(260)),
        ("red is repaired", replace(WATCHING, checks=checks("red")), RepairChecks("c1")),
        ("green marks a draft ready first", replace(WATCHING, checks=checks("green")), MarkReady()),
        (
            "green ends it",
            replace(WATCHING, checks=checks("green"), draft=False),
            Finish(COMPLETED, Outcome.GREEN),
        ),
        (
            "no checks end it",
            replace(WATCHING, checks=checks("none"), draft=False),
            Finish(COMPLETED, Outcome.NO_CHECKS),
        ),
        (
            "an approval is waited for, with few looks",
            replace(WATCHING, checks=checks("awaiting_approval")),
            Sleep(500),
        ),
        ("checks that were cancelled are looked at oftener", replace(WATCHING, checks=checks("cancelled")), Sleep(260)),
        (
            "before the wait for an approval ends there is one more look",
            replace(WATCHING, checks=checks("awaiting_approval", asked=1000), now=1125),
            LookAtChecks("c1"),
        ),
        (
            "an approval that never comes is said",
            replace(WATCHING, checks=checks("awaiting_approval", asked=1125), now=1125),
            Finish(FAILING, reason="checks_unapproved", note="why"),
        ),
        (
            "a required check that never reports is said",
            replace(WATCHING, checks=checks("missing_required")),
            Finish(FAILING, reason="checks_never_settled", note="why"),
        ),
        (
            "a conflict is said",
            replace(WATCHING, checks=checks("conflicted")),
            Finish(FAILING, reason="conflict", note="why"),
        ),
        (
            "a repair that changed nothing is no progress",
            replace(WATCHING, turns=(PUSHED, REPAIR_EMPTY), checks=checks("red")),
            Finish(
                FAILING,
                reason="no_progress",
                note="The agent changed nothing, and the checks are still red.",
            ),
        ),
        (
            "cancel tells a running box",
            replace(NEW, turns=(RUNNING,), cancel_by="ann"),
            StopTurn(1, "cancelled by ann"),
        ),
        (
            "cancel waits for the box to stop",
            replace(NEW, turns=(replace(RUNNING, stop_reason="x"),), cancel_by="ann"),
            Sleep(210),
        ),
        (
            "cancel does not wait for a box that is gone",
            replace(NEW, turns=(replace(RUNNING, stop_reason="x"),), cancel_by="ann", now=211),
            Finish(CANCELLED, reason="cancelled by ann"),
        ),
        (
            "cancel keeps what a turn had changed that has ended by then",
            replace(NEW, turns=(REPORTED,), cancel_by="ann"),
            FinishTurn(1),
        ),
        (
            "cancel of a queued turn ends at once",
            replace(NEW, cancel_by="ann"),
            Finish(CANCELLED, reason="cancelled by ann"),
        ),
        (
            "a turn that was withdrawn leaves nothing to do",
            replace(NEW, turns=(replace(QUEUED, status=TurnStatus.CANCELLED, error="the comment was deleted"),)),
            Finish(CANCELLED, reason="the comment was deleted"),
        ),
        ("a session that ended stays so", replace(WATCHING, status=SessionStatus.COMPLETED), Sleep(None)),
    ],
)
def test_decides(name: str, picture: SessionSnapshot, action: Action) -> None:
    assert decide(picture) == action, name

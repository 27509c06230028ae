from typing import Any

import pytest

from k8s.runner.protocol import Change, Result
from loops.sessions.caps import Caps, Spent
from loops.turns.finishing.classify_result import classify_result

ALLOWED: dict[str, Any] = {"caps": Caps.of({"turn_seconds": 60, "steps": 9, "session_steps": 20}), "before": Spent(15)}
CHANGED = [Change("a.py", "100644", "0" * 40)]


@pytest.mark.parametrize(
    ("name", "result", "error", "kind", "reason"),
    [
        ("changes are published", Result("exited", 0, changes=CHANGED), None, "publish", ""),
        ("a good end without changes is nothing", Result("exited", 0), None, "nothing", ""),
        (
            "exit 1 without an answer fails",
            Result("exited", 1, changes=CHANGED),
            "no answer",
            "failed",
            "agent_failed: exit code 1",
        ),
        ("exit 1 with an answer counts as an answer", Result("exited", 1, changes=CHANGED), None, "publish", ""),
        ("an error without changes fails", Result("exited", 0), "401", "failed", "agent_failed"),
        ("the wall clock is a limit", Result("timeout"), None, "failed", "limit_exceeded: wall clock"),
        ("too many files are a limit", Result("too_many_changes"), None, "failed", "limit_exceeded: changed files"),
        ("too large files are a limit", Result("too_large"), None, "failed", "limit_exceeded: changed bytes"),
        ("a runner that restarted is tried again", Result("runner_restarted"), None, "again", "box_lost"),
        ("a failed fetch is said", Result("fetch_failed"), None, "failed", "fetch_failed"),
        ("a missing program is said", Result("start_failed"), None, "failed", "agent_failed: it did not start"),
        ("memory that ran out is said", Result("out_of_memory", -9), "killed", "failed", "out_of_memory"),
        ("a full disk is said", Result("disk_full"), None, "failed", "disk_full"),
    ],
)
def test_a_report_means(name: str, result: Result, error: str | None, kind: str, reason: str) -> None:
    verdict = classify_result(result, answer_error=error, stop_reason=None, cancelled=False, **ALLOWED)
    assert (verdict.kind, verdict.reason) == (kind, reason), name


def test_a_turn_that_we_stopped_for_a_cap_fails_with_that_cap() -> None:
    stop = "limit_exceeded: steps"
    verdict = classify_result(Result("cancelled"), answer_error=None, stop_reason=stop, cancelled=False, **ALLOWED)
    assert (verdict.kind, verdict.reason) == ("failed", stop)


def test_nothing_is_published_once_somebody_asked_to_stop() -> None:
    report = Result("exited", 0, changes=CHANGED)
    assert classify_result(report, answer_error=None, stop_reason="x", cancelled=True, **ALLOWED).kind == "cancelled"


def test_the_note_shows_what_the_agent_said_last() -> None:
    report = Result("exited", 2, stderr_tail="Traceback\nKeyError: 'x'")
    assert (
        "KeyError"
        in classify_result(report, answer_error="it failed", stop_reason=None, cancelled=False, **ALLOWED).note
    )


def test_what_the_box_saw_of_a_failed_agents_end_goes_before_its_words() -> None:
    report = Result("exited", 3, message="The box ran out of memory.", stderr_tail="cc1plus is gone")
    note = classify_result(report, answer_error="it failed", stop_reason=None, cancelled=False, **ALLOWED).note
    assert note.startswith("The box ran out of memory.\n") and "cc1plus is gone" in note


def test_a_turn_that_took_too_long_says_how_to_give_it_more() -> None:
    note = classify_result(Result("timeout"), answer_error=None, stop_reason=None, cancelled=False, **ALLOWED).note
    assert "60 seconds of one turn, the cap is 60" in note and "`limits.minutes`" in note


def test_a_cli_that_ended_at_the_cap_it_was_told_is_no_failure_of_the_agent() -> None:
    report = Result("exited", 1, changes=CHANGED)
    verdict = classify_result(
        report, answer_error="max turns", stop_reason=None, cancelled=False, limit="steps", **ALLOWED
    )
    assert verdict.reason.startswith("limit_exceeded: 20 steps of one session, the cap is 20.")

from dataclasses import replace

import pytest

from github.checks.model import Check, Kind, Required, Snapshot
from github.checks.verdict import HeadState, Verdict, settle
from github.repositories.config import Checks

PUSHED = 1000.0
RULES = Checks(settle_seconds=10, longest_wait_minutes=10)
LATER = PUSHED + 100
MUCH_LATER = PUSHED + 601


def check(name: str, conclusion: str = "success", **fields: object) -> Check:
    base = Check(Kind.JOB, 1, name, 2, "github-actions", conclusion, changed_at=PUSHED + 20)
    return replace(base, **fields)  # type: ignore[arg-type]


def state(*checks: Check, now: float = LATER, rules: Checks = RULES, **fields: object) -> HeadState:
    changed = max([each.changed_at for each in checks], default=0.0)
    snapshot = replace(Snapshot("a" * 40, tuple(checks), changed_at=changed), **fields)  # type: ignore[arg-type]
    return settle(snapshot, rules, now=now, since=PUSHED)


@pytest.mark.parametrize(
    ("conclusions", "verdict"),
    [
        (["success"], Verdict.GREEN),
        (["success", "neutral", "skipped"], Verdict.GREEN),
        (["skipped"], Verdict.GREEN),
        (["success", "failure"], Verdict.RED),
        (["timed_out"], Verdict.RED),
        (["startup_failure"], Verdict.RED),
        (["failure", "cancelled"], Verdict.RED),
        (["failure", "action_required"], Verdict.RED),
        (["success", "cancelled"], Verdict.CANCELLED),
        (["stale"], Verdict.CANCELLED),
        (["success", "something_new"], Verdict.CANCELLED),
        (["success", "action_required"], Verdict.AWAITING_APPROVAL),
        (["", "failure"], Verdict.RUNNING),
        (["", "success"], Verdict.RUNNING),
    ],
)
def test_conclusions_amount_to_a_verdict(conclusions: list[str], verdict: Verdict) -> None:
    found = state(*(check(f"c{index}", conclusion) for index, conclusion in enumerate(conclusions)))
    assert found.verdict is verdict
    assert found.explanation
    assert (found.look_again is None) is (verdict is not Verdict.RUNNING)


def test_only_failing_checks_are_red_and_they_are_named() -> None:
    found = state(check("good"), check("bad", "failure"), check("stopped", "cancelled"))
    assert [each.name for each in found.red] == ["bad"]
    assert "`bad` failed" in found.explanation


def test_nothing_is_decided_in_the_quiet_time_after_the_last_report() -> None:
    report = check("test", "failure", changed_at=PUSHED + 95)
    found = state(report)
    assert found.verdict is Verdict.RUNNING
    assert found.look_again == pytest.approx(5)
    assert state(report, now=PUSHED + 105).verdict is Verdict.RED


def test_what_is_red_needs_no_quiet_time_once_everything_has_begun_and_what_is_green_does() -> None:
    snapshot = Snapshot("a" * 40, (check("test", "failure"),), changed_at=PUSHED + 95)
    waiting = settle(snapshot, RULES, now=LATER, since=PUSHED)
    assert (waiting.verdict, waiting.quiet, [each.name for each in waiting.red]) == (Verdict.RUNNING, True, ["test"])
    assert settle(snapshot, RULES, now=LATER, since=PUSHED, all_begun=True).verdict is Verdict.RED
    green = replace(snapshot, checks=(check("test"),))
    assert settle(green, RULES, now=LATER, since=PUSHED, all_begun=True).verdict is Verdict.RUNNING
    more = replace(snapshot, checks=(check("test", "failure"), check("lint", "")))
    assert settle(more, RULES, now=LATER, since=PUSHED, all_begun=True).verdict is Verdict.RUNNING


def test_a_clock_of_github_far_ahead_does_not_hold_us_for_ever() -> None:
    ahead = check("test", changed_at=MUCH_LATER + 10_000)
    assert state(ahead).verdict is Verdict.RUNNING
    assert state(ahead, now=MUCH_LATER).verdict is Verdict.GREEN


def test_a_commit_without_checks_is_none_after_twice_the_quiet_time() -> None:
    assert state(now=PUSHED + 19).verdict is Verdict.RUNNING
    assert state(now=PUSHED + 21).verdict is Verdict.NONE


def test_a_suite_that_is_not_complete_keeps_the_head_running() -> None:
    found = state(check("test"), open_suites=1)
    assert found.verdict is Verdict.RUNNING
    assert "not begun" in found.explanation


def test_what_does_not_end_is_said_after_the_longest_wait() -> None:
    found = state(check("slow", ""), now=MUCH_LATER)
    assert found.verdict is Verdict.OVERDUE
    assert "`slow` did not end within 10 minutes" in found.explanation


def test_a_failure_counts_after_the_longest_wait_though_others_still_run() -> None:
    assert state(check("slow", ""), check("bad", "failure"), now=MUCH_LATER).verdict is Verdict.RED


def test_a_required_check_that_never_reports_is_named_at_once_and_given_up_later() -> None:
    required = (Required("deploy"), Required("test"))
    found = state(check("test", required=True), required=required)
    assert found.verdict is Verdict.RUNNING
    assert "`deploy`" in found.explanation
    assert [each.name for each in found.missing] == ["deploy"]
    found = state(check("test", required=True), required=required, now=MUCH_LATER)
    assert found.verdict is Verdict.MISSING_REQUIRED
    assert "`deploy` never reported" in found.explanation


def test_a_red_head_waits_some_minutes_for_required_checks_and_not_longer() -> None:
    required, red = (Required("e2e"),), check("test", "failure")
    early = state(red, required=required)
    assert (early.verdict, early.explanation) == (Verdict.RUNNING, "`test` failed; waiting for required `e2e` as well")
    assert state(red, required=required, now=PUSHED + 301).verdict is Verdict.RED
    assert state(red, required=required, conflicted=True).verdict is Verdict.RED


def test_a_pull_request_of_which_github_does_not_know_yet_whether_it_merges_is_not_green_at_once() -> None:
    assert state(check("test"), undecided=True, now=PUSHED + 50).verdict is Verdict.RUNNING
    assert state(check("test"), undecided=True).verdict is Verdict.GREEN


def test_a_required_check_of_a_certain_app_is_not_answered_by_another() -> None:
    required = (Required("test", app_id=99),)
    assert state(check("test"), required=required, now=MUCH_LATER).verdict is Verdict.MISSING_REQUIRED
    assert state(check("test", app_id=99), required=required).verdict is Verdict.GREEN
    by_a_person = check("test", kind=Kind.STATUS, app_id=0)
    assert state(by_a_person, required=required, now=MUCH_LATER).verdict is Verdict.MISSING_REQUIRED
    by_the_app = check("test", kind=Kind.STATUS, app_id=99, required=True)
    assert state(by_the_app, required=required).verdict is Verdict.GREEN


def test_a_conflicted_pull_request_is_said_and_not_waited_for() -> None:
    found = state(conflicted=True, now=PUSHED + 30)
    assert found.verdict is Verdict.CONFLICTED
    assert "conflicts with its base" in found.explanation
    assert state(check("push-only"), conflicted=True).verdict is Verdict.CONFLICTED
    red = state(check("bad", "failure"), conflicted=True)
    assert (red.verdict, red.conflicted) == (Verdict.RED, True)


def test_a_job_that_waits_for_approval_is_a_persons_turn() -> None:
    found = state(check("test"), check("deploy", "", waiting=True), open_suites=1)
    assert found.verdict is Verdict.AWAITING_APPROVAL
    assert "`deploy` waits for a person's approval" in found.explanation


def test_what_waits_for_a_person_counts_while_a_required_check_may_hang_on_it() -> None:
    asked = check("CI", "action_required", kind=Kind.WORKFLOW, run_id=1)
    found = state(asked, required=(Required("test"),))
    assert found.verdict is Verdict.AWAITING_APPROVAL
    assert found.explanation == "`CI` waits for a person's approval on GitHub, and required `test` has not reported"
    only = RULES.model_copy(update={"required_only": True})
    assert state(asked, rules=only, required=(Required("test"),)).verdict is Verdict.AWAITING_APPROVAL
    left_out = RULES.model_copy(update={"ignore": ["CI"]})
    assert state(asked, rules=left_out, required=(Required("test"),)).verdict is Verdict.RUNNING
    done = state(asked, check("test", required=True), required=(Required("test"),))
    assert (done.verdict, [each.check for each in done.excused]) == (Verdict.GREEN, [asked])


def test_when_a_pull_request_is_ready_the_waits_begin_anew_but_what_idles_has_idled_since_the_push() -> None:
    idle = check("old-ci", "", kind=Kind.STATUS, changed_at=PUSHED)
    snapshot = Snapshot("a" * 40, (check("test"), idle), changed_at=PUSHED + 20)
    rules = RULES.model_copy(update={"status_idle_minutes": 5})
    ready = PUSHED + 400
    assert settle(snapshot, rules, now=ready + 5, since=PUSHED, ready=ready).verdict is Verdict.RUNNING
    assert settle(snapshot, rules, now=ready + 11, since=PUSHED, ready=ready).verdict is Verdict.GREEN
    begun = Snapshot("a" * 40, (check("test", ""),), changed_at=ready)
    assert settle(begun, RULES, now=MUCH_LATER, since=PUSHED, ready=ready).verdict is Verdict.RUNNING
    assert settle(begun, RULES, now=ready + 601, since=PUSHED, ready=ready).verdict is Verdict.OVERDUE


def test_a_job_that_waits_long_for_its_environment_is_named_and_not_waited_for_where_others_passed() -> None:
    deploy = check("deploy", "", waiting=True, changed_at=0.0)
    rules = RULES.model_copy(update={"status_idle_minutes": 5})
    assert state(check("test"), deploy, rules=rules, now=PUSHED + 299).verdict is Verdict.AWAITING_APPROVAL
    found = state(check("test"), deploy, rules=rules, now=PUSHED + 301)
    assert found.verdict is Verdict.GREEN
    assert "`deploy` has waited 5 minutes for a person to let it in" in found.explanation
    assert state(deploy, rules=rules, now=PUSHED + 301).verdict is Verdict.AWAITING_APPROVAL
    required = replace(deploy, required=True)
    wanted = (Required("deploy"),)
    found = state(check("test", required=True), required, rules=rules, now=PUSHED + 301, required=wanted)
    assert found.verdict is Verdict.AWAITING_APPROVAL
    asked = check("ci", "action_required", changed_at=0.0)
    assert state(check("test"), asked, rules=rules, now=PUSHED + 301).verdict is Verdict.AWAITING_APPROVAL


def test_ignored_checks_do_not_count_whatever_they_say() -> None:
    rules = Checks(settle_seconds=0, ignore=["deploy*", "codecov/*"])
    checks = (check("test"), check("deploy-preview", "failure"), check("codecov/patch", ""))
    assert state(*checks, rules=rules).verdict is Verdict.GREEN
    assert state(checks[1], rules=rules).verdict is Verdict.NONE
    assert state(check("test"), rules=rules, required=(Required("deploy-x"),)).verdict is Verdict.GREEN


def test_with_required_only_the_others_do_not_count() -> None:
    rules = Checks(settle_seconds=0, required_only=True)
    checks = (check("test", required=True), check("lint", "failure"), check("slow", ""))
    assert state(*checks, rules=rules, required=(Required("test"),), open_suites=1).verdict is Verdict.GREEN
    bad = check("test", "failure", required=True)
    assert state(bad, rules=rules, required=(Required("test"),)).verdict is Verdict.RED


def test_a_long_list_is_shortened() -> None:
    found = state(*(check(f"c{index}", "failure") for index in range(8)))
    assert "and 3 more failed" in found.explanation


def test_checks_of_the_same_name_are_named_once_with_their_number() -> None:
    found = state(check("test", "failure"), check("test", "failure"), check("lint", "failure"))
    assert found.explanation == "`test` ×2, `lint` failed"


REQUIRED = (Required("test"),)
TEST = check("test", required=True)


@pytest.mark.parametrize(
    ("optional", "words"),
    [
        (check("slow", ""), "`slow` has not ended, and nobody requires it"),
        (check("slow", "", kind=Kind.STATUS, run_id=0), "`slow` has not ended, and nobody requires it"),
        (check("deploy", "", waiting=True), "`deploy` waits for a person, and nobody requires it"),
        (check("deploy", "action_required"), "`deploy` waits for a person, and nobody requires it"),
        (check("old", "cancelled"), "`old` ended as cancelled, and nobody requires it"),
    ],
)
def test_where_checks_are_required_the_others_hold_nothing_back_and_are_named(optional: Check, words: str) -> None:
    found = state(TEST, optional, required=REQUIRED, open_suites=1)
    assert (found.verdict, found.explanation) == (Verdict.GREEN, f"1 of 2 checks passed; {words}")
    assert [each.check for each in found.excused] == [optional]
    alone = state(replace(TEST, required=False), optional, open_suites=1)
    assert alone.verdict is not Verdict.GREEN


def test_a_run_whose_required_job_has_passed_is_waited_for_once_none_of_its_jobs_is_under_way() -> None:
    test, ci = replace(TEST, run_id=7), check("CI", "", kind=Kind.WORKFLOW, run_id=7)
    ending = state(test, ci, required=REQUIRED)
    assert (ending.verdict, ending.explanation) == (Verdict.RUNNING, "waiting for `CI`")
    assert state(test, replace(ci, conclusion="failure"), required=REQUIRED).verdict is Verdict.RED
    slow = check("slow", "", run_id=7)
    words = "1 of 3 checks passed; `CI`, `slow` has not ended, and nobody requires it"
    assert state(test, ci, slow, required=REQUIRED).explanation == words
    other = state(test, replace(ci, run_id=8), required=REQUIRED)
    assert other.verdict is Verdict.GREEN, "the run of another workflow"


def test_a_red_optional_check_is_repaired_named_or_ignored_as_the_repository_wishes() -> None:
    lint = check("lint", "failure")

    def found(optional: str, **options: bool) -> HeadState:
        rules = Checks.model_validate({"settle_seconds": 10, "optional": optional})
        snapshot = Snapshot("a" * 40, (TEST, lint), REQUIRED)
        return settle(snapshot, rules, now=LATER, since=PUSHED, **options)

    assert (found("repair").verdict, found("repair").suffices) == (Verdict.RED, True)
    tried = found("repair", leave_optional=True)
    assert (tried.verdict, tried.explanation) == (
        Verdict.GREEN,
        "1 of 2 checks passed; `lint` failed, and nobody requires it",
    )
    assert found("report").verdict is Verdict.GREEN
    assert found("ignore").explanation == "1 of 2 checks passed; `lint` is left out by `checks.optional`"


def test_a_red_required_check_does_not_suffice_whatever_else_is_green() -> None:
    found = state(check("test", "failure", required=True), check("lint", "failure"), required=REQUIRED)
    assert (found.verdict, found.suffices) == (Verdict.RED, False)


def test_a_status_that_never_ends_is_dropped_after_an_idle_time_and_named_but_not_a_required_one() -> None:
    ci = check("ci/old", "", kind=Kind.STATUS)
    rules = Checks(settle_seconds=10, status_idle_minutes=5)
    early, late = PUSHED + 299, PUSHED + 20 + 300
    assert state(check("test"), ci, rules=rules, now=early).verdict is Verdict.RUNNING
    found = state(check("test"), ci, rules=rules, now=late)
    assert (found.verdict, found.explanation) == (
        Verdict.GREEN,
        "1 of 2 checks passed; `ci/old` has said nothing for 5 minutes, and is not waited for",
    )
    wanted = replace(ci, required=True)
    assert (
        state(check("test"), wanted, rules=rules, now=late, required=(Required("ci/old"),)).verdict is Verdict.RUNNING
    )


def test_red_does_not_wait_for_a_status() -> None:
    ci = check("ci/old", "", kind=Kind.STATUS)
    assert state(check("test", "failure"), ci).verdict is Verdict.RED
    assert state(check("test", "failure"), check("slow", "")).verdict is Verdict.RUNNING


def test_a_failed_job_whose_run_goes_on_may_yet_be_forgiven() -> None:
    job = check("nightly", "failure", undecided=True)
    assert state(job).verdict is Verdict.RUNNING
    assert state(replace(job, required=True), required=(Required("nightly"),)).verdict is Verdict.RED
    assert state(job, now=MUCH_LATER).verdict is Verdict.RED


def test_a_commit_with_more_checks_than_can_be_read_is_never_green() -> None:
    assert state(check("test"), truncated=True).verdict is Verdict.OVERDUE

from typing import Any

from github.checks.assemble import assemble
from github.checks.model import Check, Kind, Required, Run, Snapshot

OWN = 1
ACTIONS = {"id": 2, "slug": "github-actions"}
OTHER = {"id": 3, "slug": "other-ci"}
SHA = "a" * 40


def job(id: int, name: str, conclusion: str | None, suite: int, **fields: Any) -> dict[str, Any]:
    status = "completed" if conclusion else "in_progress"
    found = {"id": id, "name": name, "status": status, "conclusion": conclusion, "app": ACTIONS}
    return {**found, "check_suite": {"id": suite}, "completed_at": "2026-01-01T00:00:10Z", **fields}


def suite(id: int, status: str = "completed", runs: int = 1, app: dict[str, Any] = ACTIONS) -> dict[str, Any]:
    return {"id": id, "status": status, "latest_check_runs_count": runs, "app": app}


def run(id: int, suite: int, workflow: int = 1, event: str = "push", **fields: Any) -> Run:
    base: dict[str, Any] = {
        "attempt": 1,
        "name": "CI",
        "path": ".github/workflows/ci.yml",
        "status": "completed",
        "conclusion": "success",
        "url": "",
        "changed_at": 0.0,
        **fields,
    }
    return Run(id=id, suite_id=suite, workflow_id=workflow, event=event, **base)


def found(
    jobs: list[dict[str, Any]],
    suites: list[dict[str, Any]] | None = None,
    statuses: list[dict[str, Any]] | None = None,
    runs: list[Run] | None = None,
    required: tuple[Required, ...] = (),
) -> Snapshot:
    return assemble(SHA, jobs, suites or [], statuses or [], runs or [], required, own_app_id=OWN)


def results(snapshot: Snapshot) -> dict[str, str]:
    return {check.name: check.conclusion for check in snapshot.checks}


def only(snapshot: Snapshot) -> Check:
    (check,) = snapshot.checks
    return check


def test_our_own_check_and_suite_do_not_count() -> None:
    own = job(1, "Greenloop", None, 9, app={"id": OWN, "slug": "greenloop"})
    assert found([own], [suite(9, "in_progress", app={"id": OWN})]) == Snapshot(SHA)


def why(snapshot: Snapshot) -> dict[str, str]:
    return {each.check.name: each.why for each in snapshot.excused}


def test_two_jobs_of_one_name_are_two_checks_in_whatever_order_they_ran() -> None:
    first = job(1, "test", "failure", 8, started_at="2026-01-01T00:00:00Z", completed_at="2026-01-01T00:00:10Z")
    second = job(2, "test", "success", 8, started_at="2026-01-01T00:00:20Z", completed_at="2026-01-01T00:00:30Z")
    both = found([first, second], runs=[run(100, 8, conclusion="failure")])
    assert sorted(check.conclusion for check in both.checks) == ["failure", "success"]


def test_the_same_commit_on_a_second_branch_does_not_make_the_first_green() -> None:
    jobs = [job(1, "test", "failure", 8), job(2, "test", "success", 9)]
    runs = [run(100, 8, branch="topic", conclusion="failure"), run(101, 9, branch="other")]
    assert sorted(check.conclusion for check in found(jobs, runs=runs).checks) == ["failure", "success"]


def test_a_run_that_failed_though_all_its_jobs_are_green_is_red_itself() -> None:
    jobs = [job(1, "test", "success", 8), job(2, "lint", "cancelled", 8)]
    snapshot = found(jobs, runs=[run(100, 8, conclusion="failure")])
    assert [(check.kind, check.id, check.conclusion) for check in snapshot.checks if check.conclusion == "failure"] == [
        (Kind.WORKFLOW, 100, "failure")
    ]


def test_a_rerun_replaces_only_the_attempt_that_it_repeats() -> None:
    jobs = [job(1, "test", "failure", 8), job(2, "test", "failure", 9), job(3, "test", "success", 8)]
    jobs = [{**each, "details_url": f"https://h/o/r/actions/runs/1/job/{each['id']}"} for each in jobs]
    runs = [run(100, 8, attempt=2), run(101, 9, conclusion="failure")]
    snapshot = assemble(SHA, jobs, [], [], runs, (), own_app_id=OWN, attempts={100: frozenset({3})})
    assert sorted((check.id, check.conclusion) for check in snapshot.checks) == [(2, "failure"), (3, "success")]


def test_a_check_run_that_a_workflow_made_by_the_api_is_no_job_and_is_not_forgiven_with_its_run() -> None:
    page = {"details_url": "https://h/o/r/actions/runs/100/job/1"}
    jobs = [
        job(1, "test", "success", 8, **page),
        job(2, "Test report", "failure", 8, details_url="https://h/o/r/runs/2"),
    ]
    snapshot = found(jobs, runs=[run(100, 8)])
    assert {check.name: (check.kind, check.conclusion) for check in snapshot.checks} == {
        "test": (Kind.JOB, "success"),
        "Test report": (Kind.CHECK_RUN, "failure"),
    }


def test_a_job_that_its_successful_run_forgives_does_not_count_and_is_named_unless_it_is_required() -> None:
    jobs = [job(1, "test", "success", 8), job(2, "nightly", "failure", 8), job(3, "slow", "cancelled", 8)]
    snapshot = found(jobs, runs=[run(100, 8)])
    assert results(snapshot) == {"test": "success"}
    assert set(why(snapshot)) == {"nightly", "slow"}
    assert "continue-on-error" in why(snapshot)["nightly"]
    wanted = found(jobs, runs=[run(100, 8)], required=(Required("nightly"),))
    assert results(wanted) == {"test": "success", "nightly": "failure"}


def test_check_runs_of_one_name_by_one_app_that_ran_at_the_same_time_both_count() -> None:
    def lint(id: int, conclusion: str, start: str, end: str) -> dict[str, Any]:
        times = {"started_at": f"2026-01-01T00:{start}Z", "completed_at": f"2026-01-01T00:{end}Z"}
        return job(id, "lint", conclusion, 9, app=OTHER, external_id=str(id), **times)

    first = lint(1, "failure", "00:00", "00:20")
    assert results(found([first, lint(2, "success", "00:30", "00:40")])) == {"lint": "success"}
    both = found([first, lint(2, "success", "00:10", "00:40")])
    assert sorted(check.conclusion for check in both.checks) == ["failure", "success"]


def test_a_suite_that_failed_though_all_its_check_runs_are_green_is_red_itself() -> None:
    failed = suite(9, app=OTHER) | {"conclusion": "failure"}
    snapshot = found([job(1, "lint", "success", 9, app=OTHER)], [failed])
    assert [(check.kind, check.id) for check in snapshot.checks if check.conclusion == "failure"] == [(Kind.SUITE, 9)]


def test_a_rerun_replaces_the_former_run_of_the_same_job() -> None:
    assert results(found([job(2, "test", "success", 9), job(1, "test", "failure", 9)])) == {"test": "success"}


def test_the_same_job_name_of_two_apps_is_two_checks() -> None:
    both = found([job(1, "test", "success", 8), job(2, "test", "failure", 9, app=OTHER)])
    assert sorted(check.conclusion for check in both.checks) == ["failure", "success"]


def test_the_same_job_name_in_two_workflows_is_two_checks() -> None:
    jobs = [job(1, "test", "failure", 8), job(2, "test", "success", 9)]
    both = found(jobs, runs=[run(100, 8, workflow=1, conclusion="failure"), run(101, 9, workflow=2)])
    assert sorted(check.conclusion for check in both.checks) == ["failure", "success"]


def test_push_and_pull_request_runs_of_one_workflow_both_count() -> None:
    jobs = [job(1, "test", "failure", 8), job(2, "test", "success", 9)]
    both = found(jobs, runs=[run(100, 8, event="push", conclusion="failure"), run(101, 9, event="pull_request")])
    assert sorted(check.conclusion for check in both.checks) == ["failure", "success"]


def test_a_run_that_concurrency_cancelled_for_a_newer_one_of_its_workflow_was_superseded() -> None:
    jobs = [job(1, "test", "cancelled", 8), job(2, "test", "success", 9), job(3, "other", "cancelled", 7)]
    stopped: dict[str, Any] = {"conclusion": "cancelled"}
    runs = [run(100, 8, **stopped), run(101, 9, event="pull_request"), run(99, 7, workflow=2, **stopped)]
    assert results(found(jobs, runs=runs)) == {"test": "success", "other": "cancelled"}
    pending = run(98, 6, event="push", conclusion="cancelled")
    assert results(found(jobs[1:2], runs=[pending, runs[1]])) == {"test": "success"}


def test_a_cancelled_check_that_no_newer_run_answers_for_stays() -> None:
    jobs = [job(1, "test", "success", 8), job(2, "test", "cancelled", 9), job(3, "deploy", "cancelled", 8)]
    runs = [run(100, 8, conclusion="cancelled"), run(101, 9, event="pull_request", conclusion="cancelled")]
    assert sorted(check.conclusion for check in found(jobs, runs=runs).checks) == ["cancelled", "cancelled", "success"]


def test_an_older_run_of_the_same_workflow_and_event_was_superseded() -> None:
    jobs = [job(1, "old-name", "cancelled", 8), job(2, "test", "success", 9)]
    snapshot = found(jobs, [suite(8, "queued"), suite(9)], runs=[run(100, 8, conclusion="cancelled"), run(101, 9)])
    assert results(snapshot) == {"test": "success"}
    assert snapshot.open_suites == 0


def test_suites_that_github_opens_for_every_app_say_nothing() -> None:
    assert found([], [suite(5, "queued", runs=0, app=OTHER)]).open_suites == 0


def test_a_suite_with_runs_that_is_not_complete_is_open() -> None:
    assert found([job(1, "test", "success", 5)], [suite(5, "in_progress")]).open_suites == 1


def test_while_a_run_is_run_again_its_old_jobs_do_not_settle_it() -> None:
    rerun = run(100, 8, attempt=2, status="queued", conclusion="")
    assert found([job(1, "test", "failure", 8)], [suite(8)], runs=[rerun]).open_suites == 1


def test_a_broken_workflow_file_is_a_check_without_a_job() -> None:
    check = only(found([], [suite(8, runs=0)], runs=[run(100, 8, conclusion="startup_failure")]))
    assert (check.kind, check.conclusion, check.run_id) == (Kind.WORKFLOW, "startup_failure", 100)


def test_a_run_that_waits_for_approval_is_a_check_that_says_so() -> None:
    check = only(found([], [suite(8, runs=0)], runs=[run(100, 8, conclusion="action_required")]))
    assert check.conclusion == "action_required"


def test_runs_that_only_sit_on_the_default_branch_say_nothing_of_the_commit() -> None:
    jobs = [job(1, "triage", "failure", 8), job(2, "test", "success", 9)]
    runs = [run(100, 8, workflow=7, event="issue_comment"), run(101, 9, event="push")]
    assert results(found(jobs, [suite(8), suite(9)], runs=runs)) == {"test": "success"}


def test_only_the_newest_status_of_a_context_counts_and_error_is_a_failure() -> None:
    statuses = [
        {"id": 2, "context": "ci/x", "state": "error", "description": "boom", "target_url": "https://ci/x"},
        {"id": 1, "context": "ci/x", "state": "success"},
        {"id": 3, "context": "ci/y", "state": "pending"},
    ]
    snapshot = found([], statuses=statuses)
    assert results(snapshot) == {"ci/x": "failure", "ci/y": ""}
    assert [each.title for each in snapshot.checks if each.name == "ci/x"] == ["boom"]


def test_a_status_and_a_check_run_of_one_name_are_both_required() -> None:
    snapshot = found(
        [job(1, "ci/x", "success", 8)],
        statuses=[{"id": 1, "context": "ci/x", "state": "pending"}],
        required=(Required("ci/x"),),
    )
    assert [check.required for check in snapshot.checks] == [True, True]


def test_nulls_where_objects_are_usual_are_read() -> None:
    bare = {
        "id": 1,
        "name": None,
        "status": "completed",
        "conclusion": None,
        "app": None,
        "check_suite": None,
        "output": None,
    }
    check = only(found([bare], [{"id": None, "app": None, "status": None, "latest_check_runs_count": None}]))
    assert (check.kind, check.conclusion, check.app_id) == (Kind.CHECK_RUN, "neutral", 0)


def test_the_last_change_is_the_newest_of_all() -> None:
    jobs = [job(1, "a", "success", 8), job(2, "b", "success", 8, completed_at="2026-01-01T00:01:00Z")]
    assert found(jobs).changed_at == found([jobs[1]]).changed_at > found([jobs[0]]).changed_at

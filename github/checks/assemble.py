"""From GitHub's answers about a commit to what counts there. Pure.

Identity is GitHub's ids. Every job of a run's newest attempt counts by itself, whatever its name; a rerun replaces only
the attempt that it repeats; a run's and a suite's own conclusion count where no check of theirs explains it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from github.checks import answers
from github.checks.model import ACTIONS, FAILING, PASSING, Check, Excused, Kind, Required, Run, Snapshot

# Runs that happen to sit on the default branch's head and say nothing of the commit.
UNRELATED = frozenset(
    {
        "discussion",
        "discussion_comment",
        "fork",
        "issue_comment",
        "issues",
        "label",
        "milestone",
        "schedule",
        "watch",
        "workflow_run",
    }
)
FORGIVEN = "did not pass, and its workflow run succeeded all the same (`continue-on-error`)"
SUPERSEDED = "was cancelled for a newer run of its workflow, which passed"


def assemble(
    sha: str,
    check_runs: list[dict[str, Any]],
    suites: list[dict[str, Any]],
    statuses: list[dict[str, Any]],
    runs: list[Run],
    required: tuple[Required, ...],
    *,
    own_app_id: int,
    conflicted: bool = False,
    attempts: Mapping[int, frozenset[int]] | None = None,
) -> Snapshot:
    """The snapshot in GitHub's answers, which list the check runs of all attempts.

    `attempts` has, for each run that ran again, the check run ids of its newest attempt's jobs. Suites without runs are
    those that GitHub opens for every app; they say nothing.
    """
    check_runs = [each for each in check_runs if answers.app_id_of(each) != own_app_id]
    suites = [each for each in suites if answers.app_id_of(each) != own_app_id]
    by_suite = {run.suite_id: run for run in runs}
    found = [*_check_runs(check_runs, by_suite, attempts or {}), *_statuses(statuses)]
    found += _unexplained_runs(runs, found)
    found += _unexplained_suites(suites, by_suite, check_runs, found)
    found = [replace(check, required=any(each.matches(check) for each in required)) for check in found]
    excused = {_identity(check): Excused(check, why) for check in found if (why := _excuse(check, found, by_suite))}
    related = [run for run in runs if run.event not in UNRELATED]
    counted = [check for check in found if _identity(check) not in excused and _related(check, by_suite)]
    changed = [check.changed_at for check in counted] + [run.changed_at for run in related]
    return Snapshot(
        sha,
        tuple(counted),
        required,
        open_suites=len(_open_suites(suites, by_suite) | {run.suite_id for run in related if run.open}),
        changed_at=max(changed, default=0.0),
        conflicted=conflicted,
        excused=tuple(excused.values()),
        runs=tuple(related),
    )


def _identity(check: Check) -> tuple[Kind, int, str]:
    """The id; of a status its context."""
    return check.kind, check.id, check.name if check.kind is Kind.STATUS else ""


def _check_runs(
    check_runs: list[dict[str, Any]], by_suite: Mapping[int, Run], attempts: Mapping[int, frozenset[int]]
) -> list[Check]:
    with_pages = {answers.suite_id_of(each) for each in check_runs if answers.has_job_page(each)}
    jobs: list[Check] = []
    others: dict[tuple[int, int, str], list[Check]] = defaultdict(list)
    for each in sorted(check_runs, key=lambda each: int(each.get("id") or 0)):
        suite = answers.suite_id_of(each)
        run = by_suite.get(suite)
        slug = str((each.get("app") or {}).get("slug") or "")
        by_actions = slug == ACTIONS or run is not None
        check = answers.read_check_run(
            each, run, is_job=by_actions and (answers.has_job_page(each) or suite not in with_pages)
        )
        if check.kind is Kind.JOB and run is not None:
            newest = attempts.get(run.id)
            if newest is None or check.id in newest:
                jobs.append(check)
        else:
            others[check.suite_id, check.app_id, check.name].append(check)
    return [*jobs, *(check for same in others.values() for check in _not_repeated(same))]


def _not_repeated(same: list[Check]) -> list[Check]:
    """Of an app's check runs of one name in one suite those that no later one repeats.

    An app runs a check again by making another check run. One that began before the other had ended is no repetition.
    """
    return [
        older for number, older in enumerate(same) if not any(_repeats(newer, older) for newer in same[number + 1 :])
    ]


def _repeats(newer: Check, older: Check) -> bool:
    if newer.external_id == older.external_id and not (newer.started_at and older.completed_at):
        return True
    if not older.completed:
        return newer.external_id == older.external_id
    return newer.started_at >= older.completed_at


def _statuses(statuses: Iterable[dict[str, Any]]) -> list[Check]:
    """The newest status of each context, which is a status's identity at GitHub."""
    newest: dict[str, Check] = {}
    for each in sorted(
        statuses, key=lambda each: int(each.get("id") or 0)
    ):  # GraphQL tells the newest alone, and no id
        check = answers.read_status(each)
        newest[check.name] = check
    return list(newest.values())


def _unexplained_runs(runs: Iterable[Run], found: Iterable[Check]) -> list[Check]:
    """Runs without a job (not begun, to be approved, a broken file), those that ended worse than all their jobs, and
    those that go on though all the jobs that they have so far are green."""
    jobs: dict[int, list[str]] = defaultdict(list)
    for check in found:
        if check.kind is Kind.JOB:
            jobs[check.suite_id].append(check.conclusion)
    added = []
    for run in runs:
        conclusions = jobs[run.suite_id]
        worse = FAILING if run.conclusion in FAILING else {*conclusions} - PASSING
        good = run.status == "completed" and run.conclusion in PASSING
        if not conclusions or not (good or any(each in worse for each in conclusions)):
            added.append(answers.of_run(run))
    return added


def _unexplained_suites(
    suites: Iterable[dict[str, Any]],
    by_suite: Mapping[int, Run],
    check_runs: Iterable[dict[str, Any]],
    found: Iterable[Check],
) -> list[Check]:
    """Completed suites of which GitHub says that they failed, while every check run that it lists of them passed.

    A suite of another app than Actions may still tell of a check run that was repeated since.
    """
    worse = {check.suite_id for check in found if check.conclusion not in PASSING} | {
        answers.suite_id_of(each)
        for each in check_runs
        if (each.get("app") or {}).get("slug") != ACTIONS and (each.get("conclusion") or "success") not in PASSING
    }
    return [
        answers.of_suite(each)
        for each in suites
        if each.get("status") == "completed"
        and (each.get("conclusion") or "neutral") not in PASSING
        and int(each.get("id") or 0) not in worse
        and int(each.get("id") or 0) not in by_suite
        and (int(each.get("latest_check_runs_count") or 0) > 0 or each.get("conclusion") in FAILING)
    ]


def _excuse(check: Check, found: Iterable[Check], by_suite: Mapping[int, Run]) -> str:
    """Why GitHub's own word for the check does not count; "" if it does. What is required always counts."""
    run = by_suite.get(check.suite_id)
    if check.required or run is None or check.conclusion in PASSING:
        return ""
    if run.event in UNRELATED:
        return f"belongs to a run for `{run.event}`, which is not about this commit"
    if check.kind is Kind.JOB and run.status == "completed" and run.conclusion in PASSING and check.completed:
        return FORGIVEN
    if check.conclusion == "cancelled" and any(_answers_for(newer, run, check, found) for newer in by_suite.values()):
        return SUPERSEDED
    return ""


def _answers_for(newer: Run, run: Run, check: Check, found: Iterable[Check]) -> bool:
    """Whether `newer` is what `concurrency` cancelled `run` for, and passed.

    A push and the pull request that it belongs to are often of one group; those must have the very job, since jobs may
    be for one event only.
    """
    if newer.id <= run.id or newer.workflow_id != run.workflow_id or newer.branch != run.branch:
        return False
    of_newer = [each for each in found if each.suite_id == newer.suite_id]
    if newer.status != "completed" or not of_newer or any(each.conclusion not in PASSING for each in of_newer):
        return False
    same_job = any(each.name == check.name for each in of_newer)
    return newer.event == run.event or same_job or check.kind is Kind.WORKFLOW


def _related(check: Check, by_suite: Mapping[int, Run]) -> bool:
    run = by_suite.get(check.suite_id)
    return check.required or run is None or run.event not in UNRELATED


def _open_suites(suites: Iterable[dict[str, Any]], by_suite: Mapping[int, Run]) -> set[int]:
    """Suites that are not complete. Of an Actions suite its run tells, which also knows when it waits for a person."""
    return {
        int(each.get("id") or 0)
        for each in suites
        if int(each.get("latest_check_runs_count") or 0) > 0
        and each.get("status") != "completed"
        and int(each.get("id") or 0) not in by_suite
    }

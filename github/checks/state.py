"""Everything GitHub knows of one commit's checks: check runs, suites, workflow runs, statuses, and what is required.

Events are only hints; this is the truth. Reading it costs six conditional requests. `github.checks.verdict` says what
it means.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from github.client.errors import Forbidden, NotFound
from github.client.repository import RepositoryHandle as Repository
from github.client.repository import quoted
from github.client.tokens import timestamp
from github.repositories.queries import Pull, branch

ACTIONS = "github-actions"

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


class Kind(StrEnum):
    """Where a check comes from, and so where its evidence is."""

    JOB = "job"
    CHECK_RUN = "check_run"
    STATUS = "status"
    WORKFLOW = "workflow"


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a commit. `conclusion` is "" until it is complete; times are Unix seconds, 0 where unknown.

    A STATUS has its description in `title` and no app; a WORKFLOW is a run that never got a job, such as a broken
    workflow file. `id` is the check run's, the status's, or the workflow run's.
    """

    kind: Kind
    id: int
    name: str
    app_id: int
    app: str
    conclusion: str
    waiting: bool = False
    suite_id: int = 0
    run_id: int = 0
    run_attempt: int = 0
    workflow: str = ""
    url: str = ""
    external_id: str = ""
    title: str = ""
    summary: str = ""
    text: str = ""
    annotations: int = 0
    changed_at: float = 0.0
    required: bool = False

    @property
    def completed(self) -> bool:
        """Whether it has come to an end."""
        return bool(self.conclusion)


@dataclass(frozen=True, slots=True)
class Required:
    """A check that a branch protection or a ruleset wants. `app_id` 0: from any app."""

    name: str
    app_id: int = 0

    def matches(self, check: Check) -> bool:
        """Whether `check` answers it. A status does not say which app made it."""
        return check.name == self.name and (not self.app_id or check.kind is Kind.STATUS or check.app_id == self.app_id)


@dataclass(frozen=True, slots=True)
class Run:
    """A workflow run. `status` is queued, in_progress, waiting, requested, pending or completed."""

    id: int
    attempt: int
    workflow_id: int
    name: str
    path: str
    event: str
    status: str
    conclusion: str
    suite_id: int
    url: str
    changed_at: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was found for a commit, our own checks left out."""

    sha: str
    checks: tuple[Check, ...] = ()
    required: tuple[Required, ...] = ()
    open_suites: int = 0
    changed_at: float = 0.0
    conflicted: bool = False
    undecided: bool = False  # GitHub does not know yet whether the pull request merges


async def snapshot(
    repository: Repository, sha: str, *, own_app_id: int, base: str | None = None, pull: Pull | None = None
) -> Snapshot:
    """The state of the commit `sha`. `base` is the branch whose rules say what is required (a pull request's base).

    Raises NotFound or Invalid where there is no such commit.
    """
    path = f"commits/{sha}"
    latest = {"filter": "latest"}
    runs, found, suites, statuses, required = await asyncio.gather(
        _workflow_runs(repository, sha),
        _all(repository.pages(f"{path}/check-runs", "check_runs", params=latest)),
        _all(repository.pages(f"{path}/check-suites", "check_suites")),
        _all(repository.pages(f"{path}/status", "statuses")),
        required_checks(repository, base) if base else _nothing(),
    )
    assembled = assemble(
        sha, found, suites, statuses, runs, required, own_app_id=own_app_id, conflicted=_conflicted(pull, sha)
    )
    return replace(assembled, undecided=_undecided(pull, sha))


async def required_checks(repository: Repository, base: str) -> tuple[Required, ...]:
    """What classic protection and rulesets require on the branch `base`. Neither lists the other's."""
    found: dict[tuple[str, int], Required] = {}
    known = await branch(repository, base)
    for name, app_id in known.required if known else ():
        found[name, app_id] = Required(name, app_id)
    for rule in await branch_rules(repository, base):
        if rule.get("type") == "required_status_checks":
            for each in (rule.get("parameters") or {}).get("required_status_checks") or ():
                required = Required(str(each.get("context") or ""), int(each.get("integration_id") or 0))
                found[required.name, required.app_id] = required
    return tuple(found.values())


async def branch_rules(repository: Repository, name: str) -> list[dict[str, Any]]:
    """The active ruleset rules for a branch, also for one that does not exist yet."""
    try:
        return [rule async for rule in repository.pages(f"rules/branches/{quoted(name)}")]
    except (NotFound, Forbidden):  # not on every GitHub Enterprise Server
        return []


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
) -> Snapshot:
    """The snapshot in GitHub's answers. Pure.

    Of several runs of one job only the newest counts: by app and name, for Actions also by workflow and event, since
    two workflows may have jobs of one name. Suites without runs are those that GitHub opens for every app; they say
    nothing. While a run is being run again, its old jobs are still there, so the run itself counts too.
    """
    by_suite = {run.suite_id: run for run in runs}
    current = _newest_runs(run for run in runs if run.event not in UNRELATED)
    dropped = {run.suite_id for run in runs} - {run.suite_id for run in current}
    newest: dict[tuple[Any, ...], Check] = {}
    for each in sorted(check_runs, key=lambda each: int(each.get("id") or 0)):
        if _app_id(each) != own_app_id:
            check = _check_run(each, by_suite)
            run = by_suite.get(check.suite_id)
            source = (run.workflow_id, run.event) if run else ()
            newest[check.app_id, check.name, source] = check
    for each in sorted(statuses, key=lambda each: int(each.get("id") or 0)):
        check = _status(each)
        newest[None, check.name] = check
    with_jobs = {int((each.get("check_suite") or {}).get("id") or 0) for each in check_runs}
    for run in current:
        if run.suite_id not in with_jobs:
            newest["workflow", run.workflow_id, run.event] = _jobless(run)
    kept = [check for check in newest.values() if check.suite_id not in dropped]
    checks = [
        replace(check, required=any(each.matches(check) for each in required))
        for check in kept
        if not _superseded(check, kept, by_suite)
    ]
    unfinished = {
        int(each.get("id") or 0)
        for each in suites
        if _app_id(each) != own_app_id
        and int(each.get("latest_check_runs_count") or 0) > 0
        and each.get("status") != "completed"
    }
    unfinished |= {run.suite_id for run in current if run.status not in ("completed", "waiting")}
    changed = [check.changed_at for check in checks] + [run.changed_at for run in current]
    return Snapshot(
        sha,
        tuple(checks),
        required,
        open_suites=len(unfinished - dropped),
        changed_at=max(changed, default=0.0),
        conflicted=conflicted,
    )


async def _all(items: AsyncIterator[dict[str, Any]]) -> list[dict[str, Any]]:
    return [item async for item in items]


async def _nothing() -> tuple[Required, ...]:
    return ()


async def _workflow_runs(repository: Repository, sha: str) -> list[Run]:
    try:
        found = repository.pages(
            "actions/runs", "workflow_runs", params={"head_sha": sha, "exclude_pull_requests": "true"}
        )
        return [_run(each) async for each in found]
    except (NotFound, Forbidden):  # Actions is switched off, or the App has no `actions: read`
        return []


def _run(found: Mapping[str, Any]) -> Run:
    return Run(
        id=int(found["id"]),
        attempt=int(found.get("run_attempt") or 1),
        workflow_id=int(found.get("workflow_id") or 0),
        name=str(found.get("name") or found.get("path") or ""),
        path=str(found.get("path") or ""),
        event=str(found.get("event") or ""),
        status=str(found.get("status") or ""),
        conclusion=str(found.get("conclusion") or ""),
        suite_id=int(found.get("check_suite_id") or 0),
        url=str(found.get("html_url") or ""),
        changed_at=_time(found.get("updated_at")),
    )


def _newest_runs(runs: Iterable[Run]) -> list[Run]:
    """The newest run of each workflow and event: an older one of the same commit was superseded."""
    newest: dict[tuple[int, str], Run] = {}
    for run in sorted(runs, key=lambda run: run.id):
        newest[run.workflow_id, run.event] = run
    return list(newest.values())


def _superseded(check: Check, checks: Iterable[Check], by_suite: Mapping[int, Run]) -> bool:
    """Whether `concurrency` cancelled the check for a newer run of its workflow on this commit, which answers for it.

    A push and the pull request that it belongs to are often of one group.
    """
    run = by_suite.get(check.suite_id)
    if run is None or check.conclusion != "cancelled":
        return False
    workflow = {each.suite_id for each in by_suite.values() if each.workflow_id == run.workflow_id and each.id > run.id}
    return any(
        other.suite_id in workflow and (other.name == check.name or check.kind is Kind.WORKFLOW) for other in checks
    )


def _check_run(found: Mapping[str, Any], runs: Mapping[int, Run]) -> Check:
    app, output = found.get("app") or {}, found.get("output") or {}
    suite_id = int((found.get("check_suite") or {}).get("id") or 0)
    run = runs.get(suite_id)
    slug = str(app.get("slug") or "")
    status = str(found.get("status") or "")
    return Check(
        kind=Kind.JOB if slug == ACTIONS or run else Kind.CHECK_RUN,
        id=int(found["id"]),
        name=str(found.get("name") or ""),
        app_id=int(app.get("id") or 0),
        app=slug,
        conclusion=str(found.get("conclusion") or "neutral") if status == "completed" else "",
        waiting=status == "waiting",
        suite_id=suite_id,
        run_id=run.id if run else 0,
        run_attempt=run.attempt if run else 0,
        workflow=run.name if run else "",
        url=str(found.get("html_url") or found.get("details_url") or ""),
        external_id=str(found.get("external_id") or ""),
        title=str(output.get("title") or ""),
        summary=str(output.get("summary") or ""),
        text=str(output.get("text") or ""),
        annotations=int(output.get("annotations_count") or 0),
        changed_at=max(_time(found.get("started_at")), _time(found.get("completed_at"))),
    )


def _status(found: Mapping[str, Any]) -> Check:
    state = str(found.get("state") or "pending")
    return Check(
        kind=Kind.STATUS,
        id=int(found.get("id") or 0),
        name=str(found.get("context") or "default"),
        app_id=0,
        app="",
        conclusion={"pending": "", "error": "failure"}.get(state, state),
        url=str(found.get("target_url") or ""),
        title=str(found.get("description") or ""),
        changed_at=_time(found.get("updated_at") or found.get("created_at")),
    )


def _jobless(run: Run) -> Check:
    """A run without a job: not begun yet, waiting for approval, or a workflow file that does not start."""
    return Check(
        kind=Kind.WORKFLOW,
        id=run.id,
        name=run.name,
        app_id=0,
        app=ACTIONS,
        conclusion=(run.conclusion or "neutral") if run.status == "completed" else "",
        waiting=run.status == "waiting",
        suite_id=run.suite_id,
        run_id=run.id,
        run_attempt=run.attempt,
        workflow=run.name,
        url=run.url,
        title=run.path,
        changed_at=run.changed_at,
    )


def _conflicted(pull: Pull | None, sha: str) -> bool:
    return pull is not None and pull.head_sha == sha and (pull.mergeable is False or pull.mergeable_state == "dirty")


def _undecided(pull: Pull | None, sha: str) -> bool:
    return pull is not None and pull.state == "open" and pull.head_sha == sha and pull.mergeable is None


def _app_id(found: Mapping[str, Any]) -> int:
    return int((found.get("app") or {}).get("id") or 0)


def _time(text: str | None) -> float:
    try:
        return timestamp(text) if text else 0.0
    except ValueError:
        return 0.0

"""Is this commit green? The newest check runs and statuses of a commit, and what they come to together."""

from dataclasses import dataclass

from github.emulator.store.checks import CheckRun
from github.emulator.store.repositories import Protection, Repository
from github.emulator.store.statuses import Status
from github.emulator.store.store import Store

PASSING = ("success", "neutral", "skipped")


@dataclass(frozen=True)
class Required:
    """A required check: its name, and the App it must come from (None: any)."""

    context: str
    app_id: int | None


def latest_check_runs(store: Store, repository: Repository, sha: str) -> list[CheckRun]:
    """The newest check run per name and suite, oldest suite first; runs of superseded attempts are left out."""
    return [
        run
        for suite in store.suites_of(repository, sha)
        for run in _newest(store.check_runs_of(suite))
        if not run.superseded
    ]


def _newest(runs: list[CheckRun]) -> list[CheckRun]:
    by_name: dict[str, CheckRun] = {}
    for run in runs:
        by_name.pop(run.name, None)
        by_name[run.name] = run
    return list(by_name.values())


def latest_statuses(store: Store, repository: Repository, sha: str) -> list[Status]:
    """The newest status of each context."""
    found: dict[str, Status] = {}
    for status in store.statuses_of(repository, sha):
        found.setdefault(status.context, status)
    return list(found.values())


def combined(statuses: list[Status]) -> str:
    """Failure if any failed, pending if there is none or any is pending, else success."""
    states = {status.state for status in statuses}
    if states & {"error", "failure"}:
        return "failure"
    return "pending" if not states or "pending" in states else "success"


def state(store: Store, repository: Repository, sha: str) -> str | None:
    """FAILURE, PENDING, SUCCESS, or None when nothing ever reported."""
    runs = latest_check_runs(store, repository, sha)
    statuses = latest_statuses(store, repository, sha)
    if not runs and not statuses:
        return None
    if any(run.status == "completed" and run.conclusion not in PASSING for run in runs):
        return "FAILURE"
    if any(status.state in ("failure", "error") for status in statuses):
        return "FAILURE"
    waiting = any(run.status != "completed" for run in runs) or any(s.state == "pending" for s in statuses)
    return "PENDING" if waiting else "SUCCESS"


def all_met(store: Store, repository: Repository, protection: Protection, sha: str) -> bool:
    """Whether all that a classic protection requires has passed on the commit; False if it requires none."""
    needs = [Required(name, protection.app_ids.get(name)) for name in protection.contexts]
    return bool(needs) and all(met(store, repository, need, sha) for need in needs)


def failed(store: Store, repository: Repository, need: Required, sha: str) -> bool:
    """Whether a required check has ended on the commit and not passed."""
    runs, statuses = _named(store, repository, need, sha)
    red = any(run.status == "completed" and run.conclusion not in PASSING for run in runs)
    return red or any(status.state in ("failure", "error") for status in statuses)


def _named(store: Store, repository: Repository, need: Required, sha: str) -> tuple[list[CheckRun], list[Status]]:
    runs = [
        run
        for run in latest_check_runs(store, repository, sha)
        if run.name == need.context and need.app_id in (None, run.suite.app.id)
    ]
    statuses = latest_statuses(store, repository, sha) if need.app_id is None else []
    return runs, [status for status in statuses if status.context == need.context]


def met(store: Store, repository: Repository, need: Required, sha: str) -> bool:
    """Whether a required check has passed on the commit; a check run and a status of one name are both required."""
    runs, statuses = _named(store, repository, need, sha)
    passed = all(run.conclusion in PASSING for run in runs) and all(s.state == "success" for s in statuses)
    return bool(runs or statuses) and passed

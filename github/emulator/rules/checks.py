"""Is this commit green? The answer behind merge boxes, `mergeable_state` and `statusCheckRollup`."""

from dataclasses import dataclass

from github.emulator.rules.rulesets import rules_for
from github.emulator.store.checks import CheckRun
from github.emulator.store.issues import Pull
from github.emulator.store.repositories import Repository
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


def required(repository: Repository, branch: str) -> list[Required]:
    """The checks a branch asks for, from classic protection and rulesets together."""
    found = []
    protection = repository.protections.get(branch)
    if protection:
        found += [Required(name, protection.app_ids.get(name)) for name in protection.contexts]
    for _, rule in rules_for(repository, branch):
        if rule["type"] == "required_status_checks":
            for check in rule["parameters"]["required_status_checks"]:
                found.append(Required(check["context"], check.get("integration_id")))
    return found


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


def required_met(store: Store, repository: Repository, branch: str, sha: str) -> bool:
    """Whether every required check of the branch has passed on the commit."""
    runs = latest_check_runs(store, repository, sha)
    statuses = latest_statuses(store, repository, sha)
    for need in required(repository, branch):
        named = [r for r in runs if r.name == need.context and need.app_id in (None, r.suite.app.id)]
        also = [s for s in statuses if s.context == need.context] if need.app_id is None else []
        if not named and not also:
            return False
        if any(r.conclusion not in PASSING for r in named) or any(s.state != "success" for s in also):
            return False
    return True


def mergeable_state(store: Store, pull: Pull) -> str:
    """`mergeable_state` of a pull request whose mergeability is known or not."""
    repository = pull.repository
    if pull.mergeable is None or not pull.open:
        return "unknown"
    if not pull.mergeable:
        return "dirty"
    if pull.draft:
        return "draft"
    protection = repository.protections.get(pull.base_ref)
    reviews = [r for r in store.reviews if r.pull is pull and r.state == "APPROVED"]
    if protection and len({r.user for r in reviews}) < protection.approvals:
        return "blocked"
    if not required_met(store, repository, pull.base_ref, pull.head_sha):
        return "blocked"
    if protection and protection.strict and not repository.git.is_ancestor(pull.base_sha, pull.head_sha):
        return "behind"
    return "unstable" if state(store, repository, pull.head_sha) in ("FAILURE", "PENDING") else "clean"

"""Check suites, check runs and statuses change."""

from typing import Any

from github.emulator.forge import Forge
from github.emulator.git import commits
from github.emulator.store.apps import App
from github.emulator.store.checks import CheckRun, CheckSuite
from github.emulator.store.repositories import Repository
from github.emulator.store.statuses import Status
from github.emulator.store.users import User
from github.emulator.views import checks as views
from github.emulator.views import commits as commit_views
from github.emulator.views import repositories

Json = dict[str, Any]

# worst first: the conclusion of a suite is the worst of its runs
_ORDER = (
    "startup_failure",
    "failure",
    "timed_out",
    "cancelled",
    "action_required",
    "stale",
    "success",
    "neutral",
    "skipped",
)


def worst(conclusions: list[str]) -> str:
    """What a suite or run concludes when its parts concluded these."""
    return next((word for word in _ORDER if word in conclusions), "success")


def suite_created(
    forge: Forge, repository: Repository, app: App, sha: str, branch: str | None, before: str | None, after: str | None
) -> CheckSuite:
    now = forge.now()
    row = CheckSuite(forge.store.suites.new_id(), repository, app, sha, branch, before, after, now, now)
    return forge.store.suites.add(row)


def suites_requested(forge: Forge, repository: Repository, sha: str, branch: str | None, before: str, by: User) -> None:
    """On a push every App with checks:write gets a suite of its own, empty and queued, unless it was told not to."""
    for app in forge.store.apps:
        installation = forge.store.installation_on(app, repository)
        writes = installation is not None and installation.permissions.get("checks") == "write"
        if not writes or not repository.auto_suites.get(app.id, True) or suite_of(forge, repository, app, sha):
            continue
        row = suite_created(forge, repository, app, sha, branch, before, sha)
        tell_suite(forge, row, "requested", by, only_app=app)


def suite_of(forge: Forge, repository: Repository, app: App, sha: str) -> CheckSuite | None:
    """The App's one suite of a commit."""
    return next((s for s in forge.store.suites_of(repository, sha) if s.app is app and s.run_id is None), None)


def tell_suite(forge: Forge, row: CheckSuite, action: str, by: User, only_app: App | None = None) -> None:
    payload = {"check_suite": views.suite_in_event(forge.store, row)}
    forge.emit("check_suite", action, payload, row.repository, by, only_app)


def tell_run(
    forge: Forge, row: CheckRun, action: str, by: User, only_app: App | None = None, extra: Json | None = None
) -> None:
    payload = {"check_run": views.run_in_event(forge.store, row)} | (extra or {})
    forge.emit("check_run", action, payload, row.suite.repository, by, only_app)


def run_created(forge: Forge, suite: CheckSuite, name: str, by: User, status: str = "queued") -> CheckRun:
    """A new check run in a suite. The caller sets what else it has, then calls `settled`."""
    row = CheckRun(forge.store.check_runs.new_id(), suite, name, status, forge.now())
    return forge.store.check_runs.add(row)


def settled(forge: Forge, suite: CheckSuite, by: User) -> None:
    """Bring a suite's state in line with its runs, and tell when it has just been completed.

    The suites of workflow runs are not settled here: their runs are made job by job, and the engine knows the end.
    """
    runs = [run for run in forge.store.check_runs_of(suite) if not run.superseded]
    before = (suite.status, suite.conclusion)
    if runs and all(run.status == "completed" for run in runs):
        suite.status, suite.conclusion = "completed", worst([run.conclusion or "neutral" for run in runs])
    else:
        started = any(run.status != "queued" for run in runs)
        suite.status, suite.conclusion = "in_progress" if started else "queued", None
    suite.updated_at = forge.now()
    if suite.status == "completed" and before != (suite.status, suite.conclusion):
        tell_suite(forge, suite, "completed", by)


def status_set(
    forge: Forge,
    repository: Repository,
    sha: str,
    by: User,
    state: str,
    context: str,
    description: str | None,
    target_url: str | None,
) -> Status:
    """A commit status, and its event, which names branches but no pull request."""
    row = Status(
        forge.store.statuses.new_id(), repository, sha, state, context, by, forge.now(), description, target_url
    )
    forge.store.statuses.add(row)
    commit = commits.read(repository.git, sha)
    base = repositories.url(forge.store, repository)
    payload: Json = {
        "id": row.id,
        "sha": sha,
        "name": repository.full_name,
        "target_url": target_url,
        "avatar_url": f"{forge.store.origins.web}/avatars/{by.id}",
        "context": context,
        "description": description,
        "state": state,
        "commit": commit_views.commit(forge.store, repository, commit),
        "branches": [
            {
                "name": name,
                "commit": {"sha": sha, "url": f"{base}/commits/{sha}"},
                "protected": _protected(repository, name),
            }
            for name in views.branches_at(repository, sha)
        ],
        "created_at": row.created_at.isoformat(timespec="seconds"),
        "updated_at": row.created_at.isoformat(timespec="seconds"),
    }
    forge.emit("status", None, payload, repository, by)
    return row


def _protected(repository: Repository, branch: str) -> bool:
    return branch in repository.protections


def button_pressed(forge: Forge, row: CheckRun, identifier: str, by: User) -> None:
    """A person pressed a button of a check run; GitHub has this on its pages only.

    Raises ValueError where there is no such button, and where the run is not completed: GitHub shows its buttons then.
    """
    if row.status != "completed":
        raise ValueError(f"check run {row.id} is {row.status}: its buttons are shown when it is completed")
    if not any(action["identifier"] == identifier for action in row.actions):
        names = ", ".join(action["identifier"] for action in row.actions) or "none"
        raise ValueError(f"check run {row.id} has no action {identifier!r}: it has {names}")
    extra = {"requested_action": {"identifier": identifier}}
    tell_run(forge, row, "requested_action", by, only_app=row.suite.app, extra=extra)

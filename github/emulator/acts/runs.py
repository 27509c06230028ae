"""Workflow runs and jobs change; each change is told as GitHub tells it."""

from typing import TYPE_CHECKING, Any

from github.emulator.acts import checks
from github.emulator.hooks.emit import emit
from github.emulator.store.runs import Job, Run, Workflow
from github.emulator.store.users import User
from github.emulator.views import runs as views

if TYPE_CHECKING:
    from github.emulator.hub import Hub
    from github.emulator.store.repositories import Repository


def workflow_of(hub: "Hub", repository: "Repository", path: str, name: str) -> Workflow:
    """The repository's workflow at that path, with its newest name."""
    for row in hub.store.workflows:
        if row.repository is repository and row.path == path:
            row.name = name
            return row
    row = Workflow(hub.store.workflows.new_id(), repository, path, name, hub.clock.now())
    return hub.store.workflows.add(row)


def tell_run(hub: "Hub", row: Run, action: str) -> None:
    payload: dict[str, Any] = {
        "workflow_run": views.run(hub, row),
        "workflow": views.workflow(hub, row.workflow),
    }
    emit(hub, "workflow_run", action, payload, row.repository, row.triggering_actor)


def tell_job(hub: "Hub", row: Job, action: str) -> None:
    emit(hub, "workflow_job", action, {"workflow_job": views.job(hub, row)}, row.run.repository, _sender(row.run))


def _sender(row: Run) -> User:
    return row.triggering_actor


def run_started(hub: "Hub", row: Run) -> None:
    if row.status == "in_progress":
        return
    row.status, row.updated_at = "in_progress", hub.clock.now()
    row.suite.status, row.suite.updated_at = "in_progress", hub.clock.now()
    tell_run(hub, row, "in_progress")


def run_completed(hub: "Hub", row: Run, conclusion: str) -> None:
    """The end of an attempt: the run, and its suite with it."""
    now = hub.clock.now()
    row.status, row.conclusion, row.updated_at = "completed", conclusion, now
    row.suite.status, row.suite.conclusion, row.suite.updated_at = "completed", conclusion, now
    tell_run(hub, row, "completed")
    checks.tell_suite(hub, row.suite, "completed", _sender(row))


def job_queued(hub: "Hub", run: Run, key: str, name: str, labels: list[str], matrix: dict[str, Any]) -> Job:
    """A job whose needs are met: its check run has the same id and the same page."""
    check = checks.run_created(hub, run.suite, name, _sender(run))
    row = Job(check.id, run, run.attempt, key, name, labels, check, hub.clock.now(), matrix=matrix)
    hub.store.jobs.add(row)
    check.job_id = row.id
    check.external_id = str(row.id)
    check.details_url = views.job_page(hub, row)
    checks.tell_run(hub, check, "created", _sender(run))
    tell_job(hub, row, "queued")
    return row


def job_started(hub: "Hub", row: Job) -> None:
    row.status = row.check.status = "in_progress"
    row.started_at = row.check.started_at = hub.clock.now()
    run_started(hub, row.run)
    tell_job(hub, row, "in_progress")


def job_completed(hub: "Hub", row: Job, conclusion: str) -> None:
    now = hub.clock.now()
    row.status = row.check.status = "completed"
    row.conclusion = row.check.conclusion = conclusion
    row.started_at = row.check.started_at = row.started_at or now
    row.completed_at = row.check.completed_at = now
    checks.tell_run(hub, row.check, "completed", _sender(row.run))
    tell_job(hub, row, "completed")

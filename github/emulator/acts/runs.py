"""Workflow runs and jobs change; each change is told as GitHub tells it."""

from typing import Any

from github.emulator.acts import checks
from github.emulator.forge import Forge
from github.emulator.store.repositories import Repository
from github.emulator.store.runs import Job, Run, Workflow
from github.emulator.store.users import User
from github.emulator.views import runs as views


def workflow_of(forge: Forge, repository: Repository, path: str, name: str) -> Workflow:
    """The repository's workflow at that path, with its newest name."""
    for row in forge.store.workflows:
        if row.repository is repository and row.path == path:
            row.name = name
            return row
    row = Workflow(forge.store.workflows.new_id(), repository, path, name, forge.now())
    return forge.store.workflows.add(row)


def tell_run(forge: Forge, row: Run, action: str) -> None:
    payload: dict[str, Any] = {
        "workflow_run": views.run(forge.store, row),
        "workflow": views.workflow(forge.store, row.workflow),
    }
    forge.emit("workflow_run", action, payload, row.repository, row.triggering_actor)


def tell_job(forge: Forge, row: Job, action: str) -> None:
    payload = {"workflow_job": views.job(forge.store, row)}
    forge.emit("workflow_job", action, payload, row.run.repository, _sender(row.run))


def _sender(row: Run) -> User:
    return row.triggering_actor


def run_started(forge: Forge, row: Run) -> None:
    if row.status == "in_progress":
        return
    row.status, row.updated_at = "in_progress", forge.now()
    row.suite.status, row.suite.updated_at = "in_progress", forge.now()
    tell_run(forge, row, "in_progress")


def run_completed(forge: Forge, row: Run, conclusion: str) -> None:
    """The end of an attempt: the run, and its suite with it."""
    now = forge.now()
    row.status, row.conclusion, row.updated_at = "completed", conclusion, now
    row.suite.status, row.suite.conclusion, row.suite.updated_at = "completed", conclusion, now
    tell_run(forge, row, "completed")
    checks.tell_suite(forge, row.suite, "completed", _sender(row))


def job_queued(forge: Forge, run: Run, key: str, name: str, labels: list[str], matrix: dict[str, Any]) -> Job:
    """A job whose needs are met: its check run has the same id and the same page."""
    check = checks.run_created(forge, run.suite, name, _sender(run))
    row = Job(check.id, run, run.attempt, key, name, labels, check, forge.now(), matrix=matrix)
    forge.store.jobs.add(row)
    check.job_id = row.id
    check.external_id = str(row.id)
    check.details_url = views.job_page(forge.store, row)
    checks.tell_run(forge, check, "created", _sender(run))
    tell_job(forge, row, "queued")
    return row


def job_waiting(forge: Forge, row: Job) -> None:
    """It waits for somebody to let it into its environment."""
    row.status = row.check.status = row.run.status = row.run.suite.status = "waiting"
    tell_job(forge, row, "waiting")


def job_started(forge: Forge, row: Job) -> None:
    row.status = row.check.status = "in_progress"
    row.started_at = row.check.started_at = forge.now()
    run_started(forge, row.run)
    tell_job(forge, row, "in_progress")


def job_completed(forge: Forge, row: Job, conclusion: str) -> None:
    now = forge.now()
    row.status = row.check.status = "completed"
    row.conclusion = row.check.conclusion = conclusion
    row.started_at = row.check.started_at = row.started_at or now
    row.completed_at = row.check.completed_at = now
    checks.tell_run(forge, row.check, "completed", _sender(row.run))
    tell_job(forge, row, "completed")

"""Workflow runs, their jobs and workflows."""

import hashlib
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from github.emulator.clock import iso, iso_or_none
from github.emulator.git import commits
from github.emulator.store.runs import Artifact, Job, Run, Step, Workflow
from github.emulator.store.store import Store
from github.emulator.store.table import node_id
from github.emulator.views import commits as commit_views
from github.emulator.views import pulls, repositories, users

Json = dict[str, Any]


def page(store: Store, row: Run) -> str:
    return f"{store.origins.web}/{row.repository.full_name}/actions/runs/{row.id}"


def job_page(store: Store, row: Job) -> str:
    return f"{page(store, row.run)}/job/{row.id}"


def run(store: Store, row: Run) -> Json:
    """`workflow-run`. Runs of forks list no pull requests."""
    base = repositories.url(store, row.repository)
    url = f"{base}/actions/runs/{row.id}"
    mine = row.head_repository is row.repository
    previous = f"{url}/attempts/{row.attempt - 1}" if row.attempt > 1 else None
    return {
        "id": row.id,
        "name": row.name,
        "node_id": node_id("WFR", row.id),
        "head_branch": row.head_branch,
        "head_sha": row.head_sha,
        "path": row.workflow.path,
        "display_title": row.title,
        "run_number": row.number,
        "event": row.event,
        "status": row.status,
        "conclusion": row.conclusion,
        "workflow_id": row.workflow.id,
        "check_suite_id": row.suite.id,
        "check_suite_node_id": node_id("CS", row.suite.id),
        "url": url,
        "html_url": page(store, row),
        "pull_requests": pulls.of_commit(store, row.repository, row.head_sha, row.head_branch) if mine else [],
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "actor": users.simple(store, row.actor),
        "run_attempt": row.attempt,
        "referenced_workflows": [],
        "run_started_at": iso(row.started_at),
        "triggering_actor": users.simple(store, row.triggering_actor),
        "jobs_url": f"{url}/jobs",
        "logs_url": f"{url}/logs",
        "check_suite_url": f"{base}/check-suites/{row.suite.id}",
        "artifacts_url": f"{url}/artifacts",
        "cancel_url": f"{url}/cancel",
        "rerun_url": f"{url}/rerun",
        "previous_attempt_url": previous,
        "workflow_url": f"{base}/actions/workflows/{row.workflow.id}",
        "head_commit": commit_views.simple_commit(commits.read(row.repository.git, row.head_sha)),
        "repository": repositories.minimal(store, row.repository),
        "head_repository": repositories.minimal(store, row.head_repository or row.repository),
    }


def step(row: Step) -> Json:
    return {
        "name": row.name,
        "status": row.status,
        "conclusion": row.conclusion,
        "number": row.number,
        "started_at": iso_or_none(row.started_at),
        "completed_at": iso_or_none(row.completed_at),
    }


def job(store: Store, row: Job) -> Json:
    """`job`."""
    base = repositories.url(store, row.run.repository)
    started = row.started_at is not None
    return {
        "id": row.id,
        "run_id": row.run.id,
        "workflow_name": row.run.name,
        "head_branch": row.run.head_branch,
        "run_url": f"{base}/actions/runs/{row.run.id}",
        "run_attempt": row.attempt,
        "node_id": node_id("CR", row.id),
        "head_sha": row.run.head_sha,
        "url": f"{base}/actions/jobs/{row.id}",
        "html_url": job_page(store, row),
        "status": row.status,
        "conclusion": row.conclusion,
        "created_at": iso(row.created_at),
        "started_at": iso(row.started_at or row.created_at),
        "completed_at": iso_or_none(row.completed_at),
        "name": row.name,
        "steps": [step(item) for item in row.steps],
        "check_run_url": f"{base}/check-runs/{row.check.id}",
        "labels": list(row.labels),
        "runner_id": 1 if started else None,
        "runner_name": "GitHub Actions 1" if started else None,
        "runner_group_id": 0 if started else None,
        "runner_group_name": "GitHub Actions" if started else None,
    }


def artifact(store: Store, row: Artifact) -> Json:
    """`artifact`; it is kept for 90 days."""
    url = f"{repositories.url(store, row.run.repository)}/actions/artifacts/{row.id}"
    run_ids = {"id": row.run.id, "repository_id": row.run.repository.id, "head_sha": row.run.head_sha}
    return {
        "id": row.id,
        "node_id": node_id("MA", row.id),
        "name": row.name,
        "size_in_bytes": len(row.content),
        "url": url,
        "archive_download_url": f"{url}/zip",
        "expired": False,
        "created_at": iso(row.created_at),
        "expires_at": iso(row.created_at + timedelta(days=90)),
        "updated_at": iso(row.created_at),
        "digest": f"sha256:{hashlib.sha256(row.content).hexdigest()}",
        "workflow_run": run_ids | {"head_branch": row.run.head_branch},
    }


def workflow(store: Store, row: Workflow) -> Json:
    """`workflow`."""
    base, web = repositories.url(store, row.repository), f"{store.origins.web}/{row.repository.full_name}"
    return {
        "id": row.id,
        "node_id": node_id("W", row.id),
        "name": row.name,
        "path": row.path,
        "state": "active",
        "created_at": iso(row.created_at),
        "updated_at": iso(row.created_at),
        "url": f"{base}/actions/workflows/{row.id}",
        "html_url": f"{web}/blob/{quote(row.repository.default_branch)}/{quote(row.path)}",
        "badge_url": f"{web}/workflows/{quote(row.name)}/badge.svg",
    }

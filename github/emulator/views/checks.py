"""Check suites, check runs, annotations, statuses."""

from typing import Any

from github.emulator.clock import iso, iso_or_none
from github.emulator.git import commits
from github.emulator.store.checks import CheckRun, CheckSuite
from github.emulator.store.repositories import Repository
from github.emulator.store.statuses import Status
from github.emulator.store.store import Store
from github.emulator.store.table import node_id
from github.emulator.views import apps, pulls, repositories, users
from github.emulator.views.commits import simple_commit

Json = dict[str, Any]


def run_page(store: Store, run: CheckRun) -> str:
    return f"{store.origins.web}/{run.suite.repository.full_name}/runs/{run.id}"


def run(store: Store, row: CheckRun) -> Json:
    """`check-run`."""
    suite = row.suite
    url = f"{repositories.url(store, suite.repository)}/check-runs/{row.id}"
    return {
        "id": row.id,
        "name": row.name,
        "node_id": node_id("CR", row.id),
        "head_sha": suite.head_sha,
        "external_id": row.external_id,
        "url": url,
        "html_url": run_page(store, row),
        "details_url": row.details_url or run_page(store, row),
        "status": row.status,
        "conclusion": row.conclusion,
        "started_at": iso_or_none(row.started_at),
        "completed_at": iso_or_none(row.completed_at),
        "output": {
            "title": row.title,
            "summary": row.summary,
            "text": row.text,
            "annotations_count": len(row.annotations),
            "annotations_url": f"{url}/annotations",
        },
        "check_suite": {"id": suite.id},
        "app": apps.app(store, suite.app),
        "pull_requests": pulls.of_commit(store, suite.repository, suite.head_sha, suite.head_branch),
    }


def run_in_event(store: Store, row: CheckRun) -> Json:
    """The check run of webhooks, which carries more of its suite."""
    suite = row.suite
    shown = run(store, row)
    shown["check_suite"] = {
        "id": suite.id,
        "node_id": node_id("CS", suite.id),
        "head_branch": suite.head_branch,
        "head_sha": suite.head_sha,
        "status": suite.status,
        "conclusion": suite.conclusion,
        "url": f"{repositories.url(store, suite.repository)}/check-suites/{suite.id}",
        "before": suite.before,
        "after": suite.after,
        "pull_requests": shown["pull_requests"],
        "app": shown["app"],
        "created_at": iso(suite.created_at),
        "updated_at": iso(suite.updated_at),
    }
    shown["started_at"] = shown["started_at"] or iso(row.created_at)
    return shown


def suite(store: Store, row: CheckSuite) -> Json:
    """`check-suite`; webhooks carry it without the repository."""
    return suite_in_event(store, row) | {"repository": repositories.minimal(store, row.repository)}


def suite_in_event(store: Store, row: CheckSuite) -> Json:
    url = f"{repositories.url(store, row.repository)}/check-suites/{row.id}"
    return {
        "id": row.id,
        "node_id": node_id("CS", row.id),
        "head_branch": row.head_branch,
        "head_sha": row.head_sha,
        "status": row.status,
        "conclusion": row.conclusion,
        "url": url,
        "before": row.before,
        "after": row.after,
        "pull_requests": pulls.of_commit(store, row.repository, row.head_sha, row.head_branch),
        "app": apps.app(store, row.app),
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "rerequestable": True,
        "runs_rerequestable": row.run_id is None,
        "latest_check_runs_count": sum(1 for r in store.check_runs_of(row) if not r.superseded),
        "check_runs_url": f"{url}/check-runs",
        "head_commit": simple_commit(commits.read(row.repository.git, row.head_sha)),
    }


def annotation(store: Store, row: CheckRun, item: Json) -> Json:
    """`check-annotation`."""
    page = f"{store.origins.web}/{row.suite.repository.full_name}/blob/{row.head_sha}/{item['path']}"
    return {
        "path": item["path"],
        "blob_href": page,
        "start_line": item["start_line"],
        "start_column": item.get("start_column"),
        "end_line": item["end_line"],
        "end_column": item.get("end_column"),
        "annotation_level": item["annotation_level"],
        "title": item.get("title", ""),
        "message": item["message"],
        "raw_details": item.get("raw_details", ""),
    }


def simple_status(store: Store, row: Status) -> Json:
    """`simple-commit-status`, of the combined answer."""
    return {
        "url": f"{repositories.url(store, row.repository)}/statuses/{row.sha}",
        "avatar_url": f"{store.origins.web}/avatars/{row.creator.id}",
        "id": row.id,
        "node_id": node_id("SC", row.id),
        "state": row.state,
        "description": row.description,
        "target_url": row.target_url,
        "context": row.context,
        "created_at": iso(row.created_at),
        "updated_at": iso(row.created_at),
    }


def status(store: Store, row: Status) -> Json:
    """`status`, which also says who set it."""
    return simple_status(store, row) | {"creator": users.simple(store, row.creator)}


def branches_at(repository: Repository, sha: str, limit: int = 10) -> list[str]:
    """The branches that hold the commit, at most ten, as the `status` event lists them."""
    found = repository.git.text("for-each-ref", "--format=%(refname)", "--contains", sha, "refs/heads/").split()
    return [name.removeprefix("refs/heads/") for name in found[:limit]]

"""Suites, check runs, statuses and their rollup, as GraphQL shows them of a commit."""

from collections.abc import Callable
from typing import Any

from github.emulator.api.call import Call
from github.emulator.clock import iso, iso_or_none
from github.emulator.rest.graphql.pages import connection
from github.emulator.rules import merging, rollup
from github.emulator.store.checks import CheckRun, CheckSuite
from github.emulator.store.repositories import Repository
from github.emulator.store.runs import Step
from github.emulator.store.statuses import Status
from github.emulator.store.store import Store
from github.emulator.store.table import node_id, row_id_of
from github.emulator.views.checks import run_page

Json = dict[str, Any]


def rollup_of(call: Call, repository: Repository, sha: str) -> Json | None:
    """`StatusCheckRollup`: what all checks of a commit come to, and each of them; None where nothing ever reported."""
    store = call.store
    state = rollup.state(store, repository, sha)
    if state is None:
        return None
    rows = [_check_run(call, row) for row in rollup.latest_check_runs(store, repository, sha)]
    rows += [_context(call, row) for row in rollup.latest_statuses(store, repository, sha)]
    return {"state": state, "contexts": connection(lambda _: rows, lambda row: row)}


def status_of(call: Call, repository: Repository, sha: str) -> Json | None:
    """None where nobody ever set one."""
    rows = rollup.latest_statuses(call.store, repository, sha)
    if not rows:
        return None
    state = rollup.combined(rows).upper()
    return {"id": f"ST_{sha}", "state": state, "contexts": [_context(call, row) for row in rows]}


def _context(call: Call, row: Status) -> Json:
    return {
        "__typename": "StatusContext",
        "id": node_id("SC", row.id),
        "context": row.context,
        "state": row.state.upper(),
        "description": row.description,
        "targetUrl": row.target_url,
        "createdAt": iso(row.created_at),
        "avatarUrl": lambda _info, **_: f"{call.store.origins.web}/avatars/{row.creator.id}",
        "isRequired": _required(call.store, row.repository, row.context, None),
    }


def suite(call: Call, row: CheckSuite) -> Json:
    return {
        "id": node_id("CS", row.id),
        "databaseId": row.id,
        "status": row.status.upper(),
        "conclusion": row.conclusion.upper() if row.conclusion else None,
        "createdAt": iso(row.created_at),
        "updatedAt": iso(row.updated_at),
        "app": {"id": node_id("A", row.app.id), "databaseId": row.app.id, "slug": row.app.slug, "name": row.app.name},
        "workflowRun": lambda _info: _workflow_run(call.store, row),
        "checkRuns": connection(lambda wanted: _runs(call, row, wanted), lambda run: _check_run(call, run)),
    }


def _runs(call: Call, suite: CheckSuite, wanted: Json) -> list[CheckRun]:
    """The newest of each name unless all are asked for."""
    filters = wanted.get("filterBy") or {}
    rows = call.store.check_runs_of(suite)
    if filters.get("checkType") != "ALL":
        newest = set(rollup.latest_check_runs(call.store, suite.repository, suite.head_sha))
        rows = [row for row in rows if row in newest]
    if (name := filters.get("checkName")) is not None:
        rows = [row for row in rows if row.name == name]
    if (app := filters.get("appId")) is not None:
        rows = [row for row in rows if row.suite.app.id == app]
    if (conclusions := filters.get("conclusions")) is not None:
        rows = [row for row in rows if (row.conclusion or "").upper() in conclusions]
    return [row for row in rows if not call.lags("checks", row.id, row.created_at)]


def _check_run(call: Call, row: CheckRun) -> Json:
    """`CheckRun`."""
    store = call.store
    return {
        "__typename": "CheckRun",
        "id": node_id("CR", row.id),
        "databaseId": row.id,
        "name": row.name,
        "status": row.status.upper(),
        "conclusion": row.conclusion.upper() if row.conclusion else None,
        "detailsUrl": row.details_url or run_page(store, row),
        "url": run_page(store, row),
        "externalId": row.external_id or None,
        "title": row.title,
        "summary": row.summary,
        "text": row.text,
        "startedAt": iso_or_none(row.started_at),
        "completedAt": iso_or_none(row.completed_at),
        "checkSuite": lambda _info: suite(call, row.suite),
        "annotations": connection(lambda _: row.annotations, _annotation),
        "steps": connection(lambda wanted: _steps(store, row, wanted), _step),
        "isRequired": _required(store, row.suite.repository, row.name, row.suite.app.id),
    }


def _steps(store: Store, row: CheckRun, wanted: Json) -> list[Step]:
    """Of the job that the check run is of; those of other apps have none."""
    job = next((each for each in store.jobs if each.check is row), None)
    number = wanted.get("number")
    return [each for each in (job.steps if job else ()) if number in (None, each.number)]


def _step(row: Step) -> Json:
    conclusion = row.conclusion.upper() if row.conclusion else None
    return {"number": row.number, "name": row.name, "status": row.status.upper(), "conclusion": conclusion}


def _annotation(item: Json) -> Json:
    return {
        "path": item["path"],
        "annotationLevel": item["annotation_level"].upper(),
        "title": item.get("title"),
        "message": item["message"],
        "location": {"start": {"line": item["start_line"]}, "end": {"line": item["end_line"]}},
    }


def _required(store: Store, repository: Repository, name: str, app_id: int | None) -> Callable[..., bool]:
    """Whether the base branch of a pull request asks for a check or status of this name, from this App."""

    def resolve(_info: Any, pullRequestId: str | None = None, pullRequestNumber: int | None = None) -> bool:
        number = row_id_of(pullRequestId or "", "PR")
        pull = store.pulls.get(number) if number is not None else None
        if pull is None and pullRequestNumber is not None and (issue := store.issue(repository, pullRequestNumber)):
            pull = issue.pull
        needs = merging.required(repository, pull.base_ref) if pull is not None else []
        return any(need.context == name and need.app_id in (None, app_id) for need in needs)

    return resolve


def _workflow_run(store: Store, row: CheckSuite) -> Json | None:
    """The run that a suite of Actions is of."""
    run = next((each for each in store.runs if each.suite is row), None)
    return None if run is None else {"databaseId": run.id, "event": run.event, "workflow": {"name": run.workflow.name}}

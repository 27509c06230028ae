"""`statusCheckRollup`: what all checks of a commit come to, and each of them."""

from collections.abc import Callable
from typing import Any

from github.emulator.clock import iso, iso_or_none
from github.emulator.rest.graphql.pages import connection
from github.emulator.rules import merging, rollup
from github.emulator.store.checks import CheckRun, CheckSuite
from github.emulator.store.repositories import Repository
from github.emulator.store.statuses import Status
from github.emulator.store.store import Store
from github.emulator.store.table import node_id, row_id_of
from github.emulator.views.checks import run_page

Json = dict[str, Any]


def rollup_of(store: Store, repository: Repository, sha: str) -> Json | None:
    """None where nothing ever reported."""
    state = rollup.state(store, repository, sha)
    if state is None:
        return None
    rows = [_run(store, row) for row in rollup.latest_check_runs(store, repository, sha)]
    rows += [_status(store, repository, row) for row in rollup.latest_statuses(store, repository, sha)]

    return {"state": state, "contexts": connection(lambda _: rows, lambda row: row)}


def _run(store: Store, row: CheckRun) -> Json:
    return {
        "__typename": "CheckRun",
        "id": node_id("CR", row.id),
        "databaseId": row.id,
        "name": row.name,
        "status": row.status.upper(),
        "conclusion": row.conclusion.upper() if row.conclusion else None,
        "detailsUrl": row.details_url or run_page(store, row),
        "startedAt": iso_or_none(row.started_at),
        "completedAt": iso_or_none(row.completed_at),
        "checkSuite": lambda _info: _suite(store, row.suite),
        "isRequired": _required(store, row.suite.repository, row.name, row.suite.app.id),
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


def _suite(store: Store, row: CheckSuite) -> Json:
    run = next((each for each in store.runs if each.suite is row), None)
    shown = run and {"databaseId": run.id, "event": run.event, "workflow": {"name": run.workflow.name}}
    return {"id": node_id("CS", row.id), "workflowRun": shown}


def _status(store: Store, repository: Repository, row: Status) -> Json:
    return {
        "__typename": "StatusContext",
        "id": node_id("SC", row.id),
        "context": row.context,
        "state": row.state.upper(),
        "description": row.description,
        "targetUrl": row.target_url,
        "createdAt": iso(row.created_at),
        "isRequired": _required(store, repository, row.context, None),
    }

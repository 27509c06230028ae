"""`statusCheckRollup`: what all checks of a commit come to, and each of them."""

from typing import Any

from github.emulator.rules import rollup
from github.emulator.store.checks import CheckRun
from github.emulator.store.repositories import Repository
from github.emulator.store.statuses import Status
from github.emulator.store.store import Store
from github.emulator.store.table import node_id
from github.emulator.views.checks import run_page

Json = dict[str, Any]
PAGE = 100


def rollup_of(store: Store, repository: Repository, sha: str) -> Json | None:
    """None where nothing ever reported."""
    state = rollup.state(store, repository, sha)
    if state is None:
        return None
    rows = [_run(store, row) for row in rollup.latest_check_runs(store, repository, sha)]
    rows += [_status(row) for row in rollup.latest_statuses(store, repository, sha)]

    def contexts(_info: Any, first: int = PAGE, after: str | None = None) -> Json:
        start = int(after or 0)
        shown, more = rows[start : start + first], start + first < len(rows)
        page = {"hasNextPage": more, "endCursor": str(start + len(shown)) if shown else None}
        return {"nodes": shown, "totalCount": len(rows), "pageInfo": page}

    return {"state": state, "contexts": contexts}


def _run(store: Store, row: CheckRun) -> Json:
    return {
        "__typename": "CheckRun",
        "id": node_id("CR", row.id),
        "databaseId": row.id,
        "name": row.name,
        "status": row.status.upper(),
        "conclusion": row.conclusion.upper() if row.conclusion else None,
        "detailsUrl": row.details_url or run_page(store, row),
    }


def _status(row: Status) -> Json:
    return {
        "__typename": "StatusContext",
        "id": node_id("SC", row.id),
        "context": row.context,
        "state": row.state.upper(),
        "description": row.description,
        "targetUrl": row.target_url,
    }

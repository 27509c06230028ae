"""A repository's activity: who moved its branches. Pages go by cursor, and `page` is not looked at."""

from typing import Any
from urllib.parse import urlencode

from github.emulator.api.call import Answer, Call
from github.emulator.api.route import Route
from github.emulator.errors import unprocessable
from github.emulator.store.activities import Activity
from github.emulator.store.table import node_id
from github.emulator.views import users

KINDS = ("push", "force_push", "branch_creation", "branch_deletion", "pr_merge", "merge_queue_merge")


def listed(call: Call) -> Answer:
    """Newest first, by `ref`, `actor` and `activity_type`. Periods, older-first order and `before` it refuses."""
    for name in ("time_period", "before"):
        if name in call.query:
            raise unprocessable(f"The local GitHub does not know {name} here.")
    if call.query.get("direction", "desc") != "desc":
        raise unprocessable("The local GitHub lists activity newest first only.")
    kind, size = call.query.get("activity_type"), call.query.get("per_page", "30")
    if kind is not None and kind not in KINDS:
        raise unprocessable(f"{kind} is no activity type.")
    found = [row for row in call.store.activities if _is_asked_for(call, row)]
    found.sort(key=lambda row: row.id, reverse=True)
    count = min(max(int(size) if size.isdecimal() else 30, 1), 100)
    shown = found[:count]
    headers = {}
    if len(found) > count:
        path = f"/repositories/{call.repository.id}/activity"
        query = urlencode({**call.query, "after": str(shown[-1].id)})
        headers["link"] = f'<{call.store.origins.api}{path}?{query}>; rel="next"'
    return Answer(200, [_view(call, row) for row in shown], headers)


def _is_asked_for(call: Call, row: Activity) -> bool:
    query = call.query
    ref, after = query.get("ref"), query.get("after", "")
    return (
        row.repository is call.repository
        and (ref is None or row.ref in (ref, f"refs/heads/{ref}"))
        and query.get("actor", row.actor.login).lower() == row.actor.login.lower()
        and query.get("activity_type", row.kind) == row.kind
        and (not after.isdecimal() or row.id < int(after))
        and not call.lags("activity", row.id, row.at)
    )


def _view(call: Call, row: Activity) -> dict[str, Any]:
    return {
        "id": row.id,
        "node_id": node_id("PUSH", row.id),
        "before": row.before,
        "after": row.after,
        "ref": row.ref,
        "timestamp": row.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "activity_type": row.kind,
        "actor": users.simple(call.store, row.actor),
    }


ROUTES = [Route("GET", "/repos/{owner}/{repo}/activity", listed, "contents:read")]

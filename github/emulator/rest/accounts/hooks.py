"""The App's webhook and its log of deliveries."""

from typing import Any

from github.emulator.api.call import Answer, Call
from github.emulator.api.route import Route
from github.emulator.clock import iso
from github.emulator.errors import Refusal, not_found
from github.emulator.rest.accounts.apps import the_app
from github.emulator.store.deliveries import Delivery
from github.emulator.views import apps

DELIVERIES = "/app/hook/deliveries"
# older deliveries cannot be repeated; GitHub Enterprise Server keeps them longer
REDELIVERY_DAYS, ENTERPRISE_DAYS = 3, 7


def config(call: Call) -> Answer:
    return Answer(200, apps.hook_config(the_app(call).hook))


def configure(call: Call) -> Answer:
    hook = the_app(call).hook
    for key in ("url", "content_type", "secret"):
        if call.get(key) is not None:
            setattr(hook, key, str(call.get(key)))
    if call.get("insecure_ssl") is not None:
        hook.insecure_ssl = str(call.get("insecure_ssl"))
    return config(call)


def _item(row: Delivery) -> dict[str, Any]:
    return {
        "id": row.id,
        "guid": row.guid,
        "delivered_at": iso(row.delivered_at),
        "redelivery": row.redelivery,
        "duration": row.duration,
        "status": row.status,
        "status_code": row.status_code,
        "event": row.event,
        "action": row.action,
        "installation_id": row.installation_id,
        "repository_id": row.repository_id,
        "throttled_at": None,
    }


def deliveries(call: Call) -> Answer:
    """Newest first, walked with a cursor. What is still on its way is not in the log."""
    app = the_app(call)
    rows = [d for d in call.store.deliveries if d.app is app and d.status != "pending"]
    rows.sort(key=lambda row: row.id, reverse=True)
    wanted = call.query.get("status")
    if wanted in ("success", "failure"):
        rows = [row for row in rows if (row.status == "OK") == (wanted == "success")]
    if "cursor" in call.query:
        version, _, at = call.query["cursor"].partition("_")
        if version != "v1" or not at.isdigit():
            raise Refusal(400, "Invalid cursor")
        rows = [row for row in rows if row.id < int(at)]
    size = call.query.get("per_page", "30")
    count = min(max(int(size) if size.isdigit() else 30, 1), 100)
    headers = {}
    if len(rows) > count:
        url = f"{call.store.origins.api}{DELIVERIES}?per_page={count}&cursor=v1_{rows[count - 1].id}"
        headers["link"] = f'<{url}{"&status=" + wanted if wanted else ""}>; rel="next"'
    return Answer(200, [_item(row) for row in rows[:count]], headers)


def delivery(call: Call) -> Answer:
    row = _own(call)
    body = _item(row) | {
        "url": row.url,
        "request": {"headers": row.headers, "payload": row.payload},
        "response": {"headers": row.response_headers, "payload": row.response_body},
    }
    return Answer(200, body)


def redeliver(call: Call) -> Answer:
    row = _own(call)
    days = ENTERPRISE_DAYS if call.hub.options.enterprise else REDELIVERY_DAYS
    if (call.store.now() - row.delivered_at).days >= days:
        raise Refusal(422, "Delivery is too old to be redelivered.")
    call.hub.hooks.redeliver(row)
    return Answer(202, {})


def _own(call: Call) -> Delivery:
    row = call.store.deliveries.get(call.number("delivery_id"))
    if row is None or row.app is not the_app(call):
        raise not_found()
    return row


ROUTES = [
    Route("GET", "/app/hook/config", config, "app"),
    Route("PATCH", "/app/hook/config", configure, "app"),
    Route("GET", DELIVERIES, deliveries, "app"),
    Route("GET", f"{DELIVERIES}/{{delivery_id}}", delivery, "app"),
    Route("POST", f"{DELIVERIES}/{{delivery_id}}/attempts", redeliver, "app"),
]

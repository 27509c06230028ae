import json
from typing import Any

import httpx
from sqlalchemy import select

from app.surface import Surface
from github.signature import sign
from loops.tables import Delivery

SECRET = b"It's a Secret to Everybody"
COMMENT: dict[str, Any] = {
    "action": "created",
    "installation": {"id": 5},
    "repository": {"id": 7, "full_name": "o/r"},
    "comment": {"id": 1, "body": "@greenloop fix it", "user": None},
}


def headers(body: bytes, *, guid: str = "g-1", event: str = "issue_comment", **more: str) -> dict[str, str]:
    return {
        "x-github-event": event,
        "x-github-delivery": guid,
        "x-hub-signature-256": sign(SECRET, body),
        "content-type": "application/json",
        **more,
    }


async def deliver(http: httpx.AsyncClient, payload: Any, **about: Any) -> httpx.Response:
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return await http.post("/webhooks/github", content=body, headers=headers(body, **about))


async def stored(shared: Surface) -> list[Delivery]:
    async with shared.database.read() as tx:
        return list((await tx.execute(select(Delivery).order_by(Delivery.guid))).scalars())


async def test_an_acknowledged_delivery_is_in_the_database(http: httpx.AsyncClient, shared: Surface) -> None:
    answer = await deliver(http, COMMENT)
    assert (answer.status_code, answer.json()["decision"]) == (202, "stored")
    (row,) = await stored(shared)
    assert (row.guid, row.event, row.action, row.status, row.tries) == ("g-1", "issue_comment", "created", "new", 0)
    assert (row.installation_id, row.repository_id) == (5, 7)
    assert json.loads(row.body or b"") == COMMENT
    assert row.due_at == row.received_at

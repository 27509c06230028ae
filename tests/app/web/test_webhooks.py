import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from asgi_lifespan import LifespanManager
from sqlalchemy import select

from app.settings import Settings
from app.web.app import create_app
from app.web.state import AppState
from github.webhooks.signature import sign
from loops.store.background import end
from loops.store.bus import WORK, Bus
from loops.store.tables import Delivery
from tests.app.conftest import SECRET
from tests.databases import on_sqlite

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


async def stored(shared: AppState) -> list[Delivery]:
    async with shared.database.read() as tx:
        return list((await tx.execute(select(Delivery).order_by(Delivery.guid))).scalars())


async def test_an_acknowledged_delivery_is_in_the_database(http: httpx.AsyncClient, shared: AppState) -> None:
    answer = await deliver(http, COMMENT)
    assert (answer.status_code, answer.json()["decision"]) == (202, "stored")
    (row,) = await stored(shared)
    assert (row.guid, row.event, row.action, row.status, row.tries) == ("g-1", "issue_comment", "created", "new", 0)
    assert (row.installation_id, row.repository_id) == (5, 7)
    assert json.loads(row.body or b"") == COMMENT
    assert row.due_at == row.received_at


async def test_a_repeated_delivery_is_stored_once(http: httpx.AsyncClient, shared: AppState) -> None:
    for _ in range(3):
        assert (await deliver(http, COMMENT)).status_code == 202
    assert len(await stored(shared)) == 1


async def test_hundreds_of_deliveries_at_once_with_repetitions_are_each_stored_once(
    http: httpx.AsyncClient, shared: AppState
) -> None:
    guids = [f"g-{n % 400}" for n in range(500)]
    answers = await asyncio.gather(*(deliver(http, COMMENT, guid=guid) for guid in guids))
    assert {answer.status_code for answer in answers} == {202}
    assert sorted(row.guid for row in await stored(shared)) == sorted(set(guids))


@on_sqlite
@pytest.mark.parametrize(
    "signature",
    [None, "", "sha256=", "sha256=" + "0" * 64, "sha1=" + "0" * 40, "sha256=é", sign(SECRET, b"another body")],
)
async def test_a_missing_or_wrong_signature_is_refused_before_anything_is_read(
    http: httpx.AsyncClient, shared: AppState, signature: str | None
) -> None:
    sent = {b"x-github-event": b"issue_comment", b"x-github-delivery": b"g-1"}
    if signature is not None:
        sent[b"x-hub-signature-256"] = signature.encode("latin-1")
    answer = await http.post("/webhooks/github", content=b"{no json", headers=sent)
    assert answer.status_code == 401
    assert "X-Hub-Signature-256" in answer.json()["error"]
    assert await stored(shared) == []


@on_sqlite
async def test_every_secret_of_a_rotation_is_accepted(settings: Settings) -> None:
    rotating = settings.model_copy(
        update={"webhook_secrets": type(settings.webhook_secrets)(f"new\n{SECRET.decode()}\n")}
    )
    app = create_app(rotating)
    async with (
        LifespanManager(app, startup_timeout=60, shutdown_timeout=60),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x") as http,
    ):
        body = json.dumps(COMMENT).encode()
        for n, secret in enumerate((b"new", SECRET)):
            sent = headers(body, guid=f"g-{n}") | {"x-hub-signature-256": sign(secret, body)}
            assert (await http.post("/webhooks/github", content=body, headers=sent)).status_code == 202


@on_sqlite
@pytest.mark.parametrize("secrets", ["", "  \n \n"])
async def test_the_service_does_not_start_without_a_webhook_secret(settings: Settings, secrets: str) -> None:
    bare = settings.model_copy(update={"webhook_secrets": type(settings.webhook_secrets)(secrets)})
    with pytest.raises(ValueError, match="GREENLOOP_WEBHOOK_SECRETS"):
        create_app(bare)


@on_sqlite
@pytest.mark.parametrize("name", ["x-github-event", "x-github-delivery"])
@pytest.mark.parametrize("value", [None, "", "a" * 101, "with blank", "nul\x00"])
async def test_a_delivery_without_its_headers_is_a_bad_request(
    http: httpx.AsyncClient, shared: AppState, name: str, value: str | None
) -> None:
    body = json.dumps(COMMENT).encode()
    sent = headers(body)
    del sent[name]
    if value is not None:
        sent[name] = value
    answer = await http.post("/webhooks/github", content=body, headers=sent)
    assert answer.status_code == 400
    assert name in answer.json()["error"]
    assert await stored(shared) == []


@on_sqlite
@pytest.mark.parametrize("body", [b"", b"{", b"no json", b"[]", b'"text"', b"null", b"\xff\xfe", b"[" * 200_000])
async def test_a_signed_body_that_is_no_json_object_is_told_so(
    http: httpx.AsyncClient, shared: AppState, body: bytes
) -> None:
    answer = await deliver(http, body)
    assert answer.status_code == 400
    assert "signed, but" in answer.json()["error"]
    assert await stored(shared) == []


@pytest.mark.parametrize(
    "payload",
    [
        {"action": "created"},
        {"action": "created", "installation": None, "repository": None, "comment": None},
        {"action": "created", "installation": "odd", "repository": [1]},
        {"action": "created", "installation": {"id": None}, "repository": {"id": "7"}},
        {"action": "created", "installation": {"id": 10**40}, "repository": {"id": -1}},
        {"action": "created", "repository": {"id": True}, "comment": {"body": "\x00"}},
        b'{"action": "created", "comment": {"body": "\\ud800"}}',
        b'{"action": "created", "comment": {"body": "\xff"}}',
    ],
)
async def test_nulls_and_odd_values_are_stored_as_they_came(
    http: httpx.AsyncClient, shared: AppState, payload: Any
) -> None:
    assert (await deliver(http, payload)).status_code == 202
    (row,) = await stored(shared)
    assert (row.action, row.installation_id, row.repository_id) == ("created", None, None)
    assert row.body == (payload if isinstance(payload, bytes) else json.dumps(payload).encode())


@on_sqlite
@pytest.mark.parametrize(
    ("event", "action"),
    [("ping", None), ("star", "created"), ("check_run", "created"), ("issue_comment", None), ("issues", "\x00")],
)
async def test_what_no_rule_could_want_is_answered_and_not_stored(
    http: httpx.AsyncClient, shared: AppState, event: str, action: str | None
) -> None:
    answer = await deliver(http, {"action": action, "repository": {"id": 7}}, event=event)
    assert (answer.status_code, answer.json()["decision"]) == (200, "ignored")
    assert event in answer.json()["reason"]
    assert await stored(shared) == []


async def test_a_form_encoded_delivery_is_stored_as_its_json(http: httpx.AsyncClient, shared: AppState) -> None:
    body = urlencode({"payload": json.dumps(COMMENT)}).encode()
    sent = headers(body, **{"content-type": "application/x-www-form-urlencoded"})
    assert (await http.post("/webhooks/github", content=body, headers=sent)).status_code == 202
    (row,) = await stored(shared)
    assert json.loads(row.body or b"") == COMMENT


@on_sqlite
async def test_a_form_without_a_payload_is_told_so(http: httpx.AsyncClient) -> None:
    body = b"a=1&b=2"
    sent = headers(body, **{"content-type": "application/x-www-form-urlencoded"})
    answer = await http.post("/webhooks/github", content=body, headers=sent)
    assert (answer.status_code, "payload" in answer.json()["error"]) == (400, True)


@on_sqlite
async def test_a_body_over_the_cap_is_refused_also_when_its_length_is_not_declared(settings: Settings) -> None:
    small = settings.model_copy(update={"body_limit": 100_000})
    app = create_app(small)

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b"x" * 10_000

    async with (
        LifespanManager(app, startup_timeout=60, shutdown_timeout=60),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x") as http,
    ):
        declared = await http.post("/webhooks/github", content=b"x" * 100_001)
        undeclared = await http.post("/webhooks/github", content=pieces())
        lying = await http.post("/webhooks/github", content=pieces(), headers={"content-length": "5"})
        odd = await http.post("/webhooks/github", content=b"x", headers={"content-length": "9" * 30})
    assert [answer.status_code for answer in (declared, undeclared, lying, odd)] == [413] * 4


async def test_a_large_body_within_the_cap_is_stored(http: httpx.AsyncClient, shared: AppState) -> None:
    assert (await deliver(http, {**COMMENT, "padding": "x" * 3_000_000})).status_code == 202
    (row,) = await stored(shared)
    assert len(row.body or b"") > 3_000_000


async def test_a_full_inbox_and_a_failing_database_are_never_a_success(
    http: httpx.AsyncClient, shared: AppState, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_space(group: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shared.inbox._arrivals, "store", no_space)
    failing = await deliver(http, COMMENT)
    monkeypatch.undo()
    monkeypatch.setattr(shared.inbox, "_limit", 0)
    full = await deliver(http, COMMENT)
    monkeypatch.undo()
    assert (failing.status_code, full.status_code) == (503, 503)
    assert await stored(shared) == []
    assert (await deliver(http, COMMENT)).status_code == 202


async def test_the_inbox_recovers_when_the_database_was_away(tmp_path: Path, sqlite_url: str, redis_url: str) -> None:
    settings = Settings(data=tmp_path, database_url=sqlite_url, redis_url=redis_url, webhook_secrets=SECRET.decode())
    app = create_app(settings)
    file = tmp_path / "greenloop.db"
    hidden = tmp_path / "hidden.db"
    async with (
        LifespanManager(app, startup_timeout=60, shutdown_timeout=60),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x") as http,
    ):
        file.rename(hidden)
        away = await deliver(http, COMMENT)
        file.unlink(missing_ok=True)
        hidden.rename(file)
        back = await deliver(http, COMMENT)
    assert (away.status_code, back.status_code) == (503, 202)


async def test_a_dead_redis_delays_and_loses_nothing(settings: Settings) -> None:
    app = create_app(settings, redis_url="redis://127.0.0.1:1/0")
    async with (
        LifespanManager(app, startup_timeout=60, shutdown_timeout=60),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x") as http,
    ):
        assert (await deliver(http, COMMENT)).status_code == 202
        assert len(await stored(app.state.shared)) == 1
        ready = await http.get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (200, "degraded")


async def test_a_stored_delivery_is_told_to_workers(http: httpx.AsyncClient, redis_url: str) -> None:
    worker = Bus(redis_url)
    answering = asyncio.create_task(worker.answer())
    with worker.listening(WORK) as rung:
        await deliver(http, COMMENT, guid=uuid.uuid4().hex)
        async with asyncio.timeout(60):
            await rung.wait()
    await end(answering)
    await worker.close()

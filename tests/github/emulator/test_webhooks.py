"""Webhooks arrive signed and whole, are written down, and can be repeated, lost, doubled and mixed up."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from tests.github.emulator.house import REPO, House, app_jwt


class Receiver:
    """Writes down what it is sent; answers `status`."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.status = 202
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.got.append(({k.lower(): v for k, v in self.headers.items()}, body))
                self.send_response(outer.status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hooks"
        Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def titles(self) -> list[str]:
        return [
            json.loads(body)["issue"]["title"] for headers, body in self.got if headers["x-github-event"] == "issues"
        ]


@pytest.fixture
async def receiver(house: House) -> AsyncIterator[Receiver]:
    made = Receiver()
    house.local.set_webhook(made.url, "s3cret")
    yield made
    await asyncio.to_thread(made.server.shutdown)
    made.server.server_close()


async def open_issue(house: House, title: str) -> None:
    assert (await house.ask("POST", f"{REPO}/issues", house.bob, json={"title": title})).status_code == 201
    await house.local.idle()


async def test_a_delivery_is_signed_and_has_every_header(house: House, receiver: Receiver) -> None:
    await open_issue(house, "žluť")
    headers, body = receiver.got[-1]
    assert headers["x-hub-signature-256"] == "sha256=" + hmac.new(b"s3cret", body, hashlib.sha256).hexdigest()
    assert headers["x-hub-signature"] == "sha1=" + hmac.new(b"s3cret", body, hashlib.sha1).hexdigest()
    assert headers["x-github-event"] == "issues" and headers["user-agent"].startswith("GitHub-Hookshot/")
    assert headers["x-github-hook-installation-target-type"] == "integration"
    assert headers["x-github-hook-installation-target-id"] == str(house.local.app.id)
    assert {"x-github-delivery", "x-github-hook-id"} <= set(headers) and headers["content-type"] == "application/json"
    payload = json.loads(body)
    assert payload["installation"]["id"] == house.installation.id and payload["organization"]["login"] == "acme"


async def test_a_failed_delivery_is_in_the_log_and_is_repeated_with_its_guid(house: House, receiver: Receiver) -> None:
    receiver.status = 500
    await open_issue(house, "t")
    token = app_jwt(house.local)
    failed: list[dict[str, Any]] = (await house.ask("GET", "/app/hook/deliveries?status=failure", token)).json()
    assert [(row["event"], row["status_code"]) for row in failed] == [("issues", 500)]
    whole = (await house.ask("GET", f"/app/hook/deliveries/{failed[0]['id']}", token)).json()
    assert whole["request"]["payload"]["issue"]["title"] == "t"
    receiver.status = 202
    again = await house.ask("POST", f"/app/hook/deliveries/{failed[0]['id']}/attempts", token)
    assert again.status_code == 202
    await house.local.idle()
    assert [headers["x-github-delivery"] for headers, _ in receiver.got] == [failed[0]["guid"]] * 2
    newest = (await house.ask("GET", "/app/hook/deliveries?per_page=1", token)).json()[0]
    assert (newest["guid"], newest["redelivery"], newest["status"]) == (failed[0]["guid"], True, "OK")
    house.local.hub.clock.advance(3 * 86_400)
    late = await house.ask("POST", f"/app/hook/deliveries/{failed[0]['id']}/attempts", app_jwt(house.local))
    assert late.status_code == 422


async def test_the_log_is_walked_with_a_cursor(house: House, receiver: Receiver) -> None:
    for number in range(3):
        await open_issue(house, str(number))
    seen, path = [], "/app/hook/deliveries?per_page=2"
    while path:
        answer = await house.ask("GET", path, app_jwt(house.local))
        seen += [row["id"] for row in answer.json()]
        path = answer.links.get("next", {}).get("url", "")
    assert len(seen) == 3 and seen == sorted(seen, reverse=True)


async def test_faults_drop_double_and_mix_up_what_they_name(house: House, receiver: Receiver) -> None:
    house.local.add_fault("drop", event="issues.opened", times=1)
    await open_issue(house, "lost")
    house.local.add_fault("duplicate", event="issues", times=1)
    await open_issue(house, "twice")
    assert receiver.titles() == ["twice", "twice"]
    assert len({headers["x-github-delivery"] for headers, _ in receiver.got}) == 1
    house.local.add_fault("reorder", event="issues", times=1)
    await house.ask("POST", f"{REPO}/issues", house.bob, json={"title": "first"})
    await open_issue(house, "second")
    assert receiver.titles()[2:] == ["second", "first"]


async def test_only_what_an_installation_may_read_and_wants_is_sent(house: House, receiver: Receiver) -> None:
    house.installation.permissions.pop("issues")
    await open_issue(house, "not allowed to know")
    house.installation.permissions["issues"] = "read"
    house.installation.events.remove("issues")
    await open_issue(house, "not wanted")
    assert receiver.got == []


async def test_a_form_hook_signs_the_raw_form(house: House, receiver: Receiver) -> None:
    body = {"content_type": "form"}
    assert (await house.ask("PATCH", "/app/hook/config", app_jwt(house.local), json=body)).status_code == 200
    await open_issue(house, "t")
    headers, raw = receiver.got[-1]
    assert headers["content-type"] == "application/x-www-form-urlencoded" and raw.startswith(b"payload=%7B")
    assert headers["x-hub-signature-256"] == "sha256=" + hmac.new(b"s3cret", raw, hashlib.sha256).hexdigest()

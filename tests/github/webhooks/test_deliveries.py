import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from github.client.app import GitHubApp
from github.emulator.local import LocalGitHub
from github.webhooks.deliveries import MOST_TRIES, LoggedDelivery, missed, payload, redeliver, walk
from tests.github.conftest import Spot, TestClock


def delivery(
    id: int, guid: str, at: float = 0.0, event: str = "issue_comment", action: str | None = "created"
) -> LoggedDelivery:
    return LoggedDelivery(id, guid, event, action, at, False, "timed out", 0, False, 5, 7)


def test_one_delivery_of_each_event_that_never_arrived_is_missed() -> None:
    found = missed(
        [
            delivery(4, "a", 40),
            delivery(1, "a", 10),
            delivery(2, "b", 20),
            delivery(3, "c", 30, "star"),
            delivery(5, "d", 50, "check_run", "created"),
        ],
        seen={"b"},
    )
    assert [each.id for each in found] == [4]


def test_what_was_delivered_in_vain_again_and_again_is_given_up() -> None:
    tries = [delivery(number, "a", number) for number in range(MOST_TRIES)]
    assert missed(tries, seen=set()) == []
    assert missed(tries[1:], seen=set()) == tries[-1:]


@pytest.fixture
def receiver(local: LocalGitHub) -> Iterator[dict[str, Any]]:
    """A receiver whose answer a test sets; it keeps the GUIDs it got."""
    state: dict[str, Any] = {"status": 500, "guids": []}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            state["guids"].append(self.headers["x-github-delivery"])
            self.send_response(state["status"])
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    local.set_webhook(f"http://127.0.0.1:{server.server_port}/", "secret")
    yield state
    local.set_webhook("")
    server.shutdown()
    thread.join()
    server.server_close()


async def test_a_failed_delivery_is_found_and_comes_again_under_its_guid(
    spot: Spot, app: GitHubApp, receiver: dict[str, Any]
) -> None:
    clock = app.clock
    assert isinstance(clock, TestClock)
    clock.advance(10)
    started = clock.now() - 1
    number = await spot.issue(title="@greenloop fix")
    await spot.local.idle()
    clock.advance(120)
    found = missed([each async for each in walk(app, since=started)], seen=set())
    assert [(each.event, each.action) for each in found] == [("issues", "opened")]
    assert (found[0].ok, found[0].status_code, found[0].repository_id) == (False, 500, spot.row.id)
    headers, body = await payload(app, found[0])
    assert body["issue"]["number"] == number
    assert json.dumps(dict(headers))
    receiver["status"] = 202
    assert await redeliver(app, found[0])
    await spot.local.idle()
    assert receiver["guids"] == [found[0].guid] * 2
    assert missed([each async for each in walk(app, since=started)], seen=set(receiver["guids"])) == []


async def test_what_the_log_has_forgotten_cannot_come_again(
    spot: Spot, app: GitHubApp, receiver: dict[str, Any]
) -> None:
    clock = app.clock
    assert isinstance(clock, TestClock)
    clock.advance(10)
    started = clock.now() - 1
    await spot.issue()
    await spot.local.idle()
    (found,) = [each async for each in walk(app, since=started)]
    clock.advance(4 * 24 * 3600)
    assert not await redeliver(app, found)

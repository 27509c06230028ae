"""GitHub's own example payloads, and spoilt ones, through the whole service."""

import json
import logging
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from sqlalchemy import select

from github.webhooks.events import WANTED
from github.webhooks.signature import sign
from loops.store.tables import Delivery
from tests.e2e.house import House, house
from tests.github.payloads import examples


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Hundreds of refusals are expected here; telling of each takes longer than all the rest."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield
    structlog.reset_defaults()


async def send(home: House, event: str, body: bytes, content_type: str = "application/json") -> int:
    headers = {
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": str(uuid.uuid4()),
        "X-Hub-Signature-256": sign(home.local.app.hook.secret.encode(), body),
        "Content-Type": content_type,
    }
    url = f"{home.settings.public_url}/webhooks/github"
    return (await home.http("alice").post(url, content=body, headers=headers)).status_code


async def decided(home: House, count: int) -> list[Delivery]:
    """All deliveries, once `count` are decided."""

    async def look() -> list[Delivery] | None:
        async with home.database.read() as tx:
            found = list((await tx.execute(select(Delivery).where(Delivery.status == "done"))).scalars())
        return found if len(found) >= count else None

    return await home.until(look, 120)


async def test_every_example_of_github_is_taken_and_gets_a_recorded_decision(tmp_path: Path) -> None:
    async with house(tmp_path, run=None) as home:
        await decided(home, 1)
        answers = Counter([await send(home, event, body) for event, body in examples()])
        assert set(answers) == {200, 202} and answers.total() == 329
        found = await decided(home, 1 + answers[202])
        assert len(found) == 1 + answers[202]
        assert all(each.decision and each.reason for each in found)
        assert {each.decision for each in found} <= {"ignored", "noted", "refused", "failed"}
        failed = [each for each in found if each.decision == "failed"]
        assert all("NotFound" in (each.reason or "") for each in failed), [each.reason for each in failed]
        assert await home.sessions() == []


def spoilt() -> Iterator[tuple[str, bytes]]:
    """One example of each wanted event with each of its fields replaced by something that GitHub never sends."""
    for event in sorted(WANTED):
        payload = json.loads(next(body for name, body in examples() if name == event))
        payload.pop("installation", None)
        for key in payload:
            for odd in (None, "text", [None], {"id": "x", "login": 3}):
                if key == "action" and odd is not None:
                    continue
                yield event, json.dumps({**payload, key: odd, "another": odd}).encode()


async def test_spoilt_payloads_are_answered_and_decided_and_none_is_an_error(tmp_path: Path) -> None:
    async with house(tmp_path, run=None) as home:
        await decided(home, 1)
        answers = Counter([await send(home, event, body) for event, body in spoilt()])
        assert set(answers) <= {200, 202} and answers[202] > 150
        found = await decided(home, 1 + answers[202])
        assert {each.decision for each in found} <= {"ignored", "noted", "refused", "unreadable"}
        assert any(each.decision == "unreadable" and "$." in (each.reason or "") for each in found)
        for body in (b"", b"{", b"[1]", b"payload=%7B", b"no=payload", b"\xff"):
            for content_type in ("application/json", "text/plain", "application/x-www-form-urlencoded", ""):
                assert await send(home, "issues", body, content_type) == 400
        assert await home.sessions() == []

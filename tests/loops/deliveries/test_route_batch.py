"""Many deliveries at once, through the workers' door: bodies as GitHub sends them, claimed, on both databases."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest
from sqlalchemy import select, update
from sqlalchemy.exc import OperationalError

from github.webhooks.identity import Me
from github.webhooks.outcomes import Repo
from loops.context import Loop
from loops.conversations.asking import take
from loops.deliveries import route_batch as routing
from loops.deliveries.poison import LARGE
from loops.deliveries.route_batch import route_batch
from loops.sessions.known_accounts import remember_repository
from loops.sessions.reasons import Reason
from loops.store.arrivals import Arrival, arrivals
from loops.store.bus import WORK, Bus
from loops.store.claims import Claims
from loops.store.database import Database
from loops.store.leases import Leases
from loops.store.states import Lane, SessionStatus
from loops.store.tables import Delivery, Repository, Session
from tests.databases import on_sqlite
from tests.loops.asks import mention, topic

NOW = 1000.0
SHA, OTHER = "a" * 40, "b" * 40
REPO = Repo(id=7, full_name="acme/widgets", installation_id=3, default_branch="main")
COMMON: Mapping[str, Any] = {
    "installation": {"id": 3},
    "repository": {"id": 7, "full_name": "acme/widgets", "default_branch": "main"},
    "sender": {"id": 1, "login": "ann", "type": "User"},
}


@pytest.fixture
async def loop(database: Database) -> AsyncIterator[Loop]:
    made = SimpleNamespace(
        database=database,
        leases=Leases(database, "worker", 10, lambda: NOW),
        bus=Bus("redis://127.0.0.1:1"),
        me=Me(app_id=1, slug="greenloop", bot_id=9),
        clock=lambda: NOW,
    )
    yield cast(Loop, made)
    await made.bus.close()


def status(sha: str = SHA, state: str = "success") -> tuple[str, dict[str, Any]]:
    return "status", {**COMMON, "sha": sha, "state": state, "branches": [{"name": "topic"}]}


def push(branch: str = "topic", name: str = "acme/widgets") -> tuple[str, dict[str, Any]]:
    repository = {**COMMON["repository"], "full_name": name}
    return "push", {**COMMON, "repository": repository, "ref": f"refs/heads/{branch}", "before": SHA, "after": OTHER}


def comment(words: str) -> tuple[str, dict[str, Any]]:
    issue = {"id": 1, "number": 5, "title": "Fix the login", "user": {"id": 1, "login": "ann"}}
    about = {"id": 11, "body": words, "user": {"id": 1, "login": "ann", "type": "User"}}
    return "issue_comment", {**COMMON, "action": "created", "issue": issue, "comment": about}


async def routed(loop: Loop, *payloads: tuple[str, Any]) -> dict[str, Delivery]:
    """What became of deliveries that arrived one after the other; by `g-0`, `g-1`, …"""
    inbox = arrivals(loop.database)
    made = [
        Arrival(f"g-{n}", event, body.get("action"), 3, 7, json.dumps(body).encode(), NOW - 100 + n)
        for n, (event, body) in enumerate(payloads)
    ]
    await inbox.store(made)
    await inbox.close()
    claims = Claims(loop.leases, Lane.PEOPLE, Lane.NEWS, Lane.HINTS)
    while claimed := await claims.claim(50, lambda _: 50):
        await route_batch(loop, [each.key for each in claimed])
    async with loop.database.read() as tx:
        return {each.guid: each for each in (await tx.execute(select(Delivery).order_by(Delivery.guid))).scalars()}


async def session(loop: Loop, **values: Any) -> int:
    async with loop.database.write() as tx:
        await remember_repository(tx, REPO, NOW)
        made, _ = await take(tx, topic(), mention(), owner=1, cap=3, now=NOW)
        values = {"head_sha": SHA, "branch": "topic", "status": SessionStatus.WAITING, "due_at": NOW + 600, **values}
        await tx.execute(update(Session).where(Session.id == made.id).values(values))
        return made.id


async def test_hints_of_a_watched_commit_wake_its_session_once_and_the_others_end(loop: Loop) -> None:
    watching = await session(loop)
    with loop.bus.listening(WORK) as rung:
        found = await routed(loop, status(), status(state="failure"), status(OTHER), status(OTHER, "pending"))
        assert rung.is_set()
    decided = [(each.status, each.decision, each.session_id) for each in found.values()]
    assert decided == [("done", "hint", watching)] * 2 + [("done", "ignored", None)] * 2
    assert {(each.lease_until, each.lease_by, each.due_at, each.begun) for each in found.values()} == {
        (None,) * 3 + (0,)
    }
    async with loop.database.read() as tx:
        woken = await tx.get_one(Session, watching)
    assert woken.hint_at == NOW
    assert woken.due_at is not None and woken.due_at <= NOW + 1


async def test_a_hint_brings_nobody_to_look_later_than_they_would_have(loop: Loop) -> None:
    watching = await session(loop, due_at=NOW)
    await routed(loop, status())
    async with loop.database.read() as tx:
        assert (await tx.get_one(Session, watching)).due_at == NOW


async def test_of_the_red_hints_of_a_commit_one_is_looked_at_also_from_one_batch_to_the_next(loop: Loop) -> None:
    first = await routed(loop, status(state="failure"), status(state="error"))
    assert [(each.status, each.lane) for each in first.values()] == [("new", Lane.LOOK), ("done", Lane.HINTS)]
    async with loop.database.write() as tx:
        await tx.execute(update(Delivery).where(Delivery.status == "done").values(guid="earlier"))
        await tx.execute(update(Delivery).where(Delivery.status == "new").values(guid="looks"))
    second = await routed(loop, status(state="failure"))
    assert (second["g-0"].decision, second["looks"].status) == ("ignored", "new")
    await Claims(loop.leases, Lane.LOOK).claim(1, lambda _: 1)
    async with loop.database.write() as tx:
        await tx.execute(update(Delivery).where(Delivery.guid == "g-0").values(guid="second"))
    third = await routed(loop, status(state="failure"))
    assert third["g-0"].lane == Lane.LOOK, "the look under way may have asked before this one came"


@pytest.mark.parametrize(
    ("ended", "lane"),
    [
        ({"outcome": "no_checks"}, Lane.LOOK),
        ({"status": SessionStatus.FAILED, "reason": Reason.CHECKS_NEVER_SETTLED}, Lane.LOOK),
        ({"status": SessionStatus.FAILED, "reason": Reason.CHECKS_UNAPPROVED}, Lane.LOOK),
        ({"outcome": "green"}, Lane.HINTS),
        ({"status": SessionStatus.FAILED, "reason": Reason.CAP_REACHED}, Lane.HINTS),
    ],
)
async def test_a_green_check_after_the_end_is_looked_at_where_the_session_had_none_or_waited_in_vain(
    loop: Loop, ended: dict[str, Any], lane: Lane
) -> None:
    await session(loop, **{"status": SessionStatus.COMPLETED, "due_at": None, **ended})
    assert (await routed(loop, status()))["g-0"].lane == lane


async def test_a_push_that_concerns_nobody_writes_its_repository_where_the_name_is_new(loop: Loop) -> None:
    await session(loop, branch="other")
    found = await routed(loop, push(), push(name="acme/gadgets"))
    assert {each.decision for each in found.values()} == {"noted"}
    async with loop.database.read() as tx:
        assert (await tx.get_one(Repository, 7)).full_name == "acme/gadgets"


async def test_what_a_session_or_a_person_waits_for_becomes_due_in_a_lane_of_its_own(loop: Loop) -> None:
    await session(loop)
    found = await routed(loop, push(), comment("@greenloop help"), comment("thank you"))
    lanes = [(each.status, each.lane, each.due_at, each.lease_until) for each in found.values()]
    assert lanes[:2] == [("new", Lane.CHANGE, NOW, None), ("new", Lane.REQUEST, NOW, None)]
    assert found["g-2"].decision == "ignored"


@on_sqlite
async def test_a_large_one_is_not_read_beside_others_and_one_that_is_no_json_holds_up_none(loop: Loop) -> None:
    found = await routed(loop, comment("x" * LARGE), ("status", {"sha": 5}), status())
    assert [(each.status, each.decision) for each in found.values()] == [
        ("new", None),
        ("done", "unreadable"),
        ("done", "ignored"),
    ]


@on_sqlite
async def test_where_a_batch_fails_each_of_it_is_handled_alone(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routing, "triage", lambda *_: 1 / 0)
    found = await routed(loop, status(), status(OTHER))
    assert [(each.lane, each.lease_by, each.begun) for each in found.values()] == [(Lane.CHANGE, None, 0)] * 2


@on_sqlite
@pytest.mark.parametrize("error", [OperationalError("", {}, OSError()), asyncio.CancelledError()])
async def test_in_an_outage_and_at_the_worker_s_end_all_of_a_batch_is_due_again(
    loop: Loop, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def fails(*_: Any) -> None:
        raise error

    monkeypatch.setattr(routing, "triage", fails)
    with pytest.raises(type(error)):
        await routed(loop, status())
    async with loop.database.read() as tx:
        row = await tx.get_one(Delivery, "g-0")
    assert (row.lane, row.due_at, row.lease_by, row.begun) == (Lane.HINTS, NOW, None, 0)


@on_sqlite
async def test_a_batch_whose_lease_went_to_another_worker_writes_nothing_over_it(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = routing._known

    async def stolen(tx: Any, read: Any) -> Any:
        await tx.execute(update(Delivery).values(lease_by="another"))
        return await known(tx, read)

    monkeypatch.setattr(routing, "_known", stolen)
    found = await routed(loop, status(), comment("@greenloop help"))
    assert [(each.status, each.lease_by) for each in found.values()] == [("new", "another")] * 2

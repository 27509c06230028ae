"""One installation cannot take more than its share of the inbox and the workers, on either database."""

import asyncio
import time
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from loops.context import Loop
from loops.engine import parts
from loops.engine.parts import Inbox, Steps
from loops.store.arrivals import Arrival, arrivals
from loops.store.begun import begun
from loops.store.database import Database
from loops.store.leases import Leases
from loops.store.states import Lane
from loops.store.tables import Delivery

LOUD, QUIET = 1, 2


@pytest.fixture
async def loop(database: Database) -> AsyncIterator[Loop]:
    yield cast(Loop, SimpleNamespace(database=database, leases=Leases(database, "worker", 10), clock=time.time))


async def stored(loop: Loop, installation: int, event: str, count: int) -> None:
    inbox = arrivals(loop.database)
    action = "created" if event == "issue_comment" else None
    at = time.time() - 100
    await inbox.store(
        [Arrival(f"{event}-{installation}-{n}", event, action, installation, 7, b"{}", at) for n in range(count)]
    )
    await inbox.close()


async def test_what_a_loud_installation_sends_waits_behind_people_and_takes_turns_with_a_quiet_one(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[list[str]] = []

    async def noted(_: Loop, guids: list[str]) -> None:
        batches.append(guids)

    monkeypatch.setattr(parts, "route_batch", noted)
    await stored(loop, LOUD, "status", 700)
    await stored(loop, QUIET, "push", 3)
    await stored(loop, LOUD, "issue_comment", 1)
    inbox = Inbox(loop, asyncio.Event())
    for _ in range(2):
        await inbox.round()
    assert batches[0] == ["issue_comment-1-0"]
    assert {guid for guid in batches[1] if not guid.startswith("status")} == {"push-2-0", "push-2-1", "push-2-2"}


async def test_steps_that_last_leave_places_in_the_worker_to_other_installations(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    over = asyncio.Event()

    async def lasting(_: Loop, guid: str, *, claimed: bool) -> None:
        started.append(guid)
        await over.wait()

    monkeypatch.setattr(parts, "route", lasting)
    rung = asyncio.Event()
    steps = Steps(loop, rung, 4, Lane.PEOPLE)
    await stored(loop, LOUD, "issue_comment", 30)
    await steps.round()
    await stored(loop, QUIET, "issue_comment", 30)
    for _ in range(2):
        rung.set()
        await steps.round()
    assert [guid.split("-")[1] for guid in started] == ["1", "1", "1", "2"]
    over.set()
    await steps.drain(10)
    assert rung.is_set(), "whoever waits for a place is told"


async def test_a_step_that_does_not_end_is_cut_off_and_its_row_is_due_again(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "route", _endless)
    await stored(loop, LOUD, "issue_comment", 1)
    steps = Steps(loop, asyncio.Event(), 1, Lane.PEOPLE)
    await steps.round()
    await steps.drain(0)
    async with loop.database.read() as tx:
        row = await tx.get_one(Delivery, "issue_comment-1-0")
    assert (row.status, row.begun, row.lease_by) == ("new", 0, None)
    assert row.due_at is not None


async def _endless(loop: Any, guid: str, *, claimed: bool) -> None:
    async with begun(loop.leases, asyncio.Lock(), Delivery, guid, claimed=claimed):
        await asyncio.Event().wait()

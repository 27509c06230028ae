from typing import Any

import pytest
from sqlalchemy import select

from github.webhooks.outcomes import Actor, Repo
from loops import operations
from loops.operations import Invalid, Listing, StartRequest, Unknown
from loops.sessions.ask import TurnOptions
from loops.sessions.ask_columns import ask_of
from loops.sessions.known_accounts import remember_installation, remember_person, remember_repository
from loops.store import journal
from loops.store.database import Database
from loops.store.states import SessionStatus
from loops.store.tables import Audit, Repository, Session, Turn
from tests.databases import on_sqlite

WISH = StartRequest("acme/widgets", "fix the login\nand test it", person="Ann")


@pytest.fixture
async def known(database: Database) -> Database:
    """Two tenants with a repository each, and a person."""
    async with database.write() as tx:
        for tenant, repository, name in ((3, 7, "acme/widgets"), (4, 8, "other/things")):
            await remember_installation(tx, tenant, Actor(tenant * 10, name.split("/")[0]), 1000)
            await remember_repository(tx, Repo(repository, name, tenant, "main"), 1000)
        await remember_person(tx, Actor(1, "ann"), 1000)
    return database


async def started(database: Database, wish: StartRequest = WISH, tenant: int = 3) -> operations.Started:
    async with database.write() as tx:
        return await operations.start(tx, tenant, wish, surface="cli", cap=3, now=1000)


async def test_a_started_session_waits_for_a_worker_with_one_turn_and_an_audit_line(known: Database) -> None:
    done = await started(known, StartRequest(7, "fix the login", base="stable", max_steps=9, person="@ann"))
    async with known.read() as tx:
        row = await tx.get_one(Session, done.row)
        turn = (await tx.execute(select(Turn).where(Turn.session_id == done.row))).scalar_one()
        audit = (await tx.execute(select(Audit))).scalar_one()
        found = await operations.get(tx, 3, done.session)
    assert (row.owner_id, row.surface, ask_of(turn).options, row.due_at is not None) == (
        1,
        "cli",
        TurnOptions(base="stable", steps=9),
        True,
    )
    assert (turn.kind, turn.status, turn.requested_by, turn.context["instruction"]) == (
        "issue",
        "queued",
        1,
        "fix the login",
    )
    assert (audit.actor, audit.surface, audit.action, audit.installation_id) == ("ann", "cli", "started", 3)
    assert (found.status, found.instruction, found.person, found.base_branch) == (
        "pending",
        "fix the login",
        "ann",
        "stable",
    )
    assert [event.seq for event in found.events] == [1]


@on_sqlite
@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("instruction", {"instruction": " \n"}),
        ("instruction", {"instruction": "x" * 20_001}),
        ("max_steps", {"max_steps": 0}),
        ("max_steps", {"max_steps": 201}),
        ("base", {"base": "a..b"}),
        ("base", {"base": ""}),
    ],
)
async def test_what_cannot_be_started_is_named(known: Database, field: str, change: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as error:
        await started(known, StartRequest(**{"repository": 7, "instruction": "x", **change}))
    assert error.value.field == field


@on_sqlite
async def test_repositories_and_people_have_to_be_known_and_repositories_usable(known: Database) -> None:
    for wish in (
        StartRequest("acme/nothing", "x"),
        StartRequest(9, "x"),
        StartRequest("acme/widgets", "x", person="bob"),
    ):
        with pytest.raises(Unknown):
            await started(known, wish)
    async with known.write() as tx:
        (await tx.get_one(Repository, 7)).archived = True
    with pytest.raises(Invalid, match="archived"):
        await started(known)


@on_sqlite
async def test_two_sessions_without_an_issue_do_not_join(known: Database) -> None:
    assert (await started(known)).session != (await started(known)).session


async def test_a_tenant_sees_and_cancels_only_its_own(known: Database) -> None:
    done = await started(known)
    async with known.write() as tx:
        for attempt in (
            operations.get(tx, 4, done.session),
            operations.cancel(tx, 4, done.session, by="x", surface="cli", now=1001),
            operations.start(tx, 4, WISH, surface="cli", cap=3, now=1001),
        ):
            with pytest.raises(Unknown):
                await attempt
        assert await operations.list_sessions(tx, Listing(4)) == ()
        for meant in (Listing(3), Listing(person="@Ann"), Listing(text="THE log"), Listing(owner_id=1, before=2)):
            assert [each.brief.session for each in await operations.list_sessions(tx, meant)] == [done.session]
        for other in (Listing(3, "failed"), Listing(3, person="bob"), Listing(text="%"), Listing(owner_id=1, before=1)):
            assert await operations.list_sessions(tx, other) == ()


async def test_cancelling_twice_is_cancelling_once(known: Database) -> None:
    done = await started(known)
    for _ in range(2):
        async with known.write() as tx:
            cancelled = await operations.cancel(tx, 3, done.session, by="ann", surface="cli", now=1001)
        assert cancelled.was_open
    async with known.write() as tx:
        (await tx.get_one(Session, done.row)).status = SessionStatus.COMPLETED
    async with known.write() as tx:
        late = await operations.cancel(tx, 3, done.session, by="ann", surface="cli", now=1002)
        texts = [event.payload["text"] for event in (await operations.get(tx, 3, done.session)).events]
    assert (late.was_open, late.status) == (False, "completed")
    assert texts.count("cancel requested by ann") == 1


@on_sqlite
async def test_events_come_from_where_one_left_off_and_usage_is_the_sum_of_the_turns(known: Database) -> None:
    done = await started(known)
    async with known.write() as tx:
        await journal.append(tx, done.row, [("status", {"text": str(n)}) for n in range(5)], at=1001)
        turn = (await tx.execute(select(Turn).where(Turn.session_id == done.row))).scalar_one()
        turn.input_tokens, turn.cost, turn.started_at, turn.finished_at = 100, 0.25, 1000, 1030.5
    async with known.read() as tx:
        found = await operations.get(tx, 3, done.session, after=4)
    assert [event.seq for event in found.events] == [5, 6]
    assert (found.usage.turns, found.usage.input_tokens, found.usage.cost, found.usage.seconds) == (1, 100, 0.25, 30.5)


@on_sqlite
async def test_the_only_tenant_need_not_be_named_and_one_of_several_must(known: Database) -> None:
    async with known.write() as tx:
        with pytest.raises(Invalid, match="3, 4"):
            await operations.tenant_of(tx, None)
        assert await operations.tenant_of(tx, 4) == 4
        with pytest.raises(Unknown):
            await operations.tenant_of(tx, 99)

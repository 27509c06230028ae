"""Who may ask is asked of GitHub each time, who may not is told once, and nothing is answered twice."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import delete, select, update

from app.process.wiring import open_loop
from github.emulator.acts import installations
from github.webhooks import deliveries
from loops.context import Loop
from loops.deliveries.missed_deliveries import NOT_REPLAYED, redeliver_missed
from loops.store.base import Base
from loops.store.tables import Audit, Delivery, Installation, Turn
from tests.e2e.acts import RIGHT, asked, calls, comment_says, own_check, runs
from tests.e2e.house import REPOSITORY, House, house


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path, run=None, no_right_answers=2) as opened:
        opened.agent(RIGHT)
        yield opened


async def test_who_may_not_ask_gets_one_short_answer_in_each_thread_and_so_many_an_hour(home: House) -> None:
    first, second, third = [await home.issue(f"Issue {n}") for n in range(3)]
    for _ in range(3):
        await home.comment(first, "@greenloop fix it", login="bob")
    await home.handled("issue_comment", 3)
    (told,) = await home.bot_comments(first)
    assert "bob, I take requests only from people with write access" in told
    await home.comment(second, "@greenloop status", login="bob")
    await home.handled("issue_comment", 4)
    assert len(await home.bot_comments(second)) == 1
    await home.comment(third, "@greenloop fix it", login="bob")
    deliveries = await home.handled("issue_comment", 5)
    assert (await home.bot_comments(third), {each.decision for each in deliveries}) == ([], {"refused"})
    assert await home.sessions() == []


async def test_a_writer_who_was_made_a_reader_a_moment_ago_is_not_obeyed(home: House) -> None:
    number = await asked(home, "make it right")
    await home.ended()
    home.local.set_permission(REPOSITORY, "alice", "read")
    await home.comment(number, "@greenloop and more")
    assert (await home.handled("issue_comment", 2))[-1].decision == "refused"
    assert len(await home.turns()) == 1


async def test_nothing_is_published_for_somebody_who_lost_the_right_while_the_turn_ran(home: House) -> None:
    home.agent(f"wait(); {RIGHT}")
    number = await asked(home, "make it right")
    await runs(home)
    home.local.set_permission(REPOSITORY, "alice", "read")
    home.let_go()
    session = await home.ended()
    assert (session.status, session.reason, session.pull_number) == ("failed", "no_access", None)
    assert await home.get("pulls?state=all") == []
    await comment_says(home, number, "alice asked for this and may not write to this repository any more")


async def test_a_new_database_does_not_answer_again_what_was_answered(home: House) -> None:
    number = await asked(home, "make it right")
    await home.ended()
    labelled = await home.issue("Another")
    await home.post("alice", f"issues/{labelled}/labels", {"labels": ["greenloop"]})
    await home.ended(sessions=2)
    before = [await home.bot_comments(number), await home.bot_comments(labelled)]
    async with home.database.read() as tx:
        found = await tx.execute(select(Delivery).where(Delivery.event.in_(("issue_comment", "issues"))))
        again = [each.guid for each in found.scalars() if each.decision == "started"]
    assert len(again) == 2
    async with home.database.write() as tx:
        for table in reversed(Base.metadata.sorted_tables):
            await tx.execute(delete(table))
    async with open_loop(home.settings, home.settings.redis_url, "the new worker") as loop:
        await again_delivered(loop, again)
        decided = [(await home.handled(event))[0].decision for event in ("issue_comment", "issues")]
        async with home.database.write() as tx:  # as if all the rest had been ten minutes before
            await tx.execute(update(Delivery).values(received_at=Delivery.received_at + 600))
        later = replace(loop, clock=lambda: loop.clock() + 120)
        assert [await redeliver_missed(later), await redeliver_missed(later)] == [0, 0]
    assert decided == ["ignored", "ignored"]
    assert [await home.bot_comments(number), await home.bot_comments(labelled)] == before
    assert (await home.sessions(), len(await home.get("pulls?state=all"))) == ([], 2)
    async with home.database.read() as tx:
        (told,) = (await tx.execute(select(Audit).where(Audit.action == NOT_REPLAYED))).scalars()
    assert told.details["deliveries"] > 2


async def test_a_restored_database_does_not_answer_again_what_was_answered_since_the_backup(home: House) -> None:
    number = await asked(home, "make it right")
    await home.ended()
    home.agent("pathlib.Path('more.txt').write_text('more')")
    await home.comment(number, "@greenloop add more.txt")
    await home.turn_ended(2)
    (late,) = [each.guid for each in await home.handled("issue_comment", 2) if each.decision == "continued"]
    async with home.database.write() as tx:
        await tx.execute(delete(Turn).where(Turn.delivery == late))
        await tx.execute(delete(Delivery).where(Delivery.guid == late))
    before = await home.bot_comments(number)
    async with open_loop(home.settings, home.settings.redis_url, "the new worker") as loop:
        await again_delivered(loop, [late])
    assert {each.decision for each in await home.handled("issue_comment", 2)} == {"started", "ignored"}
    assert (len(await home.turns()), await home.bot_comments(number)) == (1, before)


async def again_delivered(loop: Loop, guids: list[str]) -> None:
    """Have GitHub deliver these once more."""
    async for each in deliveries.walk(loop.github, since=0):
        if each.guid in guids:
            assert await deliveries.redeliver(loop.github, each)


async def test_an_installation_that_github_does_not_know_is_uninstalled_and_nothing_failed(home: House) -> None:
    home.agent(f"wait(); {RIGHT}")
    await asked(home, "make it right")
    await runs(home)
    (installation,) = home.local.store.installations
    home.local.set_webhook("http://127.0.0.1:9/webhooks/github")
    owner = home.local.user("acme")
    home.local.call(lambda: installations.deleted(home.local.hub.forge, installation, owner))
    home.let_go()
    session = await home.ended()
    assert (session.status, session.reason) == ("cancelled", "the App was uninstalled")
    async with home.database.write() as tx:
        assert (await tx.get_one(Installation, installation.id)).removed_at is not None
        first = select(Delivery).where(Delivery.event == "issue_comment").order_by(Delivery.received_at).limit(1)
        told = (await tx.execute(first)).scalar_one()  # our own comments are told, too
        copied = {name: getattr(told, name) for name in ("event", "action", "installation_id", "repository_id", "body")}
        tx.add(Delivery(guid="late", status="new", received_at=told.received_at, due_at=0, **copied))

    async def decided() -> str | None:
        async with home.database.read() as tx:
            late = await tx.get_one(Delivery, "late")
        return late.decision if late.status == "done" else None

    assert await home.until(decided) == "noted"


async def test_a_locked_conversation_is_told_by_check_run_and_page_after_one_try(home: House) -> None:
    home.agent(f"wait(); {RIGHT}")
    tried = calls(home, lambda method, template: method in ("POST", "PATCH") and template.endswith("/comments"))
    number = await home.issue()
    await home.post("alice", f"issues/{number}/lock", {"lock_reason": "too heated"}, method="PUT")
    await home.comment(number, "@greenloop make it right")
    await runs(home)
    home.let_go()
    session = await home.ended()
    assert (session.status, await home.bot_comments(number)) == ("completed", [])
    check = own_check(home, session.head_sha)
    assert "Done" in (check.title or "") and "locked" in (check.summary or "")
    assert any("locked" in str(note) for note in session.notes)
    ours = [each for each in tried if each.startswith("POST")]
    assert len(ours) == 2  # Alice's own, and one of ours

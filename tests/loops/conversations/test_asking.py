from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from github.webhooks.outcomes import Repo
from github.webhooks.sources import OwnText, ThreadComment, Where
from loops.conversations.asking import take
from loops.conversations.cancelling import cancel
from loops.conversations.finding import Topic, latest
from loops.conversations.watching import switch_repairs, watch
from loops.conversations.withdrawing import withdraw
from loops.sessions.ask import Ask
from loops.sessions.known_accounts import remember_repository
from loops.store.database import Database
from loops.store.migrations import upgrade
from loops.store.states import PullState, SessionStatus, SubjectKind, Trigger
from loops.store.tables import Session, Turn
from tests.loops.asks import mention, topic

REPO = Repo(id=7, full_name="acme/widgets", installation_id=3, default_branch="main")
TOPIC = topic()
WISH = mention(delivery="d1")


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    url = f"sqlite:///{tmp_path}/loop.db"
    await upgrade(url)
    opened = Database(url)
    async with opened.write() as tx:
        await remember_repository(tx, REPO, 1000)
    yield opened
    await opened.close()


async def asked(database: Database, wish: Ask, topic: Topic = TOPIC) -> tuple[int, str]:
    async with database.write() as tx:
        session, what = await take(tx, topic, wish, owner=1, cap=3, now=1000)
        return session.id, what


async def turns(database: Database, session: int) -> list[Turn]:
    async with database.read() as tx:
        found = await tx.execute(select(Turn).where(Turn.session_id == session).order_by(Turn.number))
        return list(found.scalars())


async def test_the_same_delivery_twice_is_one_turn(database: Database) -> None:
    first, _ = await asked(database, WISH)
    assert await asked(database, WISH) == (first, "joined")
    assert len(await turns(database, first)) == 1


async def test_opened_and_five_labels_within_a_second_are_one_session_with_one_turn(database: Database) -> None:
    own = replace(WISH, source=OwnText(Where.ISSUE))
    first, _ = await asked(database, own)
    for number in range(5):
        label = replace(own, trigger=Trigger.LABELED, delivery=f"label-{number}")
        assert await asked(database, label) == (first, "joined")
    assert len(await turns(database, first)) == 1


async def test_another_comment_goes_on_with_the_conversation(database: Database) -> None:
    first, _ = await asked(database, WISH)
    again = replace(WISH, delivery="d2", instruction="and the tests")
    assert await asked(database, again) == (first, "continued")
    assert [turn.number for turn in await turns(database, first)] == [1, 2]


async def test_a_mention_on_our_pull_request_goes_on_with_the_session_of_its_issue(database: Database) -> None:
    first, _ = await asked(database, WISH)
    async with database.write() as tx:
        (await tx.get_one(Session, first)).pull_number = 9
    pull = Topic(3, 7, SubjectKind.PULL, 9, "Fix the login", pull_number=9)
    assert await asked(database, replace(WISH, delivery="d2"), pull) == (first, "continued")


async def test_two_repositories_with_the_same_number_do_not_share_a_session(database: Database) -> None:
    async with database.write() as tx:
        await remember_repository(tx, Repo(id=8, full_name="acme/other", installation_id=3), 1000)
    first, _ = await asked(database, WISH)
    other, what = await asked(database, replace(WISH, delivery="d2"), replace(TOPIC, repository_id=8))
    assert what == "started"
    assert other != first


async def test_after_the_pull_request_was_merged_a_mention_begins_anew(database: Database) -> None:
    first, _ = await asked(database, WISH)
    async with database.write() as tx:
        (await tx.get_one(Session, first)).pull_state = PullState.MERGED
    _, what = await asked(database, replace(WISH, delivery="d2"))
    assert what == "started"


async def test_what_is_asked_after_the_end_opens_the_session_again(database: Database) -> None:
    first, _ = await asked(database, WISH)
    async with database.write() as tx:
        session = await tx.get_one(Session, first)
        session.status, session.reason = SessionStatus.FAILED, "cap_reached"
    assert await asked(database, replace(WISH, delivery="d2")) == (first, "continued")
    async with database.read() as tx:
        session = await tx.get_one(Session, first)
        assert (session.status, session.reason) == ("pending", None)


async def test_a_deleted_comment_withdraws_only_its_unstarted_turn(database: Database) -> None:
    first, _ = await asked(database, WISH)
    await asked(database, replace(WISH, delivery="d2", source=ThreadComment(12)))
    async with database.write() as tx:
        assert await withdraw(tx, 7, 11, 1001) == [first]
    assert [turn.status for turn in await turns(database, first)] == ["cancelled", "queued"]


async def test_cancel_is_kept_once_and_says_who(database: Database) -> None:
    first, _ = await asked(database, WISH)
    async with database.write() as tx:
        session = await tx.get_one(Session, first)
        assert await cancel(tx, session, "ann", 1001)
        assert await cancel(tx, session, "bob", 1002)
        assert session.cancel_by == "ann"


async def test_the_same_number_in_two_repositories_is_two_conversations(database: Database) -> None:
    async with database.write() as tx:
        await remember_repository(tx, replace(REPO, id=8, full_name="acme/gadgets"), 1000)
    first, _ = await asked(database, WISH)
    second, what = await asked(database, replace(WISH, delivery="d2"), replace(TOPIC, repository_id=8))
    assert (what, second != first) == ("started", True)


async def test_a_later_command_allows_a_forks_newer_head_and_one_elsewhere_keeps_what_was_allowed(
    database: Database,
) -> None:
    fork = Topic(3, 7, SubjectKind.PULL, 9, "Theirs", approved_sha="a" * 40)
    first, _ = await asked(database, WISH, fork)
    for delivery, sha, allowed in (("d2", "b" * 40, "b" * 40), ("d3", None, "b" * 40)):
        await asked(database, replace(WISH, delivery=delivery), replace(fork, approved_sha=sha))
        async with database.read() as tx:
            assert (await tx.get_one(Session, first)).approved_sha == allowed


PULL = Topic(3, 7, SubjectKind.PULL, 6, "Mine", "main", "mine", "a" * 40, 6, own_branch=False)


async def switch(database: Database, *, on: bool) -> None:
    async with database.write() as tx:
        session = await latest(tx, PULL)
        await switch_repairs(tx, PULL, session, on=on, by="ann", now=1000)


async def watched(database: Database) -> Session | str:
    async with database.write() as tx:
        return await watch(tx, PULL, owner=1, cap=3, config={}, now=1001)


async def test_a_pull_request_that_its_session_does_not_know_yet_is_not_taken_for_one_without_a_session(
    database: Database,
) -> None:
    first, _ = await asked(database, WISH)
    async with database.write() as tx:
        (await tx.get_one(Session, first)).branch = PULL.branch
    assert await watched(database) == "a session is at work on it"
    assert await asked(database, replace(WISH, delivery="d2"), PULL) == (first, "continued")


async def test_repairs_can_be_switched_off_before_anything_was_begun_and_on_again(database: Database) -> None:
    await switch(database, on=False)
    assert await watched(database) == "repairs are switched off here"
    await switch(database, on=True)
    begun = await watched(database)
    assert isinstance(begun, Session)
    assert (begun.status, begun.owner_id, begun.cap) == ("waiting", 1, 3)


async def test_who_asks_where_only_repairs_were_switched_off_begins_a_conversation_of_their_own(
    database: Database,
) -> None:
    await switch(database, on=False)
    session_id, what = await asked(database, WISH, PULL)
    async with database.read() as tx:
        session = await tx.get_one(Session, session_id)
    assert (what, session.owner_id, session.cap, session.trigger) == ("continued", 1, 3, "mention")
    assert session.options == {"autofix": False}

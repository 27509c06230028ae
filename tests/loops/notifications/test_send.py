"""Others hear of each state of a session once it is stored, signed, and again until they take it."""

import contextlib
import json
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import pytest
from aiohttp import web
from sqlalchemy import select
from standardwebhooks import Webhook, WebhookVerificationError

from github.webhooks.outcomes import Repo
from loops.conversations.asking import take
from loops.notifications import send
from loops.notifications.message import PAUSES
from loops.notifications.send import given_up, send_due
from loops.options import LoopOptions
from loops.sessions.known_accounts import remember_repository
from loops.sessions.transitions import move_session
from loops.store.database import Database
from loops.store.locking import locked
from loops.store.notification_tables import Notification
from loops.store.states import SessionStatus
from loops.store.tables import Session
from tests.loops.asks import mention, topic
from tests.loops.notifications.receiver import Receiver, receiving
from tests.loops.notifications.test_hooks import SECRET

OTHER = "whsec_" + "b3RoZXItb3RoZXItb3RoZXItb3RoZXItb3RoZXI="


class Died(Exception):
    """Of a process, in the middle."""


@pytest.fixture
async def receiver(tmp_path: Path) -> AsyncIterator[Receiver]:
    async with receiving(tmp_path) as made:
        yield made


@pytest.fixture
async def told(database_url: str, database: Database) -> AsyncIterator[Database]:
    """The database, as a process with hooks opens it."""
    opened = Database(database_url, info=LoopOptions(hooks_file=Path("x")).told_of)
    yield opened
    await opened.close()


async def begin(database: Database, at: float = 0.0, title: str = "Title") -> int:
    async with database.write() as tx:
        await remember_repository(tx, Repo(id=7, full_name="acme/widgets", installation_id=3, default_branch="m"), at)
        session, _ = await take(tx, topic(1, title=title), mention(), owner=1, cap=3, now=at)
        return session.id


async def move(database: Database, session: int, to: SessionStatus, at: float) -> None:
    async with database.write() as tx:
        move_session(await locked(tx, Session, session), to, at)


async def left(database: Database) -> list[Notification]:
    async with database.read() as tx:
        return list((await tx.execute(select(Notification).order_by(Notification.id))).scalars())


BUILD = {"name": "build", "secrets": [SECRET]}


async def test_each_state_is_told_once_signed_as_standard_webhooks_are(told: Database, receiver: Receiver) -> None:
    options = receiver.options({**BUILD, "secrets": [OTHER, SECRET]})
    session = await begin(told)
    await move(told, session, SessionStatus.RUNNING, 1.5)
    await move(told, session, SessionStatus.RUNNING, 1.7)
    await move(told, session, SessionStatus.COMPLETED, 2.0)
    assert await send_due(told, options) == 3
    assert await send_due(told, options) == 0
    assert sorted(receiver.types("build")) == ["session.completed", "session.pending", "session.running"]
    for request, body in zip(receiver.taken["build"], receiver.bodies["build"], strict=True):
        for secret in (SECRET, OTHER):
            verified = Webhook(secret).verify(body, dict(request.headers))
        with pytest.raises(WebhookVerificationError):
            Webhook(SECRET).verify(body + b" ", dict(request.headers))
        data = verified["data"]
        assert data["repository"] == "acme/widgets" and f"session.{data['status']}" == verified["type"]
        assert data["url"] == f"https://greenloop.example/sessions/{data['session']}"
    assert len({request.headers["webhook-id"] for request in receiver.taken["build"]}) == 3
    assert await left(told) == []


async def test_what_was_rolled_back_is_told_to_nobody(told: Database, receiver: Receiver) -> None:
    session = await begin(told)
    with contextlib.suppress(ZeroDivisionError):
        async with told.write() as tx:
            move_session(await locked(tx, Session, session), SessionStatus.RUNNING, 1.0)
            raise ZeroDivisionError
    await send_due(told, receiver.options(BUILD))
    assert receiver.types("build") == ["session.pending"]


async def test_without_hooks_nothing_is_written(database: Database) -> None:
    await move(database, await begin(database), SessionStatus.RUNNING, 1.0)
    assert await left(database) == []


async def test_who_did_not_take_it_is_told_again_and_nobody_else_is(told: Database, receiver: Receiver) -> None:
    options = receiver.options(BUILD, {"name": "down", "secrets": [SECRET]})
    receiver.says["down"] = lambda: web.Response(status=500)
    await begin(told)
    now = 100.0
    await send_due(told, options, clock=lambda: now)
    (row,) = await left(told)
    assert (row.hooks, row.tries, row.due_at) == (["down"], 1, now + PAUSES[0])
    assert row.error == "down: 127.0.0.1 answered 500"
    assert await send_due(told, options, clock=lambda: now + PAUSES[0] - 1) == 0
    receiver.says.clear()
    assert await send_due(told, options, clock=lambda: now + PAUSES[0]) == 1
    ids = [request.headers["webhook-id"] for request in receiver.taken["down"]]
    assert (len(receiver.taken["build"]), len(ids), len(set(ids))) == (1, 2, 1)
    assert await left(told) == []


async def test_a_process_that_dies_after_it_sent_sends_the_same_message_again(
    told: Database, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def dies(*_: object) -> None:
        raise Died

    options = receiver.options(BUILD)
    await begin(told)
    with monkeypatch.context() as patched:
        patched.setattr(send, "_done", dies)
        with pytest.raises(ExceptionGroup) as dead:
            await send_due(told, options)
        assert dead.group_contains(Died)
    await send_due(told, options)
    ids = [request.headers["webhook-id"] for request in receiver.taken["build"]]
    assert len(ids) == 2 and len(set(ids)) == 1


@pytest.mark.parametrize(
    ("answer", "pause"),
    [
        (lambda: web.Response(status=429, headers={"retry-after": "60"}), 60.0),
        (lambda: web.Response(status=503, headers={"retry-after": "1"}), PAUSES[0]),
        (lambda: web.Response(status=503, headers={"retry-after": "-1"}), PAUSES[0]),
        (lambda: web.Response(status=503, headers={"retry-after": "9" * 30}), 86400.0),
        (lambda: web.Response(status=302, headers={"location": "/elsewhere"}), PAUSES[0]),
        (lambda: web.Response(status=410), None),
    ],
    ids=["429", "short", "negative", "endless", "elsewhere", "gone"],
)
async def test_when_it_is_told_again_is_for_the_receiver_to_say_within_bounds(
    told: Database, receiver: Receiver, answer: Callable[[], web.Response], pause: float | None
) -> None:
    receiver.says["build"] = answer
    await begin(told)
    await send_due(told, receiver.options(BUILD), clock=lambda: 100.0)
    (row,) = await left(told)
    assert row.due_at == (None if pause is None else 100.0 + pause)
    assert "elsewhere" not in receiver.taken


async def test_what_nobody_takes_is_given_up_after_three_days_and_counted(told: Database, receiver: Receiver) -> None:
    receiver.says["build"] = lambda: web.Response(status=500)
    options = receiver.options(BUILD)
    await begin(told)
    due: float | None = 100.0
    for _ in range(len(PAUSES) + 1):
        assert await given_up(told) is None and due is not None
        assert await send_due(told, options, clock=partial(float, due)) == 1
        due = (await left(told))[0].due_at
    lost = await given_up(told)
    assert lost is not None and (lost.count, lost.error) == (1, "build: 127.0.0.1 answered 500")
    assert await send_due(told, options, clock=lambda: 1e9) == 0


async def test_a_receiver_that_is_away_is_waited_for_once_a_round_and_holds_up_nobody(
    told: Database, receiver: Receiver
) -> None:
    options = receiver.options(BUILD, {"name": "away", "url": "http://127.0.0.1:9/", "secrets": [SECRET]})
    session = await begin(told)
    await move(told, session, SessionStatus.RUNNING, 1.0)
    await send_due(told, options)
    assert sorted(receiver.types("build")) == ["session.pending", "session.running"]
    assert all(row.hooks == ["away"] and "away: 127.0.0.1" in (row.error or "") for row in await left(told))


async def test_a_broken_file_loses_nothing(told: Database, receiver: Receiver) -> None:
    await begin(told)
    options = receiver.options(BUILD)
    assert options.hooks_file is not None
    good = options.hooks_file.read_text()
    options.hooks_file.write_text("[")
    assert await send_due(told, options) == 0
    options.hooks_file.write_text(good)
    assert await send_due(told, options) == 1
    assert receiver.types("build") == ["session.pending"]


async def test_a_hook_that_left_the_file_is_told_no_more(told: Database, receiver: Receiver) -> None:
    receiver.says["build"] = lambda: web.Response(status=500)
    await begin(told)
    await send_due(told, receiver.options(BUILD), clock=lambda: 100.0)
    await send_due(told, receiver.options({**BUILD, "name": "new"}), clock=lambda: 200.0)
    assert (await left(told), "new" in receiver.taken) == ([], False)


async def test_a_chat_is_told_a_line_in_which_no_title_mentions_or_links(told: Database, receiver: Receiver) -> None:
    await begin(told, title="<!channel> & <https://evil.example|click>\nnext")
    await send_due(told, receiver.options({"name": "chat", "format": "slack", "states": ["pending"]}))
    (body,) = receiver.bodies["chat"]
    text = json.loads(body)["text"]
    page, title = text.removeprefix("<").split("|", 1)
    assert page.startswith("https://greenloop.example/sessions/s_")
    assert title == "&lt;!channel&gt; &amp; &lt;https://evil.example¦click&gt; next> in acme/widgets is pending"

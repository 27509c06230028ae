"""What people see is written once, and looked for only where an earlier try may have left it."""

from types import SimpleNamespace
from typing import cast

import pytest

from github.webhooks.outcomes import Repo
from loops.context import Loop
from loops.conversations.asking import begin
from loops.sessions.effects import find, others, show
from loops.sessions.known_accounts import remember_repository
from loops.store.database import Database
from tests.databases import on_sqlite
from tests.loops.asks import mention, topic

NOW = 1_000_000.0


class Wall:
    """Where it is shown; `calls` are the ids it was known under, and whether it had to be looked for."""

    def __init__(self) -> None:
        self.calls: list[tuple[int | None, bool]] = []
        self.dies = False

    async def put(self, known: int | None, perhaps: bool) -> int:
        self.calls.append((known, perhaps))
        if self.dies:
            raise ConnectionError("the process ends here")
        return 77


async def session_of(database: Database) -> int:
    async with database.write() as tx:
        await remember_repository(tx, Repo(id=7, full_name="acme/widgets", installation_id=3, default_branch="m"), NOW)
        return (await begin(tx, topic(), mention(by=1), owner=1, cap=3, now=NOW)).id


@on_sqlite
async def test_the_first_time_nothing_is_looked_for_and_the_same_words_are_not_sent_again(database: Database) -> None:
    loop = cast(Loop, SimpleNamespace(database=database, clock=lambda: NOW))
    session, wall = await session_of(database), Wall()
    for said in ("one", "one", "two"):
        await show(loop, session, "comment", "sticky", said, wall.put)
    assert wall.calls == [(None, False), (77, False)]


@on_sqlite
async def test_after_a_crash_what_may_be_there_is_looked_for_until_it_is_known(database: Database) -> None:
    loop = cast(Loop, SimpleNamespace(database=database, clock=lambda: NOW))
    session, wall = await session_of(database), Wall()
    wall.dies = True
    for _ in range(2):
        with pytest.raises(ConnectionError):
            await show(loop, session, "comment", "sticky", "one", wall.put)
    async with database.read() as tx:
        assert await others(tx, session, "comment", "another") == []
        begun = await find(tx, session, "comment", "sticky")
        assert begun is not None and begun.external_id == ""
    wall.dies = False
    await show(loop, session, "comment", "sticky", "one", wall.put)
    await show(loop, session, "comment", "sticky", "two", wall.put)
    assert wall.calls == [(None, False), (None, True), (None, True), (77, False)]

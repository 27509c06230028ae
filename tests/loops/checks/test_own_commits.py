"""Commits that are known to be ours without asking, and what follows for whose a repair is."""

from types import SimpleNamespace
from typing import cast

import pytest

from github.client.repository import RepositoryHandle
from github.repositories.pushes import Push, Pusher
from github.webhooks.identity import Me
from github.webhooks.outcomes import Repo
from loops.checks import repair_owner
from loops.checks.own_commits import OwnCommits, own_commits
from loops.context import Loop
from loops.conversations.asking import add_turn, begin
from loops.options import LoopOptions
from loops.sessions.effects import COMMIT, keep
from loops.sessions.known_accounts import remember_repository
from loops.store.database import Database
from loops.store.tables import Session
from tests.databases import on_sqlite
from tests.loops.asks import mention, topic

NOW = 1_000_000.0
MAIN, FIRST, SECOND, THEIRS = (letter * 40 for letter in "abcd")
MERGE = {"ref": "refs/heads/main", "sha": THEIRS}


async def session_of(database: Database, *turns: tuple[str, str, str], merge: dict[str, str] | None = None) -> Session:
    """A session with turns: (base, commit that it has, commit that we remember to have made)."""
    async with database.write() as tx:
        await remember_repository(tx, Repo(id=7, full_name="acme/widgets", installation_id=3), NOW)
        session = await begin(tx, topic(), mention(by=1), owner=1, cap=3, now=NOW)
        session.base_branch, session.branch, session.own_branch = "main", "greenloop/5", True
        for number, (base, commit, made) in enumerate(turns):
            turn = await add_turn(tx, session, mention(by=1), owner=1, now=NOW)
            turn.base_sha, turn.commit_sha = base, commit
            ref = "refs/heads/main" if number == 0 else "refs/heads/greenloop/5"
            turn.spec = {"repository": {"ref": ref, "merge": merge if number else None}}
            if made:
                await keep(tx, session.id, COMMIT, turn.public_id, made, None, NOW)
    return session


async def line(database: Database, session: Session, sha: str) -> OwnCommits:
    async with database.read() as tx:
        return await own_commits(tx, session, sha)


async def test_our_commits_are_followed_down_to_the_base_branch(database: Database) -> None:
    session = await session_of(database, (MAIN, FIRST, FIRST), (FIRST, SECOND, SECOND))
    assert await line(database, session, SECOND) == OwnCommits((FIRST, MAIN), MAIN)
    assert await line(database, session, FIRST) == OwnCommits((MAIN,), MAIN)


@on_sqlite
async def test_a_commit_that_only_says_that_it_is_a_turns_is_not_ours(database: Database) -> None:
    session = await session_of(database, (MAIN, FIRST, FIRST), (FIRST, THEIRS, SECOND))
    assert await line(database, session, THEIRS) == OwnCommits()
    unknown = await session_of(database, (MAIN, FIRST, ""))
    assert await line(database, unknown, FIRST) == OwnCommits()


@on_sqlite
async def test_a_line_that_somebody_elses_commit_interrupts_ends_there(database: Database) -> None:
    session = await session_of(database, (MAIN, FIRST, FIRST), (THEIRS, SECOND, SECOND))
    assert await line(database, session, SECOND) == OwnCommits((THEIRS,), None)


@on_sqlite
async def test_where_a_branch_with_a_merge_left_its_base_is_not_known(database: Database) -> None:
    session = await session_of(database, (MAIN, FIRST, FIRST), (FIRST, SECOND, SECOND), merge=MERGE)
    assert await line(database, session, SECOND) == OwnCommits((FIRST, MAIN), None)


@on_sqlite
@pytest.mark.parametrize("ours", [True, False], ids=["all ours", "a commit with our trailer"])
async def test_who_pushed_is_asked_unless_all_commits_since_are_ours(
    database: Database, monkeypatch: pytest.MonkeyPatch, ours: bool
) -> None:
    asked = []

    async def listed(repo: RepositoryHandle, branch: str) -> list[Push]:
        asked.append(branch)
        return [Push(MAIN, FIRST, Pusher(2, "ben"))]

    monkeypatch.setattr(repair_owner, "pushes", listed)
    session = await session_of(database, (MAIN, FIRST, FIRST if ours else SECOND))
    me = Me(1, "greenloop", bot_id=9)
    options = LoopOptions(runtime="command")
    loop = cast(Loop, SimpleNamespace(database=database, me=me, options=options, clock=lambda: NOW))
    found = await repair_owner.repair_owner(loop, cast(RepositoryHandle, None), session, FIRST)
    assert (found.person, asked) == ((1, []) if ours else (None, ["greenloop/5"]))

"""Whose a repair is: a table of who pushed, and what becomes of one whose branch moves before it begins."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from github.client.repository import RepositoryHandle
from github.repositories.pushes import NOTHING, Push, Pusher
from github.webhooks.identity import Me
from github.webhooks.outcomes import Repo
from loops.checks import repair_owner
from loops.checks.repair_owner import Candidate, first_alone, told
from loops.context import Loop
from loops.conversations.asking import add_turn, begin
from loops.options import LoopOptions
from loops.sessions.ask import Ask, Asker, Conflict, RedChecks
from loops.sessions.known_accounts import remember_repository
from loops.store.database import Database
from loops.store.states import Trigger
from loops.store.tables import Session, Turn
from loops.turns.preparing.ownership import is_still_theirs
from loops.turns.preparing.start import CannotStart, StartingPoint
from tests.databases import on_sqlite
from tests.loops.asks import mention, topic

ME = Me(1, "greenloop", bot_id=9)
ANN, BEN, US = Pusher(1, "ann"), Pusher(2, "ben"), Pusher(9, "greenloop[bot]")
A, B, C = (letter * 40 for letter in "abc")
NOW = 1_000_000.0
ANNS, BENS = Candidate(1, "ann", A), Candidate(2, "ben", None)


def story(*by: Pusher) -> list[Push]:
    """The branch was made at A by Ann; then these moved it to B and to C."""
    shas = [NOTHING, A, B, C]
    return [Push(shas[at], shas[at + 1], who) for at, who in enumerate((ANN, *by))][::-1]


@pytest.mark.parametrize(
    ("by", "candidates", "owner"),
    [
        ((US, US), [ANNS], 1),
        ((US, ANN), [ANNS], 1),
        ((US, BEN), [ANNS], None),
        ((BEN, ANN), [ANNS], None),
        ((US, Pusher(0, "ann")), [ANNS], None),
        ((US, Pusher(2, "ann")), [ANNS], None),
        ((BEN, BEN), [ANNS, BENS], None),
        ((US, BEN), [Candidate(3, "cat", B), Candidate(2, "ben", A)], 2),
        ((US, US), [BENS], None),
        ((US, US), [Candidate(1, "ann", None)], 1),
    ],
)
def test_a_repair_is_of_the_first_beside_whom_only_we_have_pushed(
    by: tuple[Pusher, Pusher], candidates: list[Candidate], owner: int | None
) -> None:
    found = first_alone(candidates, story(*by), C, ME)
    assert (found.person if found else None) == owner


def test_people_are_told_who_else_pushed_or_that_nobody_can_say() -> None:
    assert told(ANNS, story(US, BEN), C, ME) == "ann is not the only one: ben pushed since then"
    assert told(BENS, story(US, BEN), C, ME) == "ben is not the only one: ann pushed to this branch, too"
    assert told(ANNS, [], C, ME) == "GitHub does not say that nobody but ann pushed what is repaired"


ABOUT = [
    Ask(Trigger.CHECKS, Asker(), RedChecks(B, 1, "red")),
    Ask(Trigger.CONFLICT, Asker(1, "ann"), Conflict(A, B)),
]


async def queued(database: Database, ask: Ask, config: dict[str, Any]) -> tuple[Session, Turn]:
    """A session of Ann's with such a turn in line, which is hers."""
    async with database.write() as tx:
        await remember_repository(tx, Repo(id=7, full_name="acme/widgets", installation_id=3, default_branch="m"), NOW)
        session = await begin(tx, topic(), mention(by=1), owner=1, cap=3, now=NOW)
        session.branch, session.config = "topic", config
        return session, await add_turn(tx, session, ask, owner=1, now=NOW)


@on_sqlite
@pytest.mark.parametrize("ask", ABOUT, ids=["checks", "conflict"])
@pytest.mark.parametrize(
    ("start", "by", "config", "expected"),
    [
        (B, None, {}, 1),
        (C, ANN, {}, 1),
        (C, US, {}, 1),
        (C, BEN, {}, None),
        (C, BEN, {"autofix": {"after_others_push": "wait"}}, "others_pushed"),
    ],
)
async def test_a_turn_whose_branch_moved_while_it_waited_is_still_theirs_if_nobody_else_did_it(
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    ask: Ask,
    start: str,
    by: Pusher | None,
    config: dict[str, Any],
    expected: int | str | None,
) -> None:
    async def listed(repo: RepositoryHandle, branch: str) -> list[Push]:
        assert branch == "topic" and by is not None
        return [Push(B, C, by)]

    monkeypatch.setattr(repair_owner, "pushes", listed)
    session, turn = await queued(database, ask, config)
    options = LoopOptions(runtime="command")
    loop = cast(Loop, SimpleNamespace(database=database, me=ME, options=options, clock=lambda: NOW))
    point = StartingPoint(start, "refs/heads/topic", "topic", "m", A)
    repo = cast(RepositoryHandle, None)
    if isinstance(expected, str):
        with pytest.raises(CannotStart) as refused:
            await is_still_theirs(loop, repo, session, turn, point)
        assert refused.value.reason == expected
        return
    assert await is_still_theirs(loop, repo, session, turn, point) == (expected == 1)
    async with database.read() as tx:
        assert (await tx.get_one(Turn, turn.id)).owner_id == expected
        notes = (await tx.get_one(Session, session.id)).notes
    assert any("ben pushed since then" in note for note in notes) == (expected is None)

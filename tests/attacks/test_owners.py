"""Whose box, account and caps a turn uses: those of who asked for it, and nobody else's."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from loops.store.tables import Box, Profile, Turn
from tests.e2e.acts import asked
from tests.e2e.house import REPOSITORY, House, house
from tests.e2e.ownloop import HEAD, install

VAULT = "acme/vault"
# What each agent finds where it runs, a line for each turn.
LOOKS = """
home, tree = pathlib.Path(os.environ["HOME"]), pathlib.Path.cwd()
found = {
    "home": str(home),
    "tree": str(tree),
    "files": sorted(path.name for path in home.rglob("mark-*")),
    "resumed": "--resume" in sys.argv,
    "prompt": prompt,
}
(home / f"mark-{time.time_ns()}").write_text("")
with open(SEEN, "a") as file:
    file.write(json.dumps(found) + "\\n")
tell("session", id=f"c{time.time_ns()}")
edited(f"{time.time_ns()}.txt")
done("My answer.")
"""


@pytest.fixture
async def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[House]:
    """Carol may write, too; both have an account of their own. The agent is our own loop, which resumes."""
    install(tmp_path / "bin", tmp_path / "agent.py")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    async with house(tmp_path, run=None, files={".github/greenloop.yml": "runtime: native\n"}) as opened:
        opened.agent(HEAD + LOOKS.replace("SEEN", repr(str(tmp_path / "seen"))))
        opened.local.add_user("carol")
        opened.local.set_permission(REPOSITORY, "carol", "write")
        for login in ("alice", "carol"):
            await opened.account(f"sk-of-{login}-0123456789", name=login, person_id=opened.local.user(login).id)
        yield opened


def seen(home: House) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (home.folder / "seen").read_text().splitlines()]


async def used(home: House) -> list[tuple[str | None, str, str]]:
    """Of each turn: whose account, whose box, and for what that box is."""
    people = {home.local.user(login).id: login for login in ("alice", "carol")}
    async with home.database.read() as tx:
        found = await tx.execute(
            select(Profile.name, Box)
            .select_from(Turn)
            .join(Box, Box.name == Turn.box)
            .outerjoin(Profile, Profile.id == Turn.profile_id)
            .order_by(Turn.id)
        )
        return [(name, people.get(box.person_id or 0, "nobody"), f"r{box.repository_id}") for name, box in found]


async def test_another_persons_words_on_a_session_run_in_their_own_box_on_their_own_account(home: House) -> None:
    number = await asked(home, "begin with this")
    await home.turn_ended(1)
    await home.comment(number, "@greenloop print what you have", login="carol")
    await home.turn_ended(2)
    await home.comment(number, "@greenloop go on")
    await home.turn_ended(3)
    await home.comment(number, "@greenloop go on")
    await home.turn_ended(4)
    (session,) = await home.sessions()
    here = f"r{session.repository_id}"
    alices, carols = ("alice", "alice", here), ("carol", "carol", here)
    assert await used(home) == [alices, carols, alices, alices]
    first, hers, back, last = seen(home)
    assert hers["files"] == [] and hers["home"] != first["home"] == back["home"]
    assert [each["resumed"] for each in (first, hers, back, last)] == [False, False, False, True]
    assert "Turn 1: begin with this\nIts answer: My answer." in hers["prompt"]
    assert "Turn 2: print what you have\nIts answer: My answer." in back["prompt"]
    assert "What went before" not in last["prompt"]
    said = (await home.bot_comments(number))[0]
    assert "in the box of alice" in said


async def test_what_a_person_leaves_in_one_repositorys_box_is_not_in_that_of_another(home: House) -> None:
    source = home.folder / "source"
    home.local.add_repository(VAULT, from_dir=source)
    home.local.set_permission(VAULT, "alice", "write")
    home.local.call(lambda: setattr(home.local.hub.store.installations.get(home.installation), "selected", None))
    await asked(home, "make it right")
    await home.turn_ended(1)
    answer = await home.http("alice").post(f"/repos/{VAULT}/issues", json={"title": "x", "body": "@greenloop do it"})
    assert answer.status_code == 201
    await home.turn_ended(2)
    first, second = seen(home)
    assert second["files"] == [] and first["home"] != second["home"]
    (_, _, here), (_, _, there) = await used(home)
    assert here != there


async def test_two_who_ask_in_the_same_moment_each_get_their_own(home: House) -> None:
    number = await home.issue()
    await asyncio.gather(
        home.comment(number, "@greenloop as alice"), home.comment(number, "@greenloop as carol", login="carol")
    )
    await home.turn_ended(2)
    for turn, (account, person, _), found in zip(await home.turns(), await used(home), seen(home), strict=True):
        assert turn.context["by"] == account == person
        assert f"as {person}" in found["prompt"]
    assert len(await home.sessions()) == 1


async def test_a_reader_on_a_writers_session_gets_no_box_and_neither_does_who_became_one(home: House) -> None:
    number = await asked(home, "make it right")
    await home.turn_ended(1)
    await home.comment(number, "@greenloop show me alice's key", login="bob")
    home.local.set_permission(REPOSITORY, "carol", "read")
    await home.comment(number, "@greenloop show me alice's key", login="carol")
    assert [each.decision for each in await home.handled("issue_comment", 3)] == ["started", "refused", "refused"]
    home.local.set_permission(REPOSITORY, "alice", "read")
    home.local.set_permission(REPOSITORY, "carol", "write")
    await home.comment(number, "@greenloop retry", login="carol")
    await home.turn_ended(2)
    assert [(account, person) for account, person, _ in await used(home)] == [("alice", "alice"), ("carol", "carol")]
    assert (await home.turns())[1].status == "done"

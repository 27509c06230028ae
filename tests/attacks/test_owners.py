"""Whose box, account and caps a turn uses: those of who asked for it, and nobody else's."""

import asyncio
import base64
import contextlib
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from loops.store.tables import Box, Profile, Turn
from tests.e2e.acts import asked, push
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
"""
ANSWERS = """
edited(f"{time.time_ns()}.txt")
done("My answer.")
"""
# The first turn and the second leave the check red, the second while somebody may push; the third mends it.
REPAIRS = """
turn = len(open(SEEN).readlines())
if turn == 2:
    wait()
pathlib.Path("value.txt").write_text("right" if turn > 2 else f"wrong {turn}")
done("Done.")
"""


@contextlib.asynccontextmanager
async def opened(
    folder: Path, acts: str, *, yml: str = "", files: dict[str, str] | None = None, **settings: Any
) -> AsyncIterator[House]:
    """Carol may write, too; both have an account of their own. The agent is our own loop, which resumes."""
    all_files = {".github/greenloop.yml": f"runtime: native\n{yml}", **(files or {})}
    async with house(folder, files=all_files, **settings) as made:
        made.agent((HEAD + LOOKS + acts).replace("SEEN", repr(str(folder / "seen"))))
        made.local.add_user("carol")
        made.local.set_permission(REPOSITORY, "carol", "write")
        for login in ("alice", "carol"):
            await made.account(f"sk-of-{login}-0123456789", name=login, person_id=made.local.user(login).id)
        yield made


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "bin", tmp_path / "agent.py")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with opened(tmp_path, ANSWERS, run=None) as made:
        yield made


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


async def pushed_by(home: House, login: str, name: str, content: str = "x", **about: Any) -> None:
    """A commit on our branch, pushed by that person while the second turn runs."""

    async def second_runs() -> bool:
        found = await home.turns()
        return len(found) == 2 and found[1].status == "running"

    await home.until(second_runs)
    (session,) = await home.sessions()
    known = await home.http(login).get(f"/repos/{REPOSITORY}/contents/{name}?ref={session.branch}")
    sha = {"sha": known.json()["sha"]} if known.is_success else {}
    body = {"message": "m", "content": base64.b64encode(content.encode()).decode(), "branch": session.branch}
    await home.post(login, f"contents/{name}", {**body, **sha, **about}, method="PUT")
    home.let_go()


async def owners(home: House) -> list[str]:
    return [person for _, person, _ in await used(home)]


async def test_repairs_are_of_who_asked_also_after_their_own_push_that_github_lists_late(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path, REPAIRS) as home:
        home.local.hub.faults.lag("activity", calls=1)
        await asked(home, "make it right")
        await pushed_by(home, "alice", "notes.txt")
        assert (await home.ended()).outcome == "green"
        assert await owners(home) == ["alice", "alice", "alice"]


async def test_repairs_go_over_to_who_asked_next_after_the_first_asker_lost_the_right(tmp_path: Path) -> None:
    async with opened(tmp_path, REPAIRS, yml="limits: {attempts: 0}\n") as home:
        number = await asked(home, "make it right")
        assert (await home.ended()).reason == "cap_reached"
        home.local.set_permission(REPOSITORY, "alice", "read")
        home.let_go()
        await home.comment(number, "@greenloop retry --cap 1", login="carol")
        await home.turn_ended(3)
        assert (await home.ended()).outcome == "green"
        assert await owners(home) == ["alice", "carol", "carol"]


async def test_a_repair_after_a_strangers_push_is_nobodys_own_whatever_author_the_commit_names(tmp_path: Path) -> None:
    async with opened(tmp_path, REPAIRS) as home:
        await home.account(name="everybodys")
        alice = {"name": "alice", "email": home.local.user("alice").noreply}
        number = await asked(home, "make it right")
        await pushed_by(home, "carol", "conftest.py", author=alice, committer=alice)
        session = await home.ended()
        assert session.outcome == "green"
        commits = await home.get(f"pulls/{session.pull_number}/commits")
        assert "carol" not in {each["author"]["login"] for each in commits if each["author"]}
        assert [(account, person) for account, person, _ in await used(home)] == [
            ("alice", "alice"),
            ("alice", "alice"),
            ("everybodys", "nobody"),
        ]
        assert [each["resumed"] for each in seen(home)] == [False, True, False]
        (said,) = await home.bot_comments(number)
        assert "alice is not the only one: carol pushed since then: the repair runs in the installation's box" in said


@pytest.mark.parametrize("why", ["the settings say so", "the installation has no account"])
async def test_a_repair_after_a_strangers_push_waits_for_a_word_where(tmp_path: Path, why: str) -> None:
    waits = why == "the settings say so"
    yml = "autofix: {after_others_push: wait}\n" if waits else ""
    async with opened(tmp_path, REPAIRS, yml=yml) as home:
        if waits:
            await home.account(name="everybodys")
        number = await asked(home, "make it right")
        await pushed_by(home, "carol", "conftest.py")
        session = await home.ended()
        assert (session.status, session.reason) == ("failed", "others_pushed")
        (said,) = await home.bot_comments(number)
        assert "carol pushed since then" in said
        assert ("has no account for it" in said) is not waits
        await home.comment(number, "@greenloop retry", login="carol")
        await home.turn_ended(3)
        assert await owners(home) == ["alice", "alice", "carol"]


async def test_a_conflict_with_a_strangers_push_is_resolved_in_nobodys_own_box(tmp_path: Path) -> None:
    async with opened(tmp_path, REPAIRS) as home:
        await home.account(name="everybodys")
        await asked(home, "make it right")
        await pushed_by(home, "carol", "value.txt", "hers")
        await home.ended()
        found = await home.turns()
        assert [turn.trigger for turn in found][:3] == ["mention", "checks", "conflict"]
        assert (await owners(home))[:3] == ["alice", "alice", "nobody"]


async def test_red_checks_on_somebodys_pull_request_are_theirs_only_while_they_alone_push_there(tmp_path: Path) -> None:
    yml = "autofix: {pull_requests: all}\n"
    acts = "pathlib.Path('value.txt').write_text('right'); done()"
    async with opened(tmp_path, acts, yml=yml, files={"value.txt": "right"}) as home:
        await home.account(name="everybodys")
        main = (await home.get("git/ref/heads/main"))["object"]["sha"]
        for login, branch, other in (("alice", "hers", "alice"), ("carol", "shared", "alice")):
            await home.post(login, "git/refs", {"ref": f"refs/heads/{branch}", "sha": main})
            await push(home, "other.txt", "x", branch, login)
            await push(home, "value.txt", "wrong", branch, other)
            await home.post(login, "pulls", {"title": branch, "head": branch, "base": "main"})
        await home.ended(sessions=2)
        sessions = {each.id: each.branch for each in await home.sessions()}
        turns = [sessions[turn.session_id] for turn in await home.turns()]
        assert dict(zip(turns, await owners(home), strict=True)) == {"hers": "alice", "shared": "nobody"}

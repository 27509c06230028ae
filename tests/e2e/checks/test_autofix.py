"""Red checks that nobody mentioned us for: on the default branch, and on pull requests that are watched."""

import base64
import json
from pathlib import Path
from typing import Any

from sqlalchemy import select

from loops.store.tables import Attempt, Delivery
from tests.e2e.acts import deliver_again
from tests.e2e.house import House, house

RIGHT = "pathlib.Path('value.txt').write_text('right')"
LINT = """
name: Lint
on: [push]
jobs:
  {jobs}
"""


def settings(**autofix: Any) -> dict[str, str]:
    return {".github/greenloop.yml": json.dumps({"autofix": autofix})}


GREEN = {"value.txt": "right"}


async def push(home: House, path: str, content: str, branch: str = "main") -> str:
    known = await home.http("alice").get(f"/repos/acme/widgets/contents/{path}", params={"ref": branch})
    body = {"message": f"Change {path}", "content": base64.b64encode(content.encode()).decode(), "branch": branch}
    more = {"sha": known.json()["sha"]} if known.is_success else {}
    return str((await home.post("alice", f"contents/{path}", body | more, method="PUT"))["commit"]["sha"])


async def tip(home: House) -> str:
    return str((await home.get("git/ref/heads/main"))["object"]["sha"])


async def pull(home: House, labels: tuple[str, ...] = ()) -> int:
    """A pull request by Alice from a branch of the repository, red."""
    await home.post("alice", "git/refs", {"ref": "refs/heads/topic", "sha": await tip(home)})
    await push(home, "value.txt", "wrong", "topic")
    body = {"title": "Alice's change", "head": "topic", "base": "main", "body": "nothing is asked for here"}
    number = int((await home.post("alice", "pulls", body))["number"])
    if labels:
        await home.post("alice", f"issues/{number}/labels", {"labels": list(labels)})
    return number


async def attempts(home: House) -> list[Attempt]:
    async with home.database.read() as tx:
        return list((await tx.execute(select(Attempt).order_by(Attempt.id))).scalars())


async def refused(home: House, said: str) -> None:
    """Wait for the news of a failure that is left alone for this reason."""

    async def look() -> bool:
        async with home.database.read() as tx:
            found = (await tx.execute(select(Delivery.reason).where(Delivery.decision == "ignored"))).scalars()
            return any(said in (reason or "") for reason in found)

    await home.until(look)


async def test_a_red_default_branch_gets_a_branch_and_a_pull_request_of_its_own(tmp_path: Path) -> None:
    jobs = "\n  ".join(
        f"lint{n}: {{runs-on: ubuntu-latest, steps: [{{uses: actions/checkout@v4}}, {{run: grep right value.txt}}]}}"
        for n in range(4)
    )
    files = settings(default_branch=True) | {".github/workflows/lint.yml": LINT.format(jobs=jobs)}
    async with house(tmp_path, files=files) as home:
        home.agent(f"time.sleep(1); {RIGHT}")
        red = await push(home, "other.txt", "x")
        session = await home.ended()
        found = await home.get(f"pulls/{session.pull_number}")
        assert (session.subject_kind, session.owner_id, session.outcome) == ("branch", None, "green")
        assert (found["base"]["ref"], found["head"]["ref"]) == ("main", "greenloop/repair-the-checks-of-main")
        assert (await home.get("git/ref/heads/main"))["object"]["sha"] == red
        assert [each.head_sha for each in await attempts(home)] == [red]
        assert len(await home.bot_comments(session.pull_number or 0)) == 1

        assert await deliver_again(home, "check_suite", "check_run", "workflow_run") > 5
        again = await home.ended()
        assert (again.id, again.outcome, again.head_sha) == (session.id, "green", session.head_sha)
        assert len(await attempts(home)) == len(await home.turns()) == 1


async def test_the_next_red_commit_of_the_default_branch_goes_into_the_repair_that_is_open(tmp_path: Path) -> None:
    async with house(tmp_path, files=settings(default_branch=True)) as home:
        home.agent(RIGHT)
        await push(home, "one.txt", "x")
        first = await home.ended()
        home.agent(f"assert pathlib.Path('two.txt').exists(); {RIGHT}")
        red = await push(home, "two.txt", "x")

        async def tried() -> bool:
            return len(await attempts(home)) == 2

        await home.until(tried)
        session = await home.ended()
        assert (session.id, session.pull_number, session.outcome) == (first.id, first.pull_number, "green")
        tip = await home.get(f"commits/{session.head_sha}")
        assert [each["sha"] for each in tip["parents"]] == [first.head_sha, red]


async def test_a_default_branch_that_stays_red_ends_without_progress_and_costs_no_more(tmp_path: Path) -> None:
    async with house(tmp_path, files=settings(default_branch=True)) as home:
        home.agent("print('no idea')")
        for count, expected in ((1, 1), (2, 2), (3, 2)):
            await push(home, f"{count}.txt", "x")
            session = await home.ended(sessions=count)
            assert (session.status, session.reason) == ("failed", "no_progress")
            assert len(await attempts(home)) == expected


async def test_without_the_setting_a_red_default_branch_is_left_alone(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        await push(home, "other.txt", "x")
        await refused(home, "`autofix.default_branch` is off")
        assert await home.sessions() == []


async def test_a_red_pull_request_is_repaired_in_place_where_all_are_watched(tmp_path: Path) -> None:
    async with house(tmp_path, files=GREEN | settings(pull_requests="all", authors=["ali*"])) as home:
        home.agent(RIGHT)
        number = await pull(home)
        session = await home.ended()
        login = home.local.user("alice").id
        assert (session.outcome, session.pull_number, session.branch) == ("green", number, "topic")
        assert (session.owner_id, session.own_branch, session.trigger) == (login, False, "checks")
        assert len(await home.get("pulls?state=all")) == 1
        assert len(await attempts(home)) == 1
        await deliver_again(home, "check_suite", "check_run")
        assert len(await attempts(home)) == 1


async def test_only_labelled_pull_requests_are_watched_where_the_repository_says_so(tmp_path: Path) -> None:
    async with house(tmp_path, files=GREEN | settings(pull_requests="labeled"), label="mend") as home:
        number = await pull(home)
        await refused(home, "does not have the label `mend`")
        home.agent(RIGHT)
        home.local.set_permission("acme/widgets", "bob", "triage")
        await home.post("bob", f"issues/{number}/labels", {"labels": ["mend"]})
        (labelled,) = [each for each in await home.handled("pull_request", 2) if each.action == "labeled"]
        assert "bob has no write access" in (labelled.reason or "")
        await push(home, "again.txt", "x", "topic")
        session = await home.ended()
        assert (session.pull_number, session.trigger, session.outcome) == (number, "checks", "green")


async def test_repairs_of_a_watched_pull_request_are_switched_off_and_on_by_word(tmp_path: Path) -> None:
    async with house(tmp_path, files=GREEN | settings(pull_requests="all")) as home:
        home.agent(RIGHT)
        await home.post("alice", "git/refs", {"ref": "refs/heads/topic", "sha": await tip(home)})
        await push(home, "more.txt", "x", "topic")
        body = {"title": "Alice's change", "head": "topic", "base": "main"}
        number = int((await home.post("alice", "pulls", body))["number"])
        await home.comment(number, "@greenloop autofix off")
        await home.handled("issue_comment")
        await push(home, "value.txt", "wrong", "topic")
        await refused(home, "repairs are switched off here")
        await home.comment(number, "**@greenloop** autofix on")
        await home.handled("issue_comment", 2)
        await push(home, "again.txt", "x", "topic")

        async def begun() -> bool:
            return any(session.trigger == "checks" for session in await home.sessions())

        await home.until(begun)
        session = await home.ended()
        assert (session.outcome, session.pull_number, len(await attempts(home))) == ("green", number, 1)


async def test_a_red_check_that_does_not_count_begins_nothing(tmp_path: Path) -> None:
    ignoring = json.dumps({"autofix": {"pull_requests": "all"}, "checks": {"ignore": ["te*"]}})
    async with house(tmp_path, files=GREEN | {".github/greenloop.yml": ignoring}) as home:
        number = await pull(home)
        await refused(home, "nothing that counts is red")
        assert (await home.sessions(), await home.bot_comments(number)) == ([], [])


async def test_a_pull_request_that_is_not_watched_is_left_alone_with_the_reason(tmp_path: Path) -> None:
    for name, autofix, said in (
        ("ours", {}, "is `ours`"),
        ("off", {"pull_requests": "off"}, "is off"),
        ("authors", {"pull_requests": "all", "authors": ["bob"]}, "`autofix.authors`"),
    ):
        async with house(tmp_path / name, files=GREEN | settings(**autofix)) as home:
            await pull(home)
            await refused(home, said)
            assert await home.sessions() == []

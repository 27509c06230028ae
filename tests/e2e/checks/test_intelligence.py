"""What the loop makes of red checks: whose they are, what another attempt can do, and when it stops."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.e2e.acts import GROW, RIGHT, asked, content, push, runs
from tests.e2e.house import CHECK, House, house


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path) as opened:
        yield opened


async def test_what_is_red_on_the_base_branch_too_is_said_and_not_repaired(home: House) -> None:
    await push(home, "readme.txt", "a push that runs the checks of main")
    await home.local.idle()
    home.agent("pathlib.Path('page.txt').write_text('page')")
    number = await asked(home, "add a page")
    session = await home.ended()
    (comment,) = await home.bot_comments(number)
    assert (session.reason, len(await home.turns())) == ("base_red", 1)
    assert "Red in the same way on the base branch: `test`" in comment
    assert "I leave it alone" in comment


async def test_a_failure_of_ours_behind_many_of_the_base_branch_is_found_and_repaired(tmp_path: Path) -> None:
    old = {f"old-{n:02}": f"echo 'error part {n} was never right' && exit {n}" for n in range(1, 15)}
    jobs = "".join(
        f"  {name}:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: {run}\n"
        for name, run in {**old, "value": CHECK}.items()
    )
    files = {".github/workflows/ci.yml": f"name: CI\non: [push, pull_request]\njobs:\n{jobs}", "value.txt": "right"}
    async with house(tmp_path, run=None, files=files) as home:
        await push(home, "readme.txt", "a push that runs the checks of main")
        await home.local.idle()
        home.agent("pathlib.Path('value.txt').write_text('right' if 'failed on' in prompt else 'wrong')")
        await asked(home, "add a page")
        session = await home.ended()
        assert (session.reason, len(await home.turns())) == ("base_red", 2)
        assert await content(home, "value.txt", session.branch or "") == "right"


async def test_what_turned_red_on_the_base_branch_meanwhile_is_not_ours_either(home: House) -> None:
    home.agent("wait(); pathlib.Path('page.txt').write_text('page')")
    await asked(home, "add a page")
    await runs(home)
    await push(home, "readme.txt", "a push that runs the checks of main")
    await home.local.idle()
    home.let_go()
    assert (await home.ended()).reason == "base_red"


async def test_what_is_red_on_the_base_branch_is_repaired_for_who_asks_for_it(home: House) -> None:
    await push(home, "readme.txt", "a push that runs the checks of main")
    await home.local.idle()
    home.agent(f"pathlib.Path('page.txt').write_text('page'); {RIGHT} if 'failed on' in prompt else None")
    await asked(home, "add a page and fix the failing checks")
    assert ((await home.ended()).outcome, len(await home.turns())) == ("green", 2)


async def test_the_same_failure_after_two_attempts_ends_the_loop(tmp_path: Path) -> None:
    async with house(tmp_path, run="'echo always the same; exit 3'", cap=5) as home:
        home.agent(GROW)
        number = await asked(home, "make it right")
        session = await home.ended()
        assert (session.reason, [turn.trigger for turn in await home.turns()]) == (
            "no_progress",
            ["mention", "checks", "checks"],
        )
        assert "What fails did not change" in (await home.bot_comments(number))[0]


async def test_an_attempt_that_changes_nothing_ends_the_loop(home: House) -> None:
    home.agent("None if 'failed on' in prompt else pathlib.Path('page.txt').write_text('page')")
    await asked(home, "add a page")
    assert ((await home.ended()).reason, len(await home.turns())) == ("no_progress", 2)


LOST = '\'test -e {mark} || (touch {mark}; echo "npm error code ECONNRESET"; echo "npm error network reset"; exit 1)\''


async def test_a_failure_of_the_machinery_is_run_again_before_an_attempt_is_spent(tmp_path: Path) -> None:
    async with house(tmp_path, run=LOST.format(mark=tmp_path / "mark-$GITHUB_EVENT_NAME")) as home:
        home.agent(RIGHT)
        number = await asked(home, "make it right")
        session = await home.ended()
        assert (session.outcome, len(await home.turns())) == ("green", 1)
        assert "fault of the machinery" in (await home.bot_comments(number))[0]
        attempts = {run.id: run.attempt for run in home.local.store.runs if run.head_sha == session.head_sha}
        assert set(attempts.values()) == {2}


async def test_a_failure_of_the_machinery_that_stays_is_run_again_once_only(tmp_path: Path) -> None:
    always = '\'echo "npm error code ECONNRESET"; echo "npm error network reset"; exit 1\''
    async with house(tmp_path, run=always, cap=1) as home:
        home.agent(GROW)
        await asked(home, "make it right")
        session = await home.ended()
        assert (session.reason, len(await home.turns())) == ("cap_reached", 2)
        runs_of_ours = [run.attempt for run in home.local.store.runs if run.event == "pull_request"]
        assert runs_of_ours == [2, 2]


async def test_after_the_cap_a_persons_mention_still_works_and_counts_anew(tmp_path: Path) -> None:
    async with house(tmp_path, cap=1) as home:
        home.agent(GROW)
        number = await asked(home, "make it right")
        first = await home.ended()
        assert (first.reason, len(await home.turns())) == ("cap_reached", 2)
        home.agent(f"{RIGHT} if 'failed on' in prompt else pathlib.Path('more.txt').write_text('more')")
        await home.comment(number, "@greenloop more please")
        await home.handled("issue_comment", 2)
        session = await home.ended()
        assert (session.id, session.outcome) == (first.id, "green")
        assert [turn.trigger for turn in await home.turns()] == ["mention", "checks", "mention", "checks"]


async def conflicting(home: House, agent: str) -> tuple[int, str]:
    """A second turn of an open pull request during which Alice pushes another change of the same line."""
    home.agent(RIGHT)
    number = await asked(home, "make it right", "Make it right")
    first = await home.ended()
    head = f"if 'was merged into this branch' in prompt:\n    {agent}\nelse:\n    wait()\n"
    home.agent(head + "    pathlib.Path('lines.txt').write_text('ours')")
    await home.comment(number, "@greenloop write lines.txt")
    await runs(home)
    await push(home, "lines.txt", "hers", first.branch or "")
    home.let_go()
    return number, first.branch or ""


async def test_a_push_that_conflicts_becomes_one_turn_with_both_sides_in_the_box(home: House) -> None:
    resolve = "text = pathlib.Path('lines.txt').read_text(); assert 'hers' in text and 'ours' in text; "
    _, branch = await conflicting(home, resolve + "pathlib.Path('lines.txt').write_text('hers and ours')")
    session = await home.ended()
    assert session.outcome == "green", await home.describe()
    assert [turn.kind for turn in await home.turns()] == ["issue", "issue", "conflict"]
    assert await content(home, "lines.txt", branch) == "hers and ours"
    messages = [each["commit"]["message"] for each in await home.get(f"commits?sha={branch}")]
    assert any(message == "Change lines.txt" for message in messages)


@pytest.mark.parametrize("agent", ["pass", "pathlib.Path('other.txt').write_text('x')"])
async def test_a_conflict_that_the_agent_leaves_is_handed_back_and_her_commit_stays(home: House, agent: str) -> None:
    number, branch = await conflicting(home, agent)
    session = await home.ended()
    assert (session.reason, await content(home, "lines.txt", branch)) == ("push_refused", "hers")
    comment = (await home.bot_comments(number))[0]
    assert "`lines.txt`" in comment
    assert "The conflict is handed back" in comment


async def test_a_force_push_during_a_turn_is_left_as_it_is(home: House) -> None:
    home.agent(RIGHT)
    number = await asked(home, "make it right")
    first = await home.ended()
    home.agent("wait(); pathlib.Path('more.txt').write_text('more')")
    await home.comment(number, "@greenloop add more.txt")
    await runs(home)
    base = (await home.get("git/ref/heads/main"))["object"]["sha"]
    where = f"git/refs/heads/{first.branch}"
    made = await home.post(
        "alice",
        "git/commits",
        {"message": "Mine", "tree": (await home.get(f"git/commits/{base}"))["tree"]["sha"], "parents": [base]},
    )
    await home.post("alice", where, {"sha": made["sha"], "force": True}, method="PATCH")
    home.let_go()
    session = await home.ended()
    assert (session.reason, (await home.get(f"git/ref/heads/{first.branch}"))["object"]["sha"]) == (
        "push_refused",
        made["sha"],
    )
    assert "force-pushed" in (await home.bot_comments(number))[0]

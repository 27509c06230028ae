"""Workflow runs that nobody has let begin: who has to press what is said at once, and that it came late is no loss."""

from pathlib import Path

import pytest

from tests.e2e.acts import RIGHT, asked, comment_says, push
from tests.e2e.checks.test_checks import later
from tests.e2e.checks.test_expected import FORMATTER, ONCE, reported
from tests.e2e.house import CHECK, REPOSITORY, House, house
from tests.workflows import workflow

PULLS_ONLY = {".github/workflows/ci.yml": workflow(CHECK).replace("[push, pull_request]", "pull_request")}
PRESS = "*Approve workflows to run*"


async def approve(home: House) -> None:
    """Alice lets every run go that waits for it."""
    for run in (await home.get("actions/runs"))["workflow_runs"]:
        if run["conclusion"] == "action_required":
            await home.post("alice", f"actions/runs/{run['id']}/approve", {})


async def test_runs_with_required_jobs_that_wait_for_an_approval_are_told_at_once_and_go_on_when_it_comes(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, run=None, files=PULLS_ONLY) as home:
        home.local.protect(REPOSITORY, "main", ["test"])
        home.local.add_fault("ci_approval", event="pull_request")
        home.agent(RIGHT)
        number = await asked(home, "make it right")
        await comment_says(
            home, number, "✋ A person has to approve checks", "`CI` waits for a person's approval", PRESS
        )
        await approve(home)
        session = await home.ended()
    assert (session.outcome, session.pull_draft) == ("green", False)


@pytest.mark.parametrize("value", ["right", "wrong"])
async def test_an_approval_that_comes_after_the_end_opens_the_watch_again(tmp_path: Path, value: str) -> None:
    async with house(tmp_path, run=None, files=PULLS_ONLY) as home:
        home.local.add_fault("ci_approval", event="pull_request.opened")
        home.agent(f"if 'failed on' in prompt: {RIGHT}\nelse: pathlib.Path('value.txt').write_text({value!r} + '\\n')")
        number = await asked(home, "make it right")
        await comment_says(home, number, "✋ A person has to approve checks")
        await later(home, 3)
        first = await home.ended()
        assert (first.status, first.reason) == ("failed", "checks_unapproved")
        await comment_says(home, number, "nobody has given it", "`CI` waits for a person's approval", PRESS)
        await approve(home)
        await comment_says(home, number, "Done: all checks are green")
        session = await home.ended()
        turns = [turn.kind for turn in await home.turns()]
        (told,) = await home.bot_comments(number)
    assert (session.id, session.outcome) == (first.id, "green")
    assert turns == (["issue"] if value == "right" else ["issue", "checks"])
    assert "waits for a person's approval" not in told


async def test_a_required_check_that_reports_after_the_end_opens_the_watch_again(tmp_path: Path) -> None:
    async with house(tmp_path, run=None) as home:
        home.local.protect(REPOSITORY, "main", ["nightly", "weekly"])
        home.agent(RIGHT)
        number = await asked(home, "make it right")
        await comment_says(home, number, "Waiting for required `nightly`, `weekly`")
        await later(home, 3)
        first = await home.ended()
        assert (first.status, first.reason) == ("failed", "checks_never_settled")
        await reported(home, first.head_sha, context="nightly")
        (noted,) = await home.handled("status")
        words = f"what is waited for on {(first.head_sha or '')[:12]} has not come yet"
        assert (noted.decision, noted.reason) == ("ignored", words)
        await reported(home, first.head_sha, context="weekly")
        await comment_says(home, number, "Done: all checks are green")
        session = await home.ended()
    assert (session.id, session.outcome) == (first.id, "green")


async def test_runs_of_a_head_that_a_workflow_pushed_to_a_persons_branch_wait_for_their_approval(
    tmp_path: Path,
) -> None:
    formatter = (FORMATTER % f"grep -q right value.txt && {ONCE}").replace("greenloop/**", "topic")
    files = {**PULLS_ONLY, ".github/workflows/format.yml": formatter}
    async with house(tmp_path, run=None, files=files) as home:
        main = (await home.get("git/ref/heads/main"))["object"]["sha"]
        await home.post("alice", "git/refs", {"ref": "refs/heads/topic", "sha": main})
        await push(home, "other.txt", "x", "topic")
        pull = await home.post("alice", "pulls", {"title": "Mine", "head": "topic", "base": "main"})
        home.agent(RIGHT)
        await home.comment(pull["number"], "@greenloop make it right")
        await comment_says(home, pull["number"], "✋ A person has to approve checks", PRESS)
        await approve(home)
        session = await home.ended()
    assert session.outcome == "green"

"""What a session stands on changes while it works: branches, pull requests, comments and owners."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from github.emulator.acts import comments, pulls, repositories
from loops.store.tables import Session
from tests.e2e.acts import RIGHT, runs
from tests.e2e.house import REPOSITORY, House, house

MORE = "pathlib.Path('more.txt').write_text('more')"


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path) as opened:
        yield opened


def rename_main(home: House) -> None:
    """The default branch is called `trunk` from now on; GitHub moves open pull requests along."""
    hub, row, owner = home.local.hub, home.local.repository(REPOSITORY), home.local.user("acme")

    def act() -> None:
        row.git.run("update-ref", "refs/heads/trunk", "refs/heads/main")
        repositories.changed(hub.forge, row, owner, {"default_branch": "trunk"})
        for pull in home.local.store.pulls:
            pulls.base_changed(hub.forge, pull, "trunk", owner)
        row.git.run("update-ref", "-d", "refs/heads/main")

    home.local.call(act)


async def goes_on(home: House, number: int) -> Session:
    """A second request in the conversation: its session, once that has ended."""
    home.agent(MORE)
    await home.comment(number, "@greenloop more")
    await home.handled("issue_comment", 2)
    return await home.ended()


async def test_a_default_branch_that_is_renamed_during_a_turn_gets_the_pull_request_and_the_next_turn(
    home: House,
) -> None:
    home.agent(f"wait(); {RIGHT}")
    number = await home.issue()
    await home.comment(number, "@greenloop fix it")
    await runs(home)
    rename_main(home)
    home.let_go()
    first = await home.ended()
    assert (first.outcome, (await home.get(f"pulls/{first.pull_number}"))["base"]["ref"]) == ("green", "trunk")
    second = await goes_on(home, number)
    assert (second.id, second.outcome, second.base_branch) == (first.id, "green", "trunk")


async def test_a_conversation_goes_on_after_its_default_branch_was_renamed(home: House) -> None:
    home.agent(RIGHT)
    number = await home.issue()
    await home.comment(number, "@greenloop fix it")
    first = await home.ended()
    rename_main(home)
    second = await goes_on(home, number)
    assert (second.pull_number, second.outcome, second.base_branch) == (first.pull_number, "green", "trunk")


async def test_a_base_that_was_asked_for_and_is_deleted_during_the_turn_is_said_at_once(home: House) -> None:
    tip = (await home.get("git/ref/heads/main"))["object"]["sha"]
    await home.post("alice", "git/refs", {"ref": "refs/heads/topic", "sha": tip})
    home.agent(f"wait(); {RIGHT}")
    number = await home.issue()
    await home.comment(number, "@greenloop fix it --base topic")
    await runs(home)
    await home.post("alice", "git/refs/heads/topic", {}, method="DELETE")
    home.let_go()
    session = await home.ended()
    assert (session.status, session.reason) == ("failed", "push_refused")
    assert "into 'topic'" in (await home.bot_comments(number))[0]


async def test_a_pull_request_that_was_closed_during_a_turn_stays_closed_though_the_webhook_got_lost(
    home: House,
) -> None:
    home.agent(RIGHT)
    number = await home.issue()
    await home.comment(number, "@greenloop fix it")
    first = await home.ended()
    home.agent(f"wait(); {MORE}")
    await home.comment(number, "@greenloop more")
    await runs(home)
    for event in ("push", "delete", "pull_request"):
        home.local.add_fault("drop", event=event)
    await home.post("alice", f"git/refs/heads/{first.branch}", {}, method="DELETE")
    home.let_go()
    session = await home.ended()
    told = (session.status, session.reason, session.pull_state)
    assert told == ("cancelled", "the pull request was closed", "closed")
    assert home.local.repository(REPOSITORY).git.resolve(f"refs/heads/{first.branch}") is None


async def test_a_comment_whose_deletion_arrives_before_itself_starts_nothing(home: House) -> None:
    home.agent(RIGHT)
    number = await home.issue()
    home.local.add_fault("delay", event="issue_comment.created", seconds=1.0, times=1)
    asked = await home.comment(number, "@greenloop fix it")
    await home.post("alice", f"issues/comments/{asked}", {}, method="DELETE")
    session = await home.ended()
    assert (session.status, session.reason) == ("cancelled", "the comment that asked was deleted")
    assert [turn.started_at for turn in await home.turns()] == [None]


async def test_a_transferred_repository_ends_its_sessions_and_its_new_owner_begins_anew(home: House) -> None:
    home.agent(f"wait(); {RIGHT}")
    number = await home.issue()
    await home.comment(number, "@greenloop fix it")
    await runs(home)
    hub, row, owner = home.local.hub, home.local.repository(REPOSITORY), home.local.user("acme")
    umbrella = home.local.add_organization("umbrella")
    home.local.call(lambda: repositories.transferred(hub.forge, row, umbrella, owner))
    first = await home.ended()
    assert (first.status, first.reason) == ("cancelled", "the App lost access to the repository")
    installation = home.local.install("umbrella", ["umbrella/widgets"])
    home.agent(RIGHT)
    issue = home.local.store.issue(row, number)
    assert issue is not None
    home.local.call(lambda: comments.created(hub.forge, issue, home.local.user("alice"), "@greenloop once more"))
    await home.handled("issue_comment", 2)
    second = await home.ended(sessions=2)
    assert (second.outcome, second.installation_id) == ("green", installation.id)
    assert first.installation_id == home.installation

"""The whole loop on a GitHub that is late in everything: what was written, the runs of a push, the webhooks."""

from pathlib import Path

import pytest

from github.emulator.faults import LAGS
from github.publishing import publish
from loops.store.tables import Session
from tests.e2e.acts import asked
from tests.e2e.house import House, house

HALF = """
if "failed on" in prompt:
    pathlib.Path("value.txt").write_text("right")
else:
    pathlib.Path("value.txt").write_text("half")
"""


async def ended_green(home: House) -> Session:
    """Two turns, a commit of each on one branch, one pull request that is ready, one comment, and nothing doubled."""
    home.agent(HALF)
    number = await asked(home, "make it right")
    session = await home.ended()
    turns = await home.turns()
    assert (session.outcome, [turn.kind for turn in turns]) == ("green", ["issue", "checks"]), await home.describe()
    (pull,) = await home.get("pulls?state=all")
    home.local.hub.faults.clear()
    commits = await home.get(f"pulls/{pull['number']}/commits")
    assert [each["sha"] for each in commits] == [turn.commit_sha for turn in turns]
    assert (pull["draft"], pull["number"], pull["head"]["sha"]) == (False, session.pull_number, session.head_sha)
    comments = await home.bot_comments(number)
    assert len(comments) == 1 and "all checks are green" in comments[0]
    ours = [run for run in home.local.store.check_runs if run.name == "Greenloop"]
    assert len(ours) == 2
    return session


@pytest.mark.parametrize("what", LAGS)
async def test_what_was_just_written_may_be_invisible_for_some_calls(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish, "VISIBLE_AFTER", ())  # so that the whole step is tried again, as after long lags
    async with house(tmp_path) as home:
        home.local.hub.faults.lag(what, calls=3)
        await ended_green(home)


async def test_everything_may_be_late_at_once_and_a_webhook_lost(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        faults = home.local.hub.faults
        faults.lag("*", seconds=3)
        faults.ci_delay(4)
        faults.lost("webhook", event="check_suite.completed")
        faults.lost("webhook", event="pull_request.opened")
        await ended_green(home)


@pytest.mark.parametrize("event", ["check_run", "check_suite", "workflow_run", "push", "pull_request"])
async def test_no_kind_of_news_has_to_come(tmp_path: Path, event: str) -> None:
    async with house(tmp_path) as home:
        home.local.hub.faults.lost("webhook", times=None, event=event)
        home.local.hub.faults.ci_delay(2)
        await ended_green(home)

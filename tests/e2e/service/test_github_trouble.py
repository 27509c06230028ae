"""GitHub as it is on bad days: webhooks get lost, limits are met, and the world changes under a session."""

import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.process.wiring import open_loop
from github.client import permanent_errors
from github.emulator.acts import installations, repositories
from github.emulator.options import EmulatorOptions
from loops.conversations.cancelling import cancel
from loops.deliveries.missed_deliveries import redeliver_missed
from loops.store.locking import locked
from loops.store.tables import Delivery, Installation, Session
from tests.e2e.house import REPOSITORY, House, house

RIGHT = "pathlib.Path('value.txt').write_text('right')"


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path) as opened:
        yield opened


async def running(home: House) -> None:
    async def look() -> bool:
        return any(turn.status == "running" for turn in await home.turns())

    await home.until(look)


async def test_webhooks_that_were_lost_while_we_were_down_are_found_and_asked_for_again(home: House) -> None:
    home.agent(RIGHT)
    number = await home.issue(body="@greenloop please")
    await home.ended()
    url = home.local.app.hook.url
    home.local.set_webhook("http://127.0.0.1:9/webhooks/github")
    home.agent("pathlib.Path('more.txt').write_text('more')")
    await home.comment(number, "@greenloop add more.txt")
    await home.post("alice", f"issues/{number}/labels", {"labels": ["bug"]})
    await home.local.idle()
    home.local.set_webhook(url)
    async with open_loop(home.settings, home.settings.redis_url, "the other worker") as loop:
        assert await redeliver_missed(loop) == 0
        later = replace(loop, clock=lambda: loop.clock() + 120)
        assert await redeliver_missed(later) >= 2
        await home.handled("issue_comment")
        assert await redeliver_missed(later) == 0
    session = await home.ended()
    assert (session.outcome, [turn.status for turn in await home.turns()]) == ("green", ["done", "done"])


async def test_limits_lags_and_lost_answers_delay_a_session_and_double_nothing(home: House) -> None:
    home.agent(RIGHT)
    number = await home.issue()
    await home.comment(number, "@greenloop fix it")
    home.local.add_fault("token_lag", calls=1, times=3)
    home.local.add_fault("secondary_limit", method="POST", path="*/comments", times=2, status=403, retry_after=1)
    home.local.add_fault("secondary_limit", method="POST", path="*/git/trees", times=1, status=429, retry_after=1)
    home.local.add_fault("lost_answer", method="POST", path="*/pulls", times=1, status=502)
    home.local.add_fault("lost_answer", method="POST", path="*/git/refs", times=1, status=502)
    home.local.add_fault("error", method="POST", path="/graphql", times=3, status=503)
    home.local.add_fault("error", method="GET", path="*/check-runs", times=2, status=503)
    session = await home.ended()
    assert session.outcome == "green"
    assert len(await home.get("pulls?state=all")) == len(await home.bot_comments(number)) == 1
    assert len(await home.turns()) == 1


async def test_a_repository_that_is_renamed_during_a_turn_gets_its_pull_request_under_the_new_name(home: House) -> None:
    home.agent(f"wait(); {RIGHT}")
    await home.comment(await home.issue(), "@greenloop fix it")
    await running(home)
    row, alice = home.local.repository(REPOSITORY), home.local.user("alice")
    home.local.call(lambda: repositories.renamed(home.local.hub.forge, row, "gadgets", alice))
    home.let_go()
    session = await home.ended()
    pulls = (await home.http("alice").get("/repos/acme/gadgets/pulls")).json()
    assert (session.outcome, [each["number"] for each in pulls]) == ("green", [session.pull_number])


async def test_an_archived_repository_ends_its_sessions_and_a_mention_there_is_no_work(home: House) -> None:
    home.agent(f"time.sleep(60); {RIGHT}")
    await home.comment(await home.issue(), "@greenloop fix it")
    await running(home)
    row, alice = home.local.repository(REPOSITORY), home.local.user("alice")
    home.local.call(lambda: repositories.archived(home.local.hub.forge, row, True, alice))
    session = await home.ended()
    assert session.status == "cancelled" and "the repository was archived" in (session.reason or "")
    assert session.pull_number is None


async def test_a_suspended_installation_ends_its_sessions_and_one_that_is_back_works(home: House) -> None:
    home.agent(f"time.sleep(60); {RIGHT}")
    number = await home.issue()
    await home.comment(number, "@greenloop fix it")
    await running(home)
    (installation,) = home.local.store.installations
    owner = home.local.user("acme")
    home.local.call(lambda: installations.suspended(home.local.hub.forge, installation, owner))
    session = await home.ended()
    assert session.status == "cancelled" and "the App was suspended" in (session.reason or "")
    home.local.call(lambda: installations.unsuspended(home.local.hub.forge, installation, owner))
    home.agent(RIGHT)
    await home.comment(number, "@greenloop once more")
    await home.handled("issue_comment", 2)
    assert (await home.ended()).outcome == "green"


async def test_a_refusal_on_the_way_to_its_end_does_not_change_why_a_session_ends(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(permanent_errors, "PERMANENT_TRIES", 1)
    home.agent(f"time.sleep(60); {RIGHT}")
    await home.comment(await home.issue(), "@greenloop fix it")
    await running(home)
    (session,) = await home.sessions()
    async with home.database.write() as tx:
        await cancel(tx, await locked(tx, Session, session.id), "alice", time.time())
    (installation,) = home.local.store.installations
    installation.suspended_at = home.local.hub.clock.now()
    session = await home.ended()
    assert (session.status, session.reason) == ("cancelled", "cancelled by alice")


async def test_a_suspension_whose_webhook_got_lost_is_learnt_from_the_refusal(home: House) -> None:
    number = await home.issue()
    await home.comment(number, "@greenloop help")
    (known,) = await home.handled("issue_comment")
    (installation,) = home.local.store.installations
    installation.suspended_at = home.local.hub.clock.now()
    async with home.database.write() as tx:
        again = {name: getattr(known, name) for name in ("event", "action", "installation_id", "repository_id", "body")}
        tx.add(Delivery(guid="lost", received_at=1.0, status="new", tries=0, due_at=1.0, wake=0, **again))
    told = next(each for each in await home.handled("issue_comment", 2) if each.guid == "lost")
    async with home.database.read() as tx:
        row = await tx.get_one(Installation, installation.id)
    assert told.decision == "failed" and "suspended" in (told.reason or "")
    assert row.suspended_at is not None


async def test_a_branch_that_was_deleted_is_no_place_to_work_and_the_issue_begins_anew(home: House) -> None:
    home.agent(RIGHT)
    number = await home.issue()
    await home.comment(number, "@greenloop fix it")
    first = await home.ended()
    await home.post("alice", f"git/refs/heads/{first.branch}", {}, method="DELETE")
    await home.handled("pull_request", 2)
    await home.comment(first.pull_number or 0, "@greenloop more")
    *_, refused = await home.handled("issue_comment", 2)
    assert (refused.decision, refused.reason) == ("refused", "the pull request is closed")
    assert any("Reopen it" in each for each in await home.bot_comments(first.pull_number or 0))
    await home.comment(number, "@greenloop fix it again")
    await home.handled("issue_comment", 3)
    second = await home.ended(sessions=2)
    assert (second.outcome, second.pull_number != first.pull_number) == ("green", True)


@pytest.mark.parametrize(("enterprise", "version"), [(True, "2022-11-28"), (False, "2026-03-10")])
async def test_the_loop_closes_on_an_enterprise_server_and_with_the_newer_version_of_the_api(
    tmp_path: Path, enterprise: bool, version: str
) -> None:
    options = EmulatorOptions(enterprise=enterprise)
    async with house(tmp_path, options=options, github_api_version=version) as home:
        home.agent(RIGHT)
        number = await home.issue()
        await home.comment(number, "@greenloop fix it")
        session = await home.ended()
        assert (session.outcome, home.local.api_url.endswith("/api/v3")) == ("green", enterprise)
        assert len(await home.bot_comments(number)) == 1

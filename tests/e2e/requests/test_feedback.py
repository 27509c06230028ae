"""What people see of a session, and how they steer it, from GitHub's own pages."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from k8s.boxes import BoxesUnavailable
from k8s.local import LocalBoxes
from loops.deliveries import route
from loops.requests import run
from loops.turns.preparing.prepare import UNREACHABLE
from tests.e2e.acts import GROW, RIGHT, asked, calls, comment_says, own_check, press, runs, said
from tests.e2e.house import CHECK, House, house


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path) as opened:
        yield opened


async def test_one_comment_tells_the_whole_story_from_the_first_reaction_to_the_end(tmp_path: Path) -> None:
    checked = tmp_path / "checked"
    async with house(
        tmp_path, run=f"'until test -e {checked}; do sleep 0.05; done; {CHECK}'", settle_seconds=1
    ) as home:
        made = calls(
            home, lambda method, template: method == "POST" and ("reactions" in template or "turns" in template)
        )
        bodies = said(home)
        home.agent(f"wait()\nif 'failed on' in prompt: {RIGHT}\nelse: pathlib.Path('page.txt').write_text('page')")
        number = await asked(home, "add a page")
        await comment_says(home, number, "Working")
        home.let_go()
        await comment_says(home, number, "Waiting for the checks")
        checked.touch()
        await comment_says(home, number, "Repairing: attempt 1 of 3")
        checked.unlink()
        home.let_go()
        await comment_says(home, number, "Waiting for the checks (after attempt 1 of 3)")
        checked.touch()
        session = await home.ended()
        assert made == ["POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions"]
        heads = list(dict.fromkeys(body.splitlines()[1].removeprefix("### ") for body in bodies))
        assert [head for head in heads if not head.startswith(("⏳ About to", "📤 Publishing"))] == [
            "🤖 Working",
            "🔎 Waiting for the checks",
            "🔧 Repairing: attempt 1 of 3",
            "🔎 Waiting for the checks (after attempt 1 of 3)",
            "✅ Done: all checks are green (after attempt 1 of 3)",
        ]
        passing = ("Waiting for `test`", "Waiting whether", "checks passed")
        assert not [body for body in bodies if any(each in body for each in passing)], "an edit that says nothing new"
        assert all("`@greenloop stop`" in body for body in bodies[:-1])
        (comment,) = await home.bot_comments(number)
        turns = await home.turns()
        assert all((turn.commit_sha or "?")[:7] in comment for turn in turns)
        assert f"#{session.pull_number} is ready for a review" in comment
        pull = await home.get(f"pulls/{session.pull_number}")
        assert pull["draft"] is False


async def test_the_check_run_on_the_head_has_buttons_and_the_one_on_the_former_head_is_closed(home: House) -> None:
    home.agent(f"if 'failed on' in prompt: {RIGHT}\nelse: pathlib.Path('page.txt').write_text('page')")
    await asked(home, "add a page")
    await home.ended()
    first, second = await home.turns()
    before, now = own_check(home, first.commit_sha), own_check(home, second.commit_sha)
    assert (before.status, before.conclusion, before.actions) == ("completed", "neutral", [])
    assert (now.status, now.conclusion) == ("completed", "success")
    assert [action["identifier"] for action in now.actions] == ["autofix-off"]


async def test_the_buttons_stop_and_try_again_do_what_the_words_do(home: House) -> None:
    home.agent(f"{GROW}; time.sleep(60 if 'failed on' in prompt else 0)")
    await asked(home, "make it right")

    async def repairs() -> bool:
        turns = await home.turns()
        return len(turns) == 2 and turns[1].status == "running"

    await home.until(repairs)
    head = (await home.sessions())[0].head_sha
    await press(home, head, "stop")
    session = await home.ended()
    assert (session.status, session.reason) == ("cancelled", "cancelled by alice")
    home.agent(RIGHT)
    await press(home, head, "retry")
    await home.handled("check_run", 1)

    async def tried() -> bool:
        return len(await home.turns()) == 3

    await home.until(tried)
    assert ((await home.ended()).outcome, (await home.turns())[-1].context["instruction"]) == ("green", "make it right")


async def test_repairs_are_switched_off_and_on_by_button_and_by_word(home: House) -> None:
    home.agent(f"wait(); {GROW}")
    number = await asked(home, "make it right")
    await runs(home)
    await home.comment(number, "@greenloop autofix off")
    await home.handled("issue_comment", 2)
    home.let_go()
    session = await home.ended()
    assert (session.reason, len(await home.turns())) == ("autofix_off", 1)
    sticky, answer = await home.bot_comments(number)
    assert "repairs are switched off here" in sticky
    assert "I leave red checks here alone" in answer
    await press(home, session.head_sha, "autofix-on")

    async def on() -> bool:
        return (await home.sessions())[0].options.get("autofix") is True

    await home.until(on)
    home.agent(f"if 'failed on' in prompt: {RIGHT}\nelse: {GROW}")
    await home.comment(number, "@greenloop retry")
    await home.handled("issue_comment", 3)
    assert (await home.ended()).outcome == "green", await home.describe()


async def test_status_is_answered_with_a_line_and_a_link(home: House) -> None:
    home.agent(RIGHT)
    number = await asked(home, "make it right")
    await home.ended()
    await home.comment(number, "@greenloop status")
    await home.handled("issue_comment", 2)
    _, answer = await home.bot_comments(number)
    assert "Done: all checks are green. [All of it](" in answer
    assert "#issuecomment-" in answer


async def test_stop_where_nothing_is_open_is_answered(home: House) -> None:
    number = await home.issue()
    await home.comment(number, "@greenloop stop")
    await home.handled("issue_comment")
    assert "Nothing of mine is open here" in (await home.bot_comments(number))[0]


async def test_where_drafts_do_not_exist_a_plain_pull_request_is_opened(home: House) -> None:
    home.local.repository("acme/widgets").allow_drafts = False
    home.agent(RIGHT)
    await asked(home, "make it right")
    session = await home.ended()
    assert (session.outcome, session.pull_draft) == ("green", False)


async def test_a_reviewers_thread_is_answered_and_resolved_when_its_turn_landed(home: House) -> None:
    home.agent(RIGHT)
    await asked(home, "make it right")
    first = await home.ended()
    home.agent("assert 'name it better' in prompt; pathlib.Path('better.txt').write_text('x')")
    body = {"body": "@greenloop name it better", "path": "value.txt", "line": 1, "commit_id": first.head_sha}
    made = await home.post("alice", f"pulls/{first.pull_number}/comments", {**body, "side": "RIGHT"})
    await home.handled("pull_request_review_comment")
    session = await home.ended()
    assert session.outcome == "green"
    found = await home.get(f"pulls/{first.pull_number}/comments")
    (reply,) = [each for each in found if each.get("in_reply_to_id") == made["id"]]
    assert reply["body"].split("\n")[1] == f"Done in {(await home.turns())[-1].commit_sha}."
    assert [thread.resolved for thread in home.local.store.threads] == [True]


async def test_a_missing_account_is_said_with_the_way_out(home: House) -> None:
    number = await asked(home, "--runtime codex make it right")
    (delivery,) = await home.handled("issue_comment")
    assert delivery.decision == "refused"
    (comment,) = await home.bot_comments(number)
    assert "I did not start" in comment and "greenloop profile add" in comment
    assert await home.sessions() == []


async def test_while_no_box_can_be_had_the_comment_says_so_and_the_turn_begins_later(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = LocalBoxes.ensure

    async def broken(self: LocalBoxes, spec: Any) -> Any:
        raise BoxesUnavailable("no answer from 10.0.0.1:6443")

    monkeypatch.setattr(LocalBoxes, "ensure", broken)
    home.agent(RIGHT)
    number = await asked(home, "make it right")
    await comment_says(home, number, "Waiting for a box", UNREACHABLE, "@greenloop stop")
    monkeypatch.setattr(LocalBoxes, "ensure", whole)
    assert (await home.ended()).outcome == "green"


async def test_a_github_that_fails_for_a_while_delays_everything_and_loses_nothing(home: House) -> None:
    home.agent(RIGHT)
    number = await asked(home, "make it right")
    home.local.add_fault("error", method="P*", status=502, times=8)
    session = await home.ended()
    assert (session.outcome, len(await home.bot_comments(number)), len(await home.turns())) == ("green", 1, 1)


async def test_what_cannot_be_taken_up_for_a_fault_of_ours_is_answered(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(run, "take", broken)
    monkeypatch.setattr(route, "GIVE_UP_AFTER", 2)
    number = await asked(home, "make it right")
    (delivery,) = await home.handled("issue_comment")
    assert (delivery.decision, delivery.reason) == ("failed", "RuntimeError: a defect")
    assert "it is not your fault" in (await home.bot_comments(number))[0]


async def test_a_label_of_the_repositorys_own_is_answered_too_where_something_of_ours_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(run, "take", broken)
    monkeypatch.setattr(route, "GIVE_UP_AFTER", 2)
    async with house(tmp_path, files={".github/greenloop.yml": "label: fix-me\n"}) as home:
        number = await home.issue()
        await home.post("alice", f"issues/{number}/labels", {"labels": ["fix-me"]})
        await home.until(lambda: _decided(home, "failed"))
        assert "it is not your fault" in (await home.bot_comments(number))[0]
        other = await home.issue()
        await home.post("alice", f"issues/{other}/labels", {"labels": ["greenloop"]})
        await home.until(lambda: _decided(home, "ignored", "the label 'greenloop' is not ours"))
        assert await home.bot_comments(other) == []


async def test_a_label_is_answered_too_where_the_settings_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(route, "GIVE_UP_AFTER", 2)
    async with house(tmp_path, run=None, files={".github/greenloop.yml": "label: fix-me\n"}) as home:
        home.agent(RIGHT)
        await asked(home, "make it right")
        await home.ended()
        number = await home.issue()
        home.local.add_fault("error", path="*/contents/*", status=500, times=1000)
        await home.post("alice", f"issues/{number}/labels", {"labels": ["fix-me"]})
        await home.until(lambda: _decided(home, "failed"))
        assert "it is not your fault" in (await home.bot_comments(number))[0]


async def _decided(home: House, decision: str, reason: str = "") -> bool:
    return any(each.decision == decision and reason in (each.reason or "") for each in await home.handled("issues"))

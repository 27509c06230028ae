"""Once more: what is repeated, in whose name, and what a review asks for as one."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loops.sessions.ask import ReviewText
from loops.sessions.ask_columns import ask_of
from loops.store.tables import Turn
from tests.e2e.acts import RIGHT, asked, press
from tests.e2e.house import House, house

WORK = "pathlib.Path(f'made-{time.time_ns()}.txt').write_text('x'); " + RIGHT


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path, run=None) as opened:
        opened.agent(WORK)
        yield opened


def prompt(turn: Turn) -> str:
    """What the agent of a turn was told."""
    return str((turn.spec or {})["stdin"])


async def reviewed(home: House, body: str, *remarks: tuple[str, int, str], event: str = "REQUEST_CHANGES") -> int:
    """A pull request of ours, and a review of it by Alice; its number."""
    await asked(home, "make it right")
    number = (await home.ended()).pull_number or 0
    comments = [{"path": path, "line": line, "side": "RIGHT", "body": said} for path, line, said in remarks]
    await home.post("alice", f"pulls/{number}/reviews", {"event": event, "body": body, "comments": comments})
    return number


@pytest.mark.parametrize("words", ["retry", "please retry", "try again", "`retry`"])
async def test_retry_repeats_the_task_and_not_the_word(home: House, words: str) -> None:
    number = await asked(home, "make it right in value.txt")
    await home.ended()
    await home.comment(number, f"@greenloop {words}")
    turn = await home.turn_ended(2)
    assert ask_of(turn).instruction == "make it right in value.txt"
    assert "make it right in value.txt" in prompt(turn) and "retry" not in prompt(turn)


async def test_a_retry_with_a_hint_adds_it_to_the_task(home: House) -> None:
    number = await asked(home, "make it right")
    await home.ended()
    await home.comment(number, "@greenloop retry\n\nThe value is in value.txt, nowhere else.")
    turn = await home.turn_ended(2)
    assert ask_of(turn).instruction == "make it right\n\nThe value is in value.txt, nowhere else."


async def test_a_retry_by_somebody_else_is_shown_as_theirs(home: House) -> None:
    home.local.set_permission("acme/widgets", "bob", "write")
    number = await asked(home, "make it right")
    await home.ended()
    await home.comment(number, "@greenloop retry", login="bob")
    turn = await home.turn_ended(2)
    assert (ask_of(turn).asker.login, ask_of(turn).instruction) == ("bob", "make it right")
    sticky = (await home.bot_comments(number))[0]
    assert "| 1 | alice (mention) |" in sticky and "| 2 | bob (mention) |" in sticky
    assert "bob" in prompt(turn)


async def test_try_again_after_a_review_keeps_its_remarks(home: House) -> None:
    await reviewed(home, "Not like this", ("value.txt", 1, "Say why"))
    assert "Say why" in prompt(await home.turn_ended(2))
    home.agent("sys.exit(1)")
    await home.post("alice", f"pulls/{(await home.sessions())[0].pull_number}/reviews", _review("And say how"))
    assert (await home.turn_ended(3)).status == "failed"
    home.agent(WORK)
    await press(home, (await home.sessions())[0].head_sha, "retry")
    turn = await home.turn_ended(4)
    assert "And say how" in prompt(turn) and "Say where" in prompt(turn)
    assert (turn.kind, turn.trigger) == ("review", "button")


def _review(body: str) -> dict[str, Any]:
    remark = {"path": "value.txt", "line": 1, "side": "RIGHT", "body": "Say where"}
    return {"event": "REQUEST_CHANGES", "body": body, "comments": [remark]}


@pytest.mark.parametrize("body", ["@greenloop rework this", ""])
async def test_a_review_with_many_remarks_is_one_turn_with_all_of_them_in_file_order(home: House, body: str) -> None:
    made = "; ".join(f"pathlib.Path('{name}').write_text('1\\n2\\n3\\n')" for name in ("a.txt", "b.txt"))
    home.agent(f"{made}; {WORK}")
    remarks = (
        ("b.txt", 2, "@greenloop the fourth"),
        ("a.txt", 3, "@greenloop the second"),
        ("b.txt", 1, "the third"),
        ("a.txt", 1, "@greenloop the first"),
    )
    await reviewed(home, body, *remarks, event="COMMENT")
    await home.handled("pull_request_review_comment", 4)
    turn = await home.turn_ended(2)
    assert len(await home.turns()) == 2
    about = ask_of(turn).about
    assert isinstance(about, ReviewText)
    said = [each.body.removeprefix("@greenloop ") for each in about.remarks]
    assert said == ["the first", "the second", "the third", "the fourth"]
    told = prompt(turn)
    places = [told.rindex(each) for each in said]
    assert places == sorted(places) and body.removeprefix("@greenloop ") in told


async def test_retry_with_nothing_to_repeat_is_answered_and_starts_no_agent(home: House) -> None:
    number = await home.issue()
    await home.comment(number, "@greenloop retry")
    (delivery,) = await home.handled("issue_comment")
    assert (delivery.decision, delivery.reason) == ("answered", "nothing to repeat")
    assert "nothing here that I could do once more" in (await home.bot_comments(number))[0]
    assert await home.sessions() == []


@pytest.mark.parametrize("words", ["stpo", "autofix", "autofix of", "abort", "please staus"])
async def test_a_word_that_is_nearly_a_command_gets_a_line_and_no_agent(home: House, words: str) -> None:
    number = await home.issue()
    await home.comment(number, f"@greenloop {words}")
    (delivery,) = await home.handled("issue_comment")
    assert delivery.decision == "answered"
    assert "Did you mean" in (await home.bot_comments(number))[0]
    assert await home.sessions() == []


async def test_an_option_belongs_to_the_comment_it_stands_in(home: House) -> None:
    home.agent(f"wait(); {WORK}")
    number = await asked(home, "make it right")
    # one after the other: deliveries are decided side by side, in no order of their own
    await home.handled("issue_comment")
    await home.comment(number, "@greenloop one more --model first/one")
    await home.handled("issue_comment", 2)
    await home.comment(number, "@greenloop and another --model second/one --cap 7")
    await home.handled("issue_comment", 3)
    for _ in range(3):
        home.let_go()

        async def taken() -> bool:
            return not (home.folder / "go").exists()

        await home.until(taken)
    await home.turn_ended(3)
    assert [turn.model for turn in await home.turns()] == ["", "first/one", "second/one"]


async def test_a_review_whose_remarks_are_delivered_before_it_is_the_same_task(home: House) -> None:
    home.local.add_fault("delay", event="pull_request_review", seconds=5.0, times=1)
    await reviewed(home, "Not like this", ("value.txt", 1, "@greenloop say why"))
    await home.handled("pull_request_review")
    turn = await home.turn_ended(2)
    assert len(await home.turns()) == 2
    assert ask_of(turn).instruction == "Not like this\n\nvalue.txt:1: say why"

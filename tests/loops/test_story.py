from dataclasses import replace

from loops.story import Story, TurnLine, render

TURN = TurnLine(1, "ann (mention)", "done", "claude", commit="a" * 40, files=2, tokens=1200, cost=0.25)
STORY = Story(
    handle="greenloop",
    status="waiting",
    outcome=None,
    reason=None,
    url="http://service/sessions/s_1",
    repository_url="http://github/acme/widgets",
    turns=(TURN,),
    attempt=0,
    cap=3,
    owner="ann",
    pull_number=7,
    pull_url="http://github/acme/widgets/pull/7",
)


def test_an_open_session_says_how_to_stop_it() -> None:
    assert "`@greenloop stop`" in render(STORY)


def test_a_failed_session_says_why_and_how_to_go_on() -> None:
    text = render(replace(STORY, status="failed", reason="cap_reached", attempt=3, failing=("test (3.12)",)))
    assert "cap_reached" in text
    assert "`test (3.12)`" in text
    assert "`@greenloop retry`" in text


def test_a_repair_says_which_attempt_of_how_many_it_is() -> None:
    assert "attempt 2 of 3" in render(replace(STORY, status="running", attempt=2))


def test_the_table_links_each_commit_and_shows_what_it_cost() -> None:
    text = render(STORY)
    assert f"[aaaaaaa](http://github/acme/widgets/commit/{'a' * 40})" in text
    assert "1,200" in text
    assert "$0.25" in text


def test_a_place_in_line_is_said() -> None:
    assert "place 4" in render(replace(STORY, status="pending", place=4))


def test_nobody_is_mentioned_and_no_markup_is_made_by_what_others_wrote() -> None:
    hostile = replace(STORY, status="completed", outcome="answered", answer="<img src=x> @everyone | x\n## big")
    text = render(hostile)
    assert "<img" not in text
    assert "@everyone" not in text


def test_a_pipe_in_a_name_does_not_break_the_table() -> None:
    row = next(
        line for line in render(replace(STORY, turns=(replace(TURN, asked="a|b"),))).splitlines() if "a\\|b" in line
    )
    assert row.count(" | ") == 6


def test_many_turns_stay_readable() -> None:
    text = render(replace(STORY, turns=tuple(replace(TURN, number=n) for n in range(1, 200))))
    assert "earlier turns" in text
    assert len(text) < 10_000

from dataclasses import replace

import pytest

from github.client.text import MAX_BODY, length
from loops.comments.status_comment import StatusComment, TurnLine, headline, render
from loops.sessions.explanations import EXPLANATIONS

TURN = TurnLine(1, "ann (mention)", "done", "claude", commit="a" * 40, files=2, tokens=1200, cost=0.25)
STORY = StatusComment(
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


@pytest.mark.parametrize(
    ("change", "head", "says"),
    [
        (
            {"status": "pending", "active": "queued", "waits": "All 3 boxes are at work.", "place": 4},
            "In line: place 4",
            "All 3 boxes are at work. It goes on by itself.",
        ),
        ({"status": "pending", "active": "queued", "waits": "no nodes"}, "Waiting for a box", "No nodes."),
        ({"status": "running", "active": "ready", "waits": "pulls"}, "About to start", "Pulls."),
        ({"status": "running", "active": "ready"}, "About to start", "Its box is being made ready."),
        (
            {"status": "running", "active": "ready", "kind": "checks", "attempt": 1},
            "About to repair: attempt 1 of 3",
            "",
        ),
        ({"status": "running", "active": "running"}, "Working", "An agent works on it"),
        ({"status": "running", "active": "running", "kind": "conflict"}, "Working", "Somebody else pushed"),
        ({"status": "running", "active": "reported"}, "Publishing", ""),
        (
            {"status": "running", "active": "running", "kind": "checks", "attempt": 2, "failing": ("lint",)},
            "Repairing: attempt 2 of 3",
            "`lint`",
        ),
        (
            {"status": "waiting", "active": "queued", "kind": "checks", "attempt": 1, "waits": "Busy.", "place": 2},
            "In line with attempt 1 of 3: place 2",
            "",
        ),
        ({"checks": "running", "explanation": "waiting for `a`"}, "Waiting for the checks", "up to 3 times"),
        ({"checks": "running", "attempt": 2}, "(after attempt 2 of 3)", "repair it once"),
        ({"checks": "running", "attempt": 3}, "(after attempt 3 of 3)", "no attempt is left"),
        ({"checks": "running", "autofix": False}, "Waiting for the checks", "autofix on"),
        (
            {"checks": "awaiting_approval", "explanation": "`ci` waits for a person's approval on GitHub"},
            "A person has to approve checks",
            "`ci` waits for a person's approval",
        ),
        ({"checks": "cancelled"}, "Checks have to run again", "Run it again on GitHub"),
        ({"stopping": "cancelled by ann"}, "Stopping", "Cancelled by ann."),
        ({"status": "cancelled", "reason": "the pull request was closed"}, "Stopped", "The pull request was closed."),
        ({"status": "completed", "outcome": "green"}, "all checks are green", "#7 is ready for a review"),
        ({"status": "completed", "outcome": "green", "attempt": 1}, "are green (after attempt 1 of 3)", ""),
        ({"status": "completed", "outcome": "no_checks"}, "no checks ran", "review it with care"),
        ({"status": "completed", "outcome": "answered", "answer": "Because."}, "Answered", "> Because."),
        ({"status": "failed", "reason": "cap_reached", "attempt": 3}, "without success", "attempts are used up"),
        (
            {"status": "failed", "reason": "limit_exceeded: wall clock"},
            "without success",
            "A limit was reached. (wall clock)",
        ),
        ({"status": "failed", "reason": "NotFound: GET x: 404"}, "without success", "not your fault"),
    ],
)
def test_a_stranger_reads_what_is_going_on(change: dict[str, object], head: str, says: str) -> None:
    story = replace(STORY, **change)  # type: ignore[arg-type]
    assert head in headline(story)
    assert says in render(story)


@pytest.mark.parametrize("status", ["pending", "running", "waiting"])
def test_an_open_session_says_how_to_stop_it(status: str) -> None:
    assert "`@greenloop stop`" in render(replace(STORY, status=status))


@pytest.mark.parametrize("reason", sorted(EXPLANATIONS))
def test_every_reason_says_what_happened_and_what_to_do_next(reason: str) -> None:
    text = render(replace(STORY, status="failed", reason=reason, failing=("test (3.12)",)))
    assert EXPLANATIONS[reason].what in text
    assert "**Next:** " in text
    assert "`test (3.12)`" in text
    assert "{handle}" not in text
    assert "@greenloop" in text


def test_the_table_links_each_commit_and_shows_what_it_cost() -> None:
    text = render(replace(STORY, turns=(TURN, replace(TURN, number=2))))
    assert f"[aaaaaaa](http://github/acme/widgets/commit/{'a' * 40})" in text
    assert "1,200" in text
    assert "$0.25" in text
    assert "| all | | | | | 2,400 | $0.50 |" in text


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


def test_huge_texts_leave_room_for_what_is_said_of_stopping() -> None:
    huge = "😀" * 70_000
    turns = tuple(replace(TURN, number=n, asked=huge, state=huge) for n in range(1, 200))
    notes = tuple(f"{n} ```\n{huge}" for n in range(100))
    for status in ("waiting", "failed", "completed"):
        full = replace(STORY, status=status, reason=huge, outcome="answered", answer=huge, turns=turns, notes=notes)
        text = render(replace(full, failing=(huge,) * 500, explanation=huge, stopping="", owner=huge))
        assert length(text) < MAX_BODY
        assert "@greenloop" in text.splitlines()[-1]


def test_a_note_that_is_cut_in_a_code_block_does_not_swallow_what_follows() -> None:
    text = render(replace(STORY, notes=("It said:\n\n```text\n" + "x\n" * 4000,)))
    assert text.count("```") == 2


def test_a_check_list_is_one_line_a_step_and_says_how_far_it_is() -> None:
    steps = (("Look", "done"), ("Mend `x` for @ann\u2028closes #1", "active"), ("Ask", "dropped"), ("Tell", "pending"))
    told = render(replace(STORY, status="running", active="running", plan=steps))
    assert "**Its plan**, 1 of 4 done:\n- [x] Look\n- [ ] **now:** Mend 'x' for " in told
    assert "- [ ] dropped: Ask\n- [ ] Tell\n" in told
    assert "@ann" not in told and "closes #1" not in told


def test_of_a_long_check_list_the_first_steps_are_shown_and_the_rest_is_counted() -> None:
    told = render(replace(STORY, status="running", active="running", plan=(("Look", "done"),) * 50))
    assert told.count("- [x] Look") == 20 and "- and 30 more" in told and "50 of 50 done" in told

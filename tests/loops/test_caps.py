"""Caps on steps, tokens and cost."""

import pytest

from loops.caps import CapName, Caps, Spent, left, passed, reached

CAPS = Caps(turn_steps=32, turn_tokens=1_000, session_tokens=5_000, turn_cost=1.5, session_cost=4.0)


@pytest.mark.parametrize(
    ("turn", "before", "cap"),
    [
        (Spent(32, 1_000, 1.5), Spent(), None),
        (Spent(33, 0, 0), Spent(), "turn_steps"),
        (Spent(1, 1_001, 0), Spent(), "turn_tokens"),
        (Spent(1, 900, 0), Spent(400, 4_200, 0), "session_tokens"),
        (Spent(1, 0, 1.51), Spent(), "turn_cost"),
        (Spent(1, 0, 0.5), Spent(0, 0, 3.6), "session_cost"),
        (Spent(32, 0, 0), Spent(500, 0, 0), None),
    ],
)
def test_the_cap_that_is_passed_is_named(turn: Spent, before: Spent, cap: CapName | None) -> None:
    over = passed(CAPS, turn, before)
    assert (over.cap if over else None) == cap


def test_without_caps_nothing_is_passed() -> None:
    assert passed(Caps(), Spent(10**9, 10**12, 1e9)) is None


def test_the_sentence_says_which_cap_and_how_to_raise_it() -> None:
    over = passed(CAPS, Spent(33, 0, 0))
    assert over and over.message == (
        "Stopped: 33 steps of one turn, the cap is 32. "
        "To raise it: `limits.steps` in .github/greenloop.yml, within GREENLOOP_TURN_STEPS of the service."
    )
    assert "4.10 US dollars of one session, the cap is 4." in passed(CAPS, Spent(0, 0, 0.5), Spent(0, 0, 3.6)).message  # type: ignore[union-attr]
    assert "`limits.cost`" in reached("session_cost", 4.0).message
    assert "To raise it: GREENLOOP_TURN_TOKENS of the service." in reached("turn_tokens", 1_000).message


def test_a_new_turn_may_spend_what_its_session_left() -> None:
    assert left(CAPS, Spent(cost=1.0)) == 1.5
    assert left(CAPS, Spent(cost=3.5)) == 0.5
    assert left(CAPS, Spent(cost=9.0)) == 0.0
    assert left(Caps(), Spent(cost=9.0)) is None

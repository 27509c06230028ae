"""Caps on steps, wall clock, changed files, tokens and cost, of a turn and of a session."""

import pytest

from loops.sessions.caps import NAMES, Cap, Caps, Spent

CAPS = Caps.of(
    {
        "steps": 32, "session_steps": 100, "turn_seconds": 60, "session_seconds": 100, "changed_files": 2,
        "session_changed_files": 3, "tokens": 1_000, "session_tokens": 5_000, "cost": 1.5, "session_cost": 4.0,
        "output_bytes": 1,
    }
)  # fmt: skip


def files(*names: str) -> Spent:
    return Spent(files=frozenset(names))


@pytest.mark.parametrize(
    ("turn", "before", "cap"),
    [
        (Spent(32, 60, frozenset("ab"), 1_000, 1.5), Spent(), None),
        (Spent(33), Spent(), ("turn", "steps")),
        (Spent(2), Spent(99), ("session", "steps")),
        (Spent(seconds=61), Spent(), ("turn", "seconds")),
        (Spent(seconds=1), Spent(seconds=100), ("session", "seconds")),
        (files("a", "b", "c"), Spent(), ("turn", "files")),
        (files("a", "b"), files("b", "c"), None),
        (files("a", "b"), files("c", "d"), ("session", "files")),
        (Spent(tokens=1_001), Spent(), ("turn", "tokens")),
        (Spent(tokens=900), Spent(tokens=4_200), ("session", "tokens")),
        (Spent(cost=1.51), Spent(), ("turn", "cost")),
        (Spent(cost=0.5), Spent(cost=3.6), ("session", "cost")),
    ],
)
def test_the_cap_that_is_passed_is_named(turn: Spent, before: Spent, cap: Cap | None) -> None:
    over = CAPS.passed(turn, before)
    assert (over.cap if over else None) == cap


def test_without_caps_nothing_is_passed_used_up_or_left() -> None:
    much = Spent(10**9, 1e9, frozenset("abc"), 10**12, 1e9)
    assert Caps().passed(much) is None
    assert Caps.of({"steps": None}).used_up(much) is None
    assert Caps().left("cost", much) is None
    assert Caps().reached("steps", much) is None


@pytest.mark.parametrize("cap", NAMES)
def test_every_sentence_says_which_cap_and_how_to_raise_it(cap: Cap) -> None:
    over = Caps({cap: 0}).passed(Spent(1, 1, frozenset("a"), 1, 1))
    assert over is not None
    assert f"of one {cap[0]}, the cap is 0. To raise it: " in over.message
    assert "GREENLOOP_" in over.message and f"{over.reason}." == f"limit_exceeded: {over.message}"


def test_amounts_are_written_for_people() -> None:
    over = CAPS.passed(Spent(cost=0.5), Spent(cost=3.6))
    assert over is not None and over.message == (
        "4.10 US dollars of one session, the cap is 4. To raise it: `limits.cost` in .github/greenloop.yml, within "
        "GREENLOOP_SESSION_COST of the service."
    )


def test_a_new_turn_may_use_what_its_session_left_and_the_tighter_cap_is_named() -> None:
    amounts = []
    for cost in (1.0, 3.5, 9.0):
        left = CAPS.left("cost", Spent(cost=cost))
        assert left is not None
        amounts.append((left.amount, left.cap[0]))
    assert amounts == [(1.5, "turn"), (0.5, "session"), (0.0, "session")]
    ended = CAPS.reached("cost", Spent(cost=3.5))
    assert ended is not None and (ended.cap, ended.spent) == (("session", "cost"), 4.0)


def test_a_session_that_used_up_a_cap_begins_no_turn_but_may_change_its_files_again() -> None:
    over = CAPS.used_up(Spent(steps=100))
    assert over is not None and over.cap == ("session", "steps")
    assert CAPS.used_up(Spent(99, 99, frozenset("abcdef"), 4_999, 3.9)) is None

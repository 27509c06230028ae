"""When a turn that its provider refused is tried again."""

import pytest

from loops.turns.try_again import LONGEST_PAUSE, LONGEST_WAIT, TRIES, clock, pause, wanted

NOON = 1_800_014_400.0


@pytest.mark.parametrize(
    ("name", "tries", "after", "expected"),
    [
        ("the first pause is the setting's", 0, None, 60),
        ("each doubles the one before", 3, None, 480),
        ("up to half an hour", 5, None, LONGEST_PAUSE),
        ("the provider's own time wins, longer", 0, 3600.0, 3600),
        ("and shorter", 4, 5.0, 5),
        ("but nobody is asked again at once", 0, 0.0, 1),
        ("nor for ever", TRIES, None, None),
        ("nor after a day", 0, LONGEST_WAIT + 1, None),
    ],
)
def test_the_pause_before_the_next_try(name: str, tries: int, after: float | None, expected: float | None) -> None:
    assert pause(tries, after, 60, 0) == expected, name


def test_turns_do_not_come_back_all_at_once_and_never_too_early() -> None:
    pauses = [pause(0, 100.0, 60, jitter / 10) for jitter in range(11)]
    assert pauses == sorted(set(pauses), key=lambda each: each or 0) and (pauses[0], pauses[-1]) == (100, 120)


def test_what_the_gateway_was_told_of_a_wait_goes_before_what_the_agent_says_until_it_is_over() -> None:
    assert wanted(NOON + 120, 7.0, NOON) == 120
    assert wanted(NOON - 1, 7.0, NOON) == wanted(None, 7.0, NOON) == 7
    assert wanted(None, None, NOON) is None


def test_people_are_told_the_day_where_it_is_not_soon() -> None:
    assert clock(NOON + 60, NOON).endswith(" UTC") and clock(NOON + 60, NOON).count("-") == 0
    assert clock(NOON + 86_400, NOON).count("-") == 2

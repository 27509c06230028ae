from dataclasses import replace
from typing import Literal

import pytest

from github.checks.model import Check, Kind
from loops.checks.collect import CollectedCheck, Failure, fingerprint
from loops.checks.next_attempt import GiveUp, History, Repair, Rerun, asked_about_checks, choose
from loops.evidence.model import Distilled

FRESH = History(0, (), 0)


def failure(name: str, kind: Literal["test", "infrastructure"] = "test", mark: str | None = None) -> Failure:
    check = Check(Kind.JOB, 1, name, 2, "github-actions", "failure")
    distilled = Distilled("", kind, "", mark or name)
    return Failure((name,), distilled, CollectedCheck(check, distilled), (check,))


UNIT, LINT, NETWORK = failure("unit"), failure("lint"), failure("e2e", "infrastructure")


def test_failures_are_repaired_while_attempts_are_left() -> None:
    assert choose([UNIT], frozenset(), FRESH, cap=1, reruns=1) == Repair((UNIT,), (), fingerprint([UNIT]))
    used_up = choose([UNIT], frozenset(), replace(FRESH, count=1), cap=1, reruns=1)
    assert isinstance(used_up, GiveUp)
    assert used_up.reason == "cap_reached"


def test_a_failure_of_the_machinery_alone_is_run_again_within_its_own_budget_also_at_the_cap() -> None:
    assert choose([NETWORK], frozenset(), replace(FRESH, count=3), cap=3, reruns=1) == Rerun((NETWORK,))
    spent = choose([NETWORK], frozenset(), replace(FRESH, reruns=1), cap=3, reruns=1)
    assert isinstance(spent, Repair)


def test_beside_another_failure_the_machinerys_is_left_to_the_next_commit() -> None:
    chosen = choose([NETWORK, UNIT], frozenset(), FRESH, cap=3, reruns=1)
    assert chosen == Repair((UNIT,), (), fingerprint([UNIT]))


def test_what_the_base_shows_too_is_left_alone_and_named() -> None:
    assert choose([UNIT, LINT], frozenset({"lint"}), FRESH, cap=3, reruns=1) == Repair(
        (UNIT,), ("lint",), fingerprint([UNIT])
    )
    nothing = choose([LINT], frozenset({"lint"}), FRESH, cap=3, reruns=1)
    assert isinstance(nothing, GiveUp)
    assert (nothing.reason, nothing.note) == ("base_red", "Red in the same way on the base branch: `lint`.")


@pytest.mark.parametrize(
    ("before", "ends"), [((), False), (("same",), False), (("other", "same"), False), (("same", "same"), True)]
)
def test_the_same_failure_after_two_attempts_is_no_progress(before: tuple[str, ...], ends: bool) -> None:
    marks = {"same": fingerprint([UNIT]), "other": fingerprint([LINT])}
    history = History(len(before), tuple(marks[each] for each in before), 0)
    chosen = choose([UNIT], frozenset(), history, cap=9, reruns=1)
    assert isinstance(chosen, GiveUp) is ends


@pytest.mark.parametrize(
    ("words", "asks"),
    [
        ("fix the failing tests", True),
        ("CI is red", True),
        ("make the build pass", True),
        ("repair the lint errors", True),
        ("add celsius_to_kelvin, with a test", False),
        ("fix the login page", False),
        ("build a page about workflows", False),
    ],
)
def test_words_about_what_is_red_are_told_from_others(words: str, asks: bool) -> None:
    assert asked_about_checks(words) is asks

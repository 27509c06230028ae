"""How much of what weakens tests and checks the guard finds, and how much of what is honest it leaves alone."""

import pytest

from loops.guards import patch
from loops.guards.weakening.whole import undone
from tests.loops.guards.corpus import cheats_around_tests, cheats_in_tests, honest, unseen
from tests.loops.guards.corpus.model import Case, patch_of, refused

CHEATS = [*cheats_in_tests.CHEATS, *cheats_around_tests.CHEATS, *unseen.CHEATS]
HONEST = [*honest.HONEST, *unseen.HONEST]
CAUGHT = 0.95
FALSE_ALARMS = 0.02


async def _answered(cases: list[Case], *, repair: bool) -> tuple[list[str], list[str]]:
    """The names of the changes that are refused, and of those that are not."""
    named: tuple[list[str], list[str]] = ([], [])
    for case in cases:
        named[not await refused(case, repair=repair)].append(case.name)
    return named


async def test_the_guard_refuses_what_weakens_tests_and_checks() -> None:
    caught, missed = await _answered(CHEATS, repair=True)
    assert len(CHEATS) >= 100
    assert len(caught) >= CAUGHT * len(CHEATS), missed


async def test_the_guard_lets_honest_changes_pass() -> None:
    alarms, _ = await _answered(HONEST, repair=False)
    assert len(HONEST) >= 100
    assert len(alarms) <= FALSE_ALARMS * len(HONEST), alarms


def test_no_two_changes_of_the_corpus_have_one_name() -> None:
    for cases in (CHEATS, HONEST):
        assert len({case.name for case in cases}) == len(cases)


@pytest.mark.parametrize(
    ("old", "new"),
    [("a\nb\nc\n", "a\nB\nc\n"), ("a\n", "a\nb\n"), ("a\nb\n", "b\n"), ("a\n" * 20 + "b\n", "x\n" + "a\n" * 20)],
)
def test_the_text_before_a_patch_is_told_by_the_text_after_it(old: str, new: str) -> None:
    read = patch.read(patch_of("a", "a", old, new))
    assert [undone(each, new) for each in read] == [old]

"""Tests and checks that ask for less and still look as before: whole files are compared, before and after the turn."""

from collections.abc import Iterator, Sequence

from loops.guards import testfiles
from loops.guards.model import Finding
from loops.guards.weakening import commands, data, lines, ran, settings, suites
from loops.guards.weakening.setting_keys import EVERY, LISTS
from loops.guards.weakening.suites import kept
from loops.guards.weakening.whole import Whole

__all__ = ["CODES", "concerns", "fewer", "kept", "look"]

CODES = (
    "assertion_unreached",
    "test_replaced",
    "run_rigged",
    "runner_detected",
    "floor_lowered",
    "tests_narrowed",
    "check_loosened",
    "case_removed",
    "test_data_emptied",
    "fewer_tests_ran",
)


def look(wholes: Sequence[Whole]) -> Iterator[Finding]:
    """Everything that runs less, or asks for less, of what stands in these files."""
    yield from suites.look(wholes)
    yield from lines.look(wholes)
    yield from settings.look(wholes)
    yield from commands.look(wholes)
    yield from data.look(wholes)


def fewer(before: str, after: str, taken_out: str) -> list[Finding]:
    """Tests that the check of a box ran before the turn, and does not run on its work; as `ran.fewer`."""
    return list(ran.fewer(before, after, taken_out))


def concerns(path: str) -> bool:
    """Whether the whole text of the file says something of tests and checks."""
    return testfiles.language(path) is not None or data.is_data(path) or bool(EVERY.search(path) or LISTS.search(path))

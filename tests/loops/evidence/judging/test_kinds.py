"""What kind of failure it was, by what the runner and the tools said."""

import pytest

from tests.loops.evidence.kinds import access, innocent, machine, more, named, network, setup
from tests.loops.evidence.kinds.case import Case

TABLE = (*more.CASES, *named.CASES, *machine.CASES, *network.CASES, *access.CASES, *setup.CASES, *innocent.CASES)


@pytest.mark.parametrize("case", TABLE, ids=str)
def test_a_failure_has_the_kind_that_its_runner_or_tool_gave_evidence_of(case: Case) -> None:
    found = case.told()
    assert (found.kind, found.reason) == (case.kind, found.reason)
    assert found.reason


@pytest.mark.parametrize("case", innocent.PROGRAMS, ids=str)
def test_what_an_application_prints_is_never_taken_for_the_machinery(case: Case) -> None:
    found = case.told()
    assert (found.kind not in ("infrastructure", "permission"), found.reason) == (True, found.reason)

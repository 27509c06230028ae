from dataclasses import replace
from typing import Any

import pytest

from tests.chaos.invariants import INVARIANTS, DeliveryFacts, Facts, SessionFacts, TurnFacts, violations

TURN = TurnFacts("t_1", commit=True, lines=[0, 1, 2])
REPAIR = TurnFacts("t_2", commit=True, lines=[0, 1, 2])
SESSION = SessionFacts(
    id="s_1", issue=1, status="completed", outcome="green", reason="", attempts=1, cap=3, seqs=[1, 2, 3], last_seq=3,
    turns=[TURN, REPAIR], pulls=[2], trailers=["t_1", "t_2"], comments=1,
)  # fmt: skip
DELIVERY = DeliveryFacts("g", "issue_comment", "done", "started", session=True)
GOOD = Facts(asked={1: False}, deliveries=[DELIVERY], sessions=[SESSION], printed=3)


def session(**other: Any) -> Facts:
    return replace(GOOD, sessions=[replace(SESSION, **other)])


def turn(**other: Any) -> Facts:
    return session(turns=[replace(TURN, **other), REPAIR])


def delivery(**other: Any) -> Facts:
    return replace(GOOD, deliveries=[replace(DELIVERY, **other)])


def test_what_went_well_violates_nothing() -> None:
    lost = turn(tries=2, lines=[0, 1, 0, 1, 2])
    taken_back = replace(session(status="cancelled", outcome="", reason="cancelled by alice"), asked={1: True})
    box = replace(session(status="failed", outcome="", reason="box_lost: twice"), excused=["box_lost"])
    suspect = replace(GOOD, sessions=[], put_aside=[1])
    ignored = delivery(session=False, decision="ignored", reason="nobody waits")
    for facts in (GOOD, lost, taken_back, box, suspect, ignored):
        assert not any(violations(facts).values())


@pytest.mark.parametrize(
    ("invariant", "facts"),
    [
        ("accepted = answered or reasoned", delivery(status="")),
        ("accepted = answered or reasoned", delivery(status="new")),
        ("accepted = answered or reasoned", delivery(session=False)),
        ("accepted = answered or reasoned", replace(GOOD, sessions=[])),
        ("accepted = answered or reasoned", replace(GOOD, sessions=[], put_aside=[2])),
        ("accepted = answered or reasoned", replace(GOOD, sessions=[SESSION, replace(SESSION, id="s_2")])),
        ("accepted = answered or reasoned", session(status="waiting", outcome="")),
        ("accepted = answered or reasoned", session(status="completed", outcome="no_changes")),
        ("accepted = answered or reasoned", session(status="failed", outcome="", reason="box_lost")),
        ("accepted = answered or reasoned", session(status="cancelled", outcome="", reason="cancelled by alice")),
        ("no doubled or lost commit", session(trailers=["t_1", "t_2", "t_2"])),
        ("no doubled or lost commit", session(trailers=["t_1"])),
        ("no doubled pull request", session(pulls=[2, 3])),
        ("no doubled or lost comment", session(comments=2)),
        ("no doubled or lost comment", session(comments=0)),
        ("no doubled or lost event", session(seqs=[1, 3])),
        ("no doubled or lost event", turn(lines=[0, 1, 1, 2])),
        ("no doubled or lost event", turn(lines=[0, 2])),
        ("no doubled or lost event", turn(lines=[1, 0, 2])),
        ("attempts <= cap", session(attempts=4)),
        ("default branch untouched", replace(GOOD, default_branch_moved=True)),
        ("default branch untouched", replace(GOOD, strangers=["greenloop/9"])),
        ("nothing left over", replace(GOOD, left_over=["process 5: agent.py"])),
    ],
)
def test_each_violation_is_found_and_told_of_its_invariant(invariant: str, facts: Facts) -> None:
    violated = violations(facts)
    assert violated.keys() == INVARIANTS.keys()
    assert violated[invariant], f"not found: {facts}"

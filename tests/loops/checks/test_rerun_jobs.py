from dataclasses import replace

from github.checks.model import Check, Kind
from loops.checks.rerun_jobs import spent, wish_for

FIRST = Check(Kind.JOB, 1, "test", 15368, "github-actions", "failure", run_id=10, run_attempt=1, changed_at=5.0)
LATER = replace(FIRST, id=2, run_id=11, changed_at=9.0)
STATUS = Check(Kind.STATUS, 3, "ci/other", 0, "", "failure", changed_at=5.0)


def test_a_run_that_fails_later_does_not_pay_for_the_rerun_of_another() -> None:
    assert spent([], [FIRST]) == 0
    assert spent([wish_for([FIRST])], [LATER]) == 0
    assert spent([wish_for([FIRST]), wish_for([LATER])], [FIRST, LATER]) == 2


def test_what_failed_again_or_could_not_run_again_has_had_its_rerun() -> None:
    again = replace(FIRST, id=4, run_attempt=2, changed_at=20.0)
    assert spent([wish_for([FIRST])], [again]) == 1
    assert spent([wish_for([FIRST])], [FIRST]) == 1
    assert spent([wish_for([FIRST])], [again, LATER]) == 1


def test_what_github_cannot_run_again_counts_by_the_commit() -> None:
    assert spent([], [STATUS]) == 0
    assert spent([wish_for([STATUS])], [replace(STATUS, changed_at=30.0)]) == 1

"""What came of a turn's check: verified, another round, or only said."""

from dataclasses import replace
from typing import Any

from k8s.runner.protocol import Change, Result
from k8s.runner.verification import Trial, Trials
from loops.store.tables import Turn
from loops.turns.finishing.next_round import shown_of
from loops.turns.verified import goes_on, is_verified, note_of, round_of

RED, GREEN = Trial("failed", 3, "2 failed"), Trial("passed", 0)


def turn(*rounds: dict[str, Any]) -> Turn:
    return Turn(spec={"verification": {"check": [{"run": "make check\n"}, {"run": "make test"}]}}, rounds=list(rounds))


def result(after: Trial | None, before: Trial | None = RED, tree: str = "t2") -> Result:
    changes = [Change("a", "100644", "1" * 40), Change("b", "100644", None, old_path=None)]
    return Result("exited", exit_code=0, tree=tree, changes=changes, trials=Trials(before, after))


def again(of: Turn, ended: Result, now: float = 10.0) -> bool:
    return goes_on(of, ended, most=2, seconds=100.0, now=now)


def test_work_that_fails_its_check_goes_on_within_rounds_and_time() -> None:
    first = {"tree": "t1", "at": 0.0}
    assert again(turn(), result(RED))
    assert again(turn(), result(Trial("timeout")))
    assert again(turn(first), result(RED))
    assert not again(turn(first, first), result(RED))
    assert not again(turn(first), result(RED), now=100.0)


def test_a_round_that_changed_nothing_is_the_last() -> None:
    assert not again(turn({"tree": "t2", "at": 0.0}), result(RED))


def test_what_passes_or_could_not_be_run_does_not_go_on() -> None:
    for after in (GREEN, Trial("set_up_failed", 1), Trial("not_run"), None):
        assert not again(turn(), result(after))


def test_only_a_check_that_passed_on_the_published_files_verifies() -> None:
    assert is_verified(turn(), result(GREEN))
    assert not is_verified(turn(), result(None, before=GREEN))
    assert not is_verified(turn(), result(RED))
    assert not is_verified(Turn(spec={}, rounds=[]), result(GREEN))


def test_people_are_told_the_command_and_how_it_ended() -> None:
    command = "`make check && make test`"
    told = "Verified in the box: {} passes on what was pushed"
    assert note_of(turn(), result(GREEN)) == told.format(command) + ", and failed before."
    assert note_of(turn(), result(GREEN, before=GREEN)) == told.format(command) + "; it passed before, too."
    assert note_of(turn({"before": "failed"}), result(RED)) == (
        f"Not verified in the box: {command} still fails after 2 rounds, exit code 3."
    )
    assert note_of(turn(), result(Trial("set_up_failed", 7))) == (
        f"Not verified in the box: it could not be set up (exit code 7), so {command} was not run."
    )
    assert note_of(Turn(spec={}, rounds=[]), result(GREEN)) == ""


def test_a_round_keeps_the_work_as_it_is_laid_over_the_commit_again() -> None:
    moved = replace(result(RED), changes=[Change("new", "100755", "2" * 40, old_path="old", lfs="3" * 40)])
    kept = round_of(turn(), moved, "said", 5.0).stored()
    assert kept["overlay"] == [
        {"path": "old", "mode": "100644", "sha": None},
        {"path": "new", "mode": "100755", "sha": "3" * 40},
    ]
    assert (kept["at"], kept["tree"], kept["before"], kept["excerpt"]) == (5.0, "t2", "failed", "said")


def test_output_in_which_no_tool_is_known_is_shown_all_the_same() -> None:
    assert "value is better" in shown_of("greenloop-check: test\nvalue is better\n", 3)
    assert "did not end in time" in shown_of("begins\n", None)

"""A turn's check, run in its box before the agent and on what would be published."""

from typing import Any

from k8s.runner.git.work_tree import blob_sha
from tests.k8s.runner.conftest import Box

GOOD = {"run": 'test "$(cat value)" = good || { echo "value is $(cat value)"; exit 3; }', "title": "Look at value"}


def verification(*check: dict[str, Any], **about: Any) -> dict[str, Any]:
    return {"check": list(check or (GOOD,)), **about}


def test_what_was_red_before_and_is_green_on_the_changed_files_is_reported_so(started: Box) -> None:
    sha = started.commit({"value": "bad\n"})
    result = started.service.result(started.give("echo good > value", sha, verification=verification()))
    before, after = result.trials.before, result.trials.after
    assert before is not None and (before.how, before.exit_code) == ("failed", 3)
    assert "value is bad" in before.output
    assert after is not None and (after.how, after.exit_code) == ("passed", 0)
    assert [change.path for change in result.changes] == ["value"]


def test_the_agent_runs_the_check_by_its_name_and_cannot_change_what_judges_it(started: Box) -> None:
    sha = started.commit({"value": "bad\n"})
    script = """
        greenloop-check; echo "code $?"
        home=$HOME; printf '#!/bin/sh\nexit 0\n' > "$(command -v greenloop-check)"
        mkdir -p "$HOME/bin"; printf '#!/bin/sh\necho good\n' > "$HOME/bin/cat"; chmod +x "$HOME/bin/cat"
        echo 'PATH=$HOME/bin:$PATH' > "$HOME/.profile"; echo worse > value; greenloop-check
    """
    told = started.give(script, sha, verification=verification())
    result = started.service.result(told)
    output = told.output.decode()
    assert "value is bad" in output and "code 3" in output
    assert result.exit_code == 0
    assert result.trials.after is not None and result.trials.after.how == "failed"
    assert "value is worse" in result.trials.after.output


def test_what_set_up_and_check_write_is_no_part_of_the_change(started: Box) -> None:
    sha = started.commit({"value": "bad\n", "lock": "1\n"})
    setup = [{"run": 'echo 2 > lock; echo made > new; echo "NAME=x" >> "$GITHUB_ENV"; mkdir b; echo b > b/tool'}]
    setup += [{"run": 'echo "$PWD/b" >> "$GITHUB_PATH"; id=1; echo "id=7" >> "$GITHUB_OUTPUT"', "id": "one"}]
    check = {"run": "test ${NAME}${{ steps.one.outputs.id }} = x7; test -f b/tool; " + GOOD["run"]}
    setup += [{"run": "echo from set-up > kept; echo from set-up > changed"}]
    script = "cat lock; echo good > value; echo by the agent > changed"
    told = started.give(script, sha, verification=verification(check, setup=setup))
    result = started.service.result(told)
    assert told.output.decode() == "1\n"
    assert [change.path for change in result.changes] == ["changed", "value"]
    after = result.trials.after
    assert after is not None and after.how == "passed", after


def test_what_a_merge_brought_is_part_of_the_change(started: Box) -> None:
    base = started.commit({"value": "bad\n"})
    red = started.commit({"brought": "x\n"})
    merge = {"ref": "refs/heads/trunk", "sha": red}
    told = started.give("echo good > value", base, merge=merge, verification=verification())
    result = started.service.result(told)
    assert [change.path for change in result.changes] == ["brought", "value"]
    assert result.trials.after is not None and result.trials.after.how == "passed"


def test_a_set_up_that_fails_asks_for_input_or_leaves_a_daemon_does_not_end_the_turn(started: Box) -> None:
    sha = started.commit({"value": "bad\n"})
    setup = [{"run": "sleep 600 & if read word; then echo got; fi; echo no word; exit 4", "title": "Ask"}]
    told = started.give("greenloop-check; echo good > value", sha, verification=verification(setup=setup))
    result = started.service.result(told)
    assert "its set-up failed with exit code 4" in told.output.decode()
    for trial in (result.trials.before, result.trials.after):
        assert trial is not None and (trial.how, trial.exit_code) == ("set_up_failed", 4)
        assert "no word" in trial.output
    assert [change.path for change in result.changes] == ["value"]


def test_a_check_that_hangs_is_ended_at_its_own_clock(started: Box) -> None:
    sha = started.commit({"value": "bad\n"})
    check = {"run": "trap '' TERM; echo begins; sleep 600"}
    about = verification(check, seconds=0.5, reproduce=False)
    result = started.service.result(started.give("echo good > value", sha, verification=about))
    assert result.trials.before is not None and result.trials.before.how == "not_run"
    assert result.trials.after is not None and result.trials.after.how == "timeout"


def test_the_work_of_an_earlier_round_is_in_the_checkout_and_counts_as_changed(started: Box) -> None:
    sha = started.commit({"value": "bad\n", "gone": "x\n"})
    earlier = b"better\n"
    overlay = [{"path": "gone"}, {"path": "new/file", "mode": "100755", "sha": blob_sha(earlier)}]
    told = started.service.give(
        started.turn("cat new/file; echo good > value", sha, verification=verification(overlay=overlay)),
        earlier={blob_sha(earlier): earlier},
    )
    result = started.service.result(told)
    assert told.output == earlier
    assert [(each.path, each.sha is None) for each in result.changes] == [
        ("gone", True), ("new/file", False), ("value", False),
    ]  # fmt: skip
    assert result.trials.after is not None and result.trials.after.how == "passed"

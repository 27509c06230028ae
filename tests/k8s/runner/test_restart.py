"""Killed at any moment, cut off for any time: a turn is reported once, and no line of it is lost or doubled."""

import base64
import os
import random
import signal
import time

import pytest

from k8s.runner import protocol
from k8s.runner.processes import process_tree
from k8s.runner.state import signed
from tests.k8s.runner.conftest import Box, alive, remains
from tests.k8s.runner.double import Told

COUNT = "for n in $(seq 1 {lines}); do echo line $n; sleep {pause}; done; echo 2 > a; exit 4"


def counted(lines: int) -> bytes:
    return b"".join(b"line %d\n" % number for number in range(1, lines + 1))


def counting(box: Box, lines: int = 20, pause: float = 0.02) -> Told:
    sha = box.commit({"a": "1"})
    told = box.give(COUNT.format(lines=lines, pause=pause), sha)
    box.service.wait(lambda: told.output.count(b"\n") >= 3)
    return told


def complete(box: Box, told: Told, lines: int = 20) -> None:
    result = box.service.result(told)
    assert (result.reason, result.exit_code) == (protocol.EXITED, 4), result.message
    assert bytes(told.output) == counted(lines)
    assert [change.path for change in result.changes] == ["a"]
    box.idle(told)
    assert not remains(told.turn["marker"])


def test_a_restart_of_the_service_in_the_middle_loses_and_doubles_nothing(started: Box) -> None:
    told = counting(started)
    started.service.stop()
    time.sleep(0.5)
    started.service.start()
    complete(started, told)


def test_a_service_that_answers_500_for_a_while_only_delays(started: Box) -> None:
    told = counting(started)
    started.service.down = True
    time.sleep(0.8)
    assert told.result is None
    started.service.down = False
    complete(started, told)


def test_an_answer_that_gets_lost_after_the_output_was_stored_doubles_nothing(started: Box) -> None:
    lost = 0

    def lose(_: str) -> None:
        nonlocal lost
        lost += 1
        if lost % 2:
            raise ConnectionError("the answer gets lost")

    started.service.before_answer = lose
    complete(started, counting(started))
    assert lost > 4


def test_a_kill_of_the_runner_leaves_the_turn_running_and_the_next_runner_waits_for_it(started: Box) -> None:
    told = counting(started)
    started.kill()
    started.start()
    complete(started, told)
    following = started.give("echo next", None)
    assert started.service.result(following).exit_code == 0


def test_a_kill_of_the_process_that_reports_is_made_good_by_the_runner(started: Box) -> None:
    told = counting(started)
    os.kill(started.holder(told, "lock"), signal.SIGKILL)
    complete(started, told)


def test_a_kill_of_both_is_made_good_by_the_next_runner(started: Box) -> None:
    told = counting(started)
    reporter = started.holder(told, "lock")
    started.kill()
    os.kill(reporter, signal.SIGKILL)
    time.sleep(0.2)
    started.start()
    complete(started, told)


def test_an_agent_that_ended_while_nobody_was_there_is_reported_with_its_exit_code(started: Box) -> None:
    told = counting(started, lines=10)
    reporter = started.holder(told, "lock")
    started.kill()
    os.kill(reporter, signal.SIGKILL)
    started.service.wait(lambda: (started.state(told) / "ended.json").exists())
    started.start()
    complete(started, told, lines=10)


HIDING = "cd; env -i setsid nohup sleep 1000 >/dev/null 2>&1 & cd $OLDPWD; echo $!; echo up; sleep 1000"
IN_CHECKOUT = "env -i setsid nohup sleep 1000 >/dev/null 2>&1 & echo $!; echo up; sleep 1000"


def test_a_kill_of_the_supervisor_ends_the_agent_and_whatever_it_hid(started: Box) -> None:
    told = started.give(HIDING, started.commit({"a": "1"}))
    started.service.wait(lambda: told.output.count(b"\n") == 2)
    os.kill(started.holder(told, "supervisor"), signal.SIGKILL)
    result = started.service.result(told)
    assert result.reason == protocol.RUNNER_RESTARTED
    assert result.exit_code is None
    assert not alive(int(told.output.split()[0]))
    assert not remains(told.turn["marker"])
    assert result.changes == []
    assert result.tree


def test_a_kill_of_the_supervisor_and_of_the_reporter_ends_the_agent_and_whatever_it_hid(started: Box) -> None:
    told = started.give(HIDING, started.commit({"a": "1"}))
    started.service.wait(lambda: told.output.count(b"\n") == 2)
    reporter, supervisor = started.holder(told, "lock"), started.holder(told, "supervisor")
    os.kill(reporter, signal.SIGSTOP)
    os.kill(supervisor, signal.SIGKILL)
    os.kill(reporter, signal.SIGKILL)
    assert started.service.result(told).reason == protocol.RUNNER_RESTARTED
    assert not alive(int(told.output.split()[0]))
    assert not remains(told.turn["marker"])


def test_a_kill_of_everything_at_once_is_reported_by_the_next_runner_and_nothing_survives_it(started: Box) -> None:
    told = started.give(IN_CHECKOUT, started.commit({"a": "1"}))
    started.service.wait(lambda: told.output.count(b"\n") == 2)
    doomed = [started.holder(told, "lock"), started.holder(told, "supervisor")]
    for pid in doomed:
        os.kill(pid, signal.SIGSTOP)
    started.kill()
    for pid in doomed:
        os.kill(pid, signal.SIGKILL)
    started.start()
    result = started.service.result(told)
    assert result.reason == protocol.RUNNER_RESTARTED
    assert "not known" in result.message
    assert not alive(int(told.output.split()[0]))
    assert not remains(told.turn["marker"])


def test_cancel_and_limit_hold_after_a_restart_too(started: Box) -> None:
    told = started.give("echo up; sleep 1000", None)
    started.service.wait(lambda: told.output)
    reporter = started.holder(told, "lock")
    started.kill()
    os.kill(reporter, signal.SIGKILL)
    started.start()
    told.cancel = "enough"
    assert started.service.result(told).reason == protocol.CANCELLED


def test_a_turn_that_was_cut_off_before_its_agent_started_is_handed_out_again_and_runs_once(started: Box) -> None:
    sha = started.commit({"a": "1"})
    files = [{"path": "cred", "content": base64.b64encode(b"secret").decode()}]
    started.service.before_git = lambda _: time.sleep(1)
    told = started.give("echo once", sha, files=files)
    started.service.wait(lambda: told.tokens)
    reporter = started.holder(told, "lock")
    started.kill()
    os.kill(reporter, signal.SIGKILL)
    started.service.before_git = None
    started.start()
    assert started.service.result(told).exit_code == 0
    assert told.output == b"once\n"
    assert len(told.handed_out) == 2
    started.idle(told)
    assert not (started.agent_home / "cred").exists()


def test_credentials_are_taken_away_after_a_crash_and_refreshed_ones_are_not_lost(started: Box) -> None:
    files = [
        {"path": "key", "content": base64.b64encode(b"secret").decode()},
        {"path": "auth.json", "content": base64.b64encode(b"old").decode(), "read_back": True},
    ]
    told = started.give("echo new > ~/auth.json; echo up; sleep 1000", None, files=files)
    started.service.wait(lambda: told.output)
    doomed = [started.holder(told, "lock"), started.holder(told, "supervisor")]
    started.kill()
    for pid in doomed:
        os.kill(pid, signal.SIGKILL)
    assert (started.agent_home / "key").exists()
    started.start()
    result = started.service.result(told)
    assert [base64.b64decode(file.content) for file in result.files] == [b"new\n"]
    started.idle(told)
    assert not (started.agent_home / "key").exists()
    assert not (started.agent_home / "auth.json").exists()


def test_a_runner_that_is_asked_to_stop_ends_its_turn_reports_it_and_goes(started: Box) -> None:
    told = counting(started, lines=1000)
    assert started.process is not None
    started.process.terminate()
    assert started.process.wait(60) == 0
    assert told.result is not None
    assert told.result["reason"] == protocol.RUNNER_RESTARTED
    assert "stopped" in told.result["message"]
    assert bytes(told.output) == counted(told.output.count(b"\n"))
    assert not remains(told.turn["marker"])


@pytest.mark.parametrize("seed", range(2))
def test_kills_at_random_moments_never_lose_or_double_a_line_and_always_end_in_one_result(box: Box, seed: int) -> None:
    chance = random.Random(seed)
    box.start()
    sha = box.commit({"a": "1"})
    told = box.give(COUNT.format(lines=20, pause=0.03), sha)
    for _ in range(5):
        time.sleep(chance.uniform(0, 0.4))
        if chance.random() < 0.6:
            box.kill()
        for lock in ("lock", "supervisor") if chance.random() < 0.1 else ("lock",):
            pid = signed(box.state(told) / lock)
            if pid and chance.random() < 0.7 and alive(pid):
                process_tree.send(pid, signal.SIGKILL)
        if box.process is not None and box.process.poll() is not None:
            box.start()
    result = box.service.result(told)
    lines = told.output.count(b"\n")
    assert bytes(told.output) == counted(lines)
    if result.reason == protocol.EXITED:
        assert lines == 20
        assert result.exit_code == 4
    else:
        assert result.reason == protocol.RUNNER_RESTARTED, result.message
    box.idle(told)
    assert not remains(told.turn["marker"])


def test_a_fetch_that_outlived_its_runner_is_ended_and_its_locks_are_gone(started: Box) -> None:
    sha = started.commit({"a": "1"})
    reached: list[str] = []

    def hang(path: str) -> None:
        reached.append(path)
        time.sleep(1.5)

    started.service.before_git = hang
    told = started.give("cat a", sha)
    started.service.wait(lambda: reached)
    started.service.before_git = None
    os.kill(started.holder(told, "lock"), signal.SIGKILL)
    store = started.home / "given/repos/7"
    for name in ("shallow.lock", "packed-refs.lock", "objects/tmp_obj"):
        (store / name).touch()
    assert started.service.result(told).exit_code == 0
    assert told.output == b"1"
    assert not [*store.rglob("*.lock"), *store.rglob("tmp_*")]

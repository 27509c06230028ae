"""kill -9 of the web or the worker at any moment, on a GitHub that is late in everything: the loop ends green, with no
commit or comment more or less."""

import random
import signal
import time

import pytest

from k8s.runner.processes import process_tree
from tests.e2e.demo import children, finish, start
from tests.tools import need

KILLS = 6
LATE = ("--fault", "lag,what=*,seconds=2", "--fault", "ci_delay,seconds=2", "--fault", "delay,event=check_*,seconds=1")


@pytest.mark.parametrize(("victim", "pause"), [("worker", 1.3), ("web", 1.1)])
def test_killing_a_process_again_and_again_changes_nothing_in_the_end(victim: str, pause: float) -> None:
    need("git")
    chance = random.Random(victim)
    process = start(*LATE)
    killed = 0
    while process.poll() is None and killed < KILLS:
        time.sleep(pause + chance.random() * 2)
        killed += sum(process_tree.send(pid, signal.SIGKILL) for pid in children(process, victim))
    ended = finish(process, seconds=300)
    result = ended.result
    assert killed >= 3
    assert (ended.code, result["outcome"], result["attempts"]) == (0, "green", 1), result
    assert [bool(turn["commit"]) for turn in result["turns"]] == [True, True]
    assert (result["comments"], result["commits"]) == (1, 2)

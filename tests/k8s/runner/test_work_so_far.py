"""What an agent has changed is told while it works, and nothing that it puts into its checkout holds up its turn."""

import contextlib
import os
import signal
import time
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

import pytest

from k8s.runner import protocol, work_so_far
from k8s.runner.files import Places
from k8s.runner.git.work_tree import TooManyEntries, WorkTree
from k8s.runner.reporting import Reporter
from k8s.runner.service.link import Link
from k8s.runner.state import Home, TurnState
from k8s.runner.work_so_far import WorkSoFar
from tests.k8s.runner.conftest import Box
from tests.k8s.runner.double import Told

OFTEN = 0.05
UNTIL = "until [ -e {go} ]; do sleep 0.02; done; "


def go_of(box: Box) -> Path:
    return box.root / "go"


def working(box: Box, script: str, sha: str, **about: object) -> Told:
    """A turn that does what `script` says, and then waits for `go_of`."""
    return box.give(f"{script}\n{UNTIL.format(go=go_of(box))}", sha, work_seconds=OFTEN, **about)


def test_what_an_agent_has_changed_is_told_as_it_changes_and_only_then(started: Box) -> None:
    sha = started.commit({"a": "1\n", "b": "2\n", ".gitignore": "*.log\n"})
    second = started.root / "second"
    told = working(
        started, f"echo 3 > a; rm b; echo x > new; echo y > n.log; {UNTIL.format(go=second)} echo 4 > a", sha
    )
    started.service.wait(lambda: told.work and len(told.work[-1].changes) == 3)
    first = told.work[-1]
    assert [(each.path, each.sha is None) for each in first.changes] == [("a", False), ("b", True), ("new", False)]
    assert first.base == sha and "+3" in first.diff and "n.log" not in first.diff
    second.touch()
    started.service.wait(lambda: "+4" in told.work[-1].diff)
    go_of(started).touch()
    result = started.service.result(told)
    assert result.diff == told.work[-1].diff
    assert all(one != other for one, other in pairwise(told.work)), "the same was told twice"
    started.idle(told)


def test_a_box_that_ends_without_a_word_has_told_the_work_of_its_agent(started: Box) -> None:
    sha = started.commit({"a": "1\n"})
    told = working(started, "echo half > done", sha)
    started.service.wait(lambda: told.work)
    doomed = [started.holder(told, "lock"), started.holder(told, "supervisor")]
    started.kill()
    for pid in doomed:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert told.result is None
    assert [each.path for each in told.work[-1].changes] == ["done"] and "+half" in told.work[-1].diff


def test_links_pipes_and_files_of_any_size_hold_up_no_look_and_no_turn(started: Box) -> None:
    sha = started.commit({"a": "1\n", "dir/b": "2\n"})
    hostile = """
        echo half > done; mkfifo pipe; rm a; mkfifo a; ln -s / root; ln -s loop loop; ln -s ../.. dir/up
        truncate -s 10G large; mkfifo .gitignore; mkdir -p deep; ln -s /etc/passwd passwd
    """
    told = working(started, hostile, sha)
    started.service.wait(lambda: any(each.path == "done" for each in told.work[-1].changes) if told.work else False)
    work = told.work[-1]
    assert "root:" not in work.diff and "+half" in work.diff
    assert {each.split(" (")[0].strip("`") for each in work.left_out} >= {"pipe", "large"}
    go_of(started).touch()
    assert started.service.result(told).reason == protocol.EXITED


def test_more_than_a_turn_may_change_is_not_told_and_the_turn_goes_on(box: Box) -> None:
    sha = box.commit({"a": "1\n"})
    box.start("--beat-seconds", "0.1")
    told = working(box, "echo one; mkdir many; cd many; seq 40 | xargs touch", sha, limits={"changed_files": 20})
    box.service.wait(lambda: b"is not told: 40 files changed" in box.log.read_bytes())
    go_of(box).touch()
    result = box.service.result(told)
    assert (result.reason, told.work, bytes(told.output)) == (protocol.TOO_MANY_CHANGES, [], b"one\n")


def test_nothing_is_told_where_the_service_does_not_ask_for_it(started: Box) -> None:
    sha = started.commit({"a": "1\n"})
    told = started.give("echo 2 > a", sha)
    started.service.result(told)
    assert told.work == []
    assert not [each for each in started.service.requests if each.endswith("/work")]


def test_a_look_that_does_not_end_is_ended_waited_for_by_nobody_and_tried_less_often(
    box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(*_: object) -> NoReturn:
        while True:
            time.sleep(60)

    monkeypatch.setattr(work_so_far, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(work_so_far, "SHARE", 1)
    monkeypatch.setattr(Reporter, "so_far", endless)
    turn = protocol.turn_from_json(box.turn("true", "0" * 40, work_seconds=0.01))
    home, said = Home(tmp_path / "box"), tmp_path / "said"
    home.make()

    def say(line: str) -> None:
        with said.open("a") as file:
            file.write(f"{line}\n")

    link = Link("http://127.0.0.1:1", box.token_file, "token")
    work = WorkSoFar(home, link, TurnState(home, turn.turn), Places(home, turn), turn, say)
    until = time.monotonic() + 60
    while not said.exists() or said.read_text().count("\n") < 2:
        work.look()
        assert time.monotonic() < until
        time.sleep(0.005)
    assert said.read_text() == 2 * "its work so far is not told: it took over 0.1 s\n"
    work.end()


def test_no_more_entries_are_read_than_a_look_may(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / "here" / str(number)).mkdir(parents=True)
    tree = WorkTree(tmp_path, "here")
    assert tree.look({}, 30).entries == {}
    with pytest.raises(TooManyEntries, match="more than 29"):
        tree.look({}, 29)

"""Old objects go; what a turn works with stays."""

import json
import os
import time
from pathlib import Path

import pytest

from k8s.runner import disk
from k8s.runner.git.pruning import AT_ONCE, make_space, prune_old
from k8s.runner.protocol import turn_from_json
from k8s.runner.state import Home, TurnState
from tests.k8s.runner.conftest import Box

DAY = 86400.0
NOW = time.time()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    made.make()
    return made


def store(home: Home, number: int, *, days: float) -> Path:
    path = home.repos / str(number)
    (path / "objects").mkdir(parents=True)
    (home.locks / f"{number}.lock").write_text("")
    os.utime(home.locks / f"{number}.lock", (NOW - days * DAY,) * 2)
    return path


def running(home: Home, repository: int) -> None:
    state = TurnState(home, "t_1")
    state.path.mkdir()
    about = {"id": repository, "full_name": "o/r", "sha": "a" * 40, "ref": "r", "branch": "b"}
    turn = {"turn": "t_1", "marker": "m", "workdir": "w", "argv": ["x"], "repository": about}
    state.make(turn_from_json(json.loads(json.dumps(turn))))


def test_what_was_not_used_for_days_goes_and_the_rest_stays(home: Home) -> None:
    gone, kept = store(home, 7, days=8), store(home, 8, days=6)
    assert prune_old(home, 7 * DAY) == 1
    assert (gone.exists(), kept.exists()) == (False, True)
    assert prune_old(home, 7 * DAY) == 0


def test_what_a_turn_works_with_is_never_deleted(home: Home) -> None:
    objects = store(home, 7, days=99)
    running(home, 7)
    assert prune_old(home, 7 * DAY) == 0
    assert objects.exists()


def test_only_a_few_go_at_once_and_the_oldest_first(home: Home) -> None:
    stores = [store(home, number, days=100 - number) for number in range(AT_ONCE + 3)]
    assert prune_old(home, 7 * DAY) == AT_ONCE
    assert [path.exists() for path in stores] == [False] * AT_ONCE + [True] * 3


def test_a_full_disk_takes_the_oldest_until_there_is_space(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    stores = [store(home, number, days=3 - number) for number in range(3)]
    monkeypatch.setattr(disk, "is_low", lambda _: stores[1].exists())
    assert make_space(home) == 2
    assert [path.exists() for path in stores] == [False, False, True]


def test_after_a_turn_old_objects_are_deleted_and_its_own_are_kept(box: Box) -> None:
    sha = box.commit({"a.txt": "a\n"})
    home = Home(box.home)
    home.make()
    old = store(home, 8, days=8)
    box.start()
    assert box.service.result(box.give("echo x > b.txt", sha)).exit_code == 0
    box.service.wait(lambda: not old.exists())
    assert [path.name for path in home.repos.iterdir()] == ["7"]


def test_a_turn_that_is_forgotten_while_turns_are_looked_for_is_not_among_them(home: Home) -> None:
    running(home, 7)
    (home.turns / "t_2").symlink_to("gone by the time it is looked at")
    assert [state.id for state in home.turn_states()] == ["t_1"]

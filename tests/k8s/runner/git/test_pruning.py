"""Old checkouts and objects go; what a turn works with, and what is not ours, stays."""

import json
import os
import time
from pathlib import Path

import pytest

from k8s.runner import disk
from k8s.runner.git.pruning import AT_ONCE, make_space, prune_old, record_of
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


def checkout(home: Home, name: str, *, days: float) -> Path:
    folder = home.path / "Code" / name
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("a")
    index = home.root / "checkouts" / f"{name.replace('/', '-')}.index"
    index.write_text("")
    record_of(index).write_text(f"Code/{name}")
    os.utime(record_of(index), (NOW - days * DAY,) * 2)
    return folder


def store(home: Home, number: int, *, days: float) -> Path:
    path = home.root / "repos" / str(number)
    (path / "objects").mkdir(parents=True)
    path.with_name(f"{number}.lock").write_text("")
    os.utime(path.with_name(f"{number}.lock"), (NOW - days * DAY,) * 2)
    return path


def running(home: Home, workdir: str, repository: int) -> None:
    state = TurnState(home, "t_1")
    state.path.mkdir()
    about = {"id": repository, "full_name": "o/r", "sha": "a" * 40, "ref": "r", "branch": "b"}
    turn = {"turn": "t_1", "marker": "m", "workdir": workdir, "argv": ["x"], "repository": about}
    state.make(turn_from_json(json.loads(json.dumps(turn))))


def test_what_was_not_used_for_days_goes_with_its_empty_folders_and_the_rest_stays(home: Home) -> None:
    old, fresh = checkout(home, "o/old/branch", days=8), checkout(home, "p/fresh", days=6)
    gone, kept = store(home, 7, days=8), store(home, 8, days=6)
    assert prune_old(home, 7 * DAY) == 2
    assert (old.exists(), gone.exists(), (home.path / "Code/o").exists()) == (False, False, False)
    assert (fresh / "a.txt").exists()
    assert kept.exists()
    assert prune_old(home, 7 * DAY) == 0


def test_what_a_turn_works_with_is_never_deleted(home: Home) -> None:
    folder, objects = checkout(home, "o/running", days=99), store(home, 7, days=99)
    running(home, "Code/o/running", 7)
    assert prune_old(home, 7 * DAY) == 0
    assert folder.exists()
    assert objects.exists()


def test_only_a_few_go_at_once_and_the_oldest_first(home: Home) -> None:
    folders = [checkout(home, f"o/{number}", days=100 - number) for number in range(AT_ONCE + 3)]
    assert prune_old(home, 7 * DAY) == AT_ONCE
    assert [folder.exists() for folder in folders] == [False] * AT_ONCE + [True] * 3


def test_a_full_disk_takes_the_oldest_until_there_is_space(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [checkout(home, f"o/{number}", days=3 - number) for number in range(3)]
    monkeypatch.setattr(disk, "is_low", lambda _: folders[1].exists())
    assert make_space(home) == 2
    assert [folder.exists() for folder in folders] == [False, False, True]


@pytest.mark.parametrize("said", ["../outside", ".", "", ".greenloop/turns", "link/outside"])
def test_a_record_that_was_tampered_with_deletes_nothing(home: Home, tmp_path: Path, said: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (home.path / "link").symlink_to(tmp_path)
    record = home.root / "checkouts" / "x.path"
    record.write_text(said)
    os.utime(record, (0, 0))
    assert prune_old(home, DAY) == 0
    assert outside.exists()
    assert home.turns.exists()


def test_after_a_turn_old_checkouts_are_deleted_and_its_own_is_kept(box: Box) -> None:
    sha = box.commit({"a.txt": "a\n"})
    home = Home(box.home)
    home.make()
    old = checkout(home, "o/old", days=8)
    box.start()
    told = box.give("echo x > b.txt", sha)
    assert box.service.result(told).exit_code == 0
    records = home.root / "checkouts"
    box.service.wait(lambda: not old.exists() and len(list(records.glob("*.path"))) == 1)
    assert (box.checkout / "a.txt").exists()
    (record,) = records.glob("*.path")
    assert home.path / record.read_text() == box.checkout


def test_a_turn_that_is_forgotten_while_turns_are_looked_for_is_not_among_them(home: Home) -> None:
    running(home, "Code/o/r", 7)
    (home.turns / "t_2").symlink_to("gone by the time it is looked at")
    assert [state.id for state in home.turn_states()] == ["t_1"]

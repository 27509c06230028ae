"""When output is sent: at once where somebody waits for it, and not more often than it has to be."""

import itertools
from pathlib import Path
from typing import cast

import pytest

from k8s.runner import protocol
from k8s.runner.protocol import Output, OutputAnswer
from k8s.runner.service import shipping
from k8s.runner.service.link import Link
from k8s.runner.service.shipping import PAUSE_SECONDS, Shipping
from k8s.runner.state import Home, TurnState

BEAT = 2.0


class World:
    """A clock that only sleeping moves, an agent that prints by it, and a service that takes everything."""

    def __init__(self, stdout: Path, prints: dict[float, str]) -> None:
        self.now = 100.0
        self.posts: list[tuple[float, str]] = []
        self._stdout, self._prints = stdout, prints

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def ended(self) -> bool:
        for at in [at for at in self._prints if 100.0 + at <= self.now]:
            with self._stdout.open("a") as file:
                file.write(self._prints.pop(at))
        return not self._prints

    def output(self, turn: str, output: Output, *, patience: float | None = None) -> OutputAnswer:
        data = protocol.decode(output.data, "data")
        self.posts.append((round(self.now - 100.0, 2), data.decode()))
        return OutputAnswer(output.offset + len(data))


def followed(folder: Path, monkeypatch: pytest.MonkeyPatch, prints: dict[float, str]) -> list[tuple[float, str]]:
    """When what was posted, from the moment at which the agent began."""
    state = TurnState(Home(folder), "t_1")
    state.path.mkdir(parents=True)
    world = World(state.stdout, prints)
    monkeypatch.setattr(shipping, "time", world)
    ships = Shipping(cast(Link, world), state, BEAT)
    ships.begin()
    ships.follow(world.ended, lambda reason: None)
    return world.posts[1:]


def test_the_first_words_and_what_comes_after_silence_are_sent_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts = followed(tmp_path, monkeypatch, {0.0: "first\n", 2.5: "after silence\n", 9.0: "last\n"})
    told = [(at, data) for at, data in posts if data]
    assert [data for _, data in told] == ["first\n", "after silence\n", "last\n"]
    assert told[0][0] == 0.0
    assert told[1][0] == pytest.approx(2.5, abs=0.05)


def test_lines_that_come_one_after_the_other_are_sent_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    posts = followed(tmp_path, monkeypatch, {number / 20: f"{number}\n" for number in range(20)})
    assert "".join(data for _, data in posts) == "".join(f"{number}\n" for number in range(20))
    assert all(after[0] - before[0] >= PAUSE_SECONDS for before, after in itertools.pairwise(posts[:-1]))


def test_silence_is_no_longer_than_a_beat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    posts = followed(tmp_path, monkeypatch, {0.0: "first\n", 9.0: "last\n"})
    moments = [0.0, *(at for at, _ in posts)]
    assert max(after - before for before, after in itertools.pairwise(moments)) <= BEAT + 0.1

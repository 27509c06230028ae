"""The runner's end of the connection to the agent's container: who may come, once, and what if nobody answers."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from k8s.runner.processes import agent_container, agent_keeper
from k8s.runner.processes.agent_box import AgentBox, BoxLost
from k8s.runner.processes.agent_container import AgentContainer, NoSupervisor, give_folder
from k8s.runner.protocol import AssignedTurn
from k8s.runner.state import Home, TurnState, held
from tests.k8s.runner.conftest import RUNNER


class Pod:
    """The folders of a pod, and a supervisor as its agent's container has it."""

    def __init__(self, root: Path) -> None:
        # deeper than the name of a socket may be long
        folder = root / ("x" * 60) / ("y" * 60)
        folder.mkdir(parents=True)
        self.home = Home(root / "home")
        self.home.make()
        self.socket = folder / "agent"
        self.state = TurnState(self.home, "t_1")
        self.state.path.mkdir()
        self.said: list[str] = []
        self.stack = contextlib.ExitStack()
        command = [sys.executable, "-I", "-S", "-B", str(RUNNER), "supervise", "--agent", str(self.home.agent)]
        command += ["--given", str(self.home.given), "--socket", str(self.socket)]
        self.supervisor = subprocess.Popen(command, start_new_session=True)

    def accept(self, user: int | None = None) -> AgentContainer:
        container = AgentContainer.accept(self.socket, os.getuid() if user is None else user, self.said.append)
        self.stack.callback(container._connection.close)
        return container

    def open(self, container: AgentContainer) -> AgentBox:
        box = container.open(self.state, [])
        self.stack.callback(box.close)
        return box

    def end(self) -> None:
        self.stack.close()
        self.supervisor.send_signal(signal.SIGCONT)
        self.supervisor.kill()
        self.supervisor.wait()


@pytest.fixture
def pod(tmp_path: Path) -> Iterator[Pod]:
    made = Pod(tmp_path)
    yield made
    made.end()


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def test_the_supervisor_comes_once_and_nobody_after_it(pod: Pod) -> None:
    container = pod.accept()
    assert not pod.socket.exists()
    for _ in range(2):
        # turn after turn by the same connection
        box = pod.open(container)
        assert box.ask("prepare", files=[], workdir="w", checkout=None) == {"id": box.send("clear") - 1, "said": ""}
        box.close()
    assert container.is_there()
    assert not container.lost


def test_a_process_of_another_user_is_turned_away(pod: Pod, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_container, "CONNECT_SECONDS", 3.0)
    with pytest.raises(NoSupervisor, match="did not connect"):
        pod.accept(user=os.getuid() + 1)
    assert f"a process of user {os.getuid()} at {pod.socket} was turned away" in pod.said[0]
    assert not pod.socket.exists()


def test_what_stands_in_the_place_of_the_socket_is_an_error_and_not_taken_away(pod: Pod) -> None:
    pod.socket.write_text("evil")
    with pytest.raises(OSError, match="in use"):
        pod.accept()
    assert pod.socket.read_text() == "evil"


def test_a_supervisor_that_is_stopped_hangs_nothing(pod: Pod, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_container, "SEND_SECONDS", 1)
    monkeypatch.setattr(agent_container, "RESTORE_SECONDS", 0.2)
    container = pod.accept()
    box = pod.open(container)
    pod.supervisor.send_signal(signal.SIGSTOP)
    until(lambda: stopped(pod.supervisor.pid))
    with pytest.raises(BoxLost, match="gone"):
        # more than the kernel keeps for somebody who does not read
        box.ask(
            "prepare", files=[{"path": "x", "content": "x" * 10_000_000, "mode": 0o600}], workdir="w", checkout=None
        )
    with pytest.raises(BoxLost):
        pod.open(container)
    assert container.lost
    container.clear()  # asks nobody any more: it would wait for minutes


def test_a_supervisor_that_was_killed_is_noticed_without_asking(pod: Pod) -> None:
    container = pod.accept()
    pod.supervisor.kill()
    until(lambda: not container.is_there())
    with pytest.raises(BoxLost):
        pod.open(container)
    assert container.lost


def test_what_a_killed_keeper_had_half_read_disturbs_nobody(pod: Pod) -> None:
    container = pod.accept()
    box = pod.open(container)
    box.send("prepare", files=[], workdir="w", checkout=None)
    with socket.socket(fileno=os.dup(box.fileno())) as killed:
        assert len(killed.recv(7)) == 7
    box.close()
    again = pod.open(container)
    assert again.ask("clear") == {"id": again.send("end") - 1}


def test_an_agent_whose_keeper_is_killed_is_ended_before_the_next_turn(pod: Pod) -> None:
    container = pod.accept()
    pod.state.make(AssignedTurn(turn="t_1", marker="m", workdir="w", argv=["sleep", "7654.5"]))
    box = pod.open(container)
    script = ["sh", "-c", f"env -i sleep 7654.5 & echo $! > {pod.home.path}/pid; wait"]
    task = agent_keeper.Task(script, dict(os.environ), pod.home.path, b"", "m", 600, 1000)
    keeper = agent_keeper.start(pod.state, task, box)
    box.close()
    file = pod.home.path / "pid"
    until(lambda: file.exists() and file.read_text())
    os.kill(keeper, signal.SIGKILL)
    os.waitpid(keeper, 0)
    assert not held(pod.state.supervisor)
    container.end(pod.state)
    assert not Path(f"/proc/{file.read_text().strip()}").exists()
    assert not container.lost


def test_the_folder_of_a_release_whose_agents_were_the_runners_user_is_emptied_and_given_away(tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    (agent / "caches" / "pip").mkdir(parents=True)
    (agent / "home").symlink_to("/")
    agent.chmod(0o700)
    give_folder(agent)
    assert list(agent.iterdir()) == []
    assert agent.stat().st_mode & 0o777 == 0o770
    (agent / "caches").mkdir()
    give_folder(agent)
    assert list(agent.iterdir()) == [agent / "caches"]

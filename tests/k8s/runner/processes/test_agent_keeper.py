"""Agents that end, hang, hide and daemonize: nothing of them is left, and how they ended is known."""

import hashlib
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from k8s.runner.processes import agent_keeper, process_tree
from k8s.runner.processes.agent_box import AgentBox
from k8s.runner.processes.walls import Walls
from k8s.runner.protocol import AssignedTurn
from k8s.runner.state import Home, TurnState, held
from tests.k8s.runner.conftest import alive, remains
from tests.tools import need

PYTHON = need("python3")
DAEMON = """
import os, sys, time
if os.fork(): sys.exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.environ.clear()
os.closerange(0, 100)
open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(1000)
"""
RUNNING_AWAY = """
import os, sys, time
# forks for ever, each child in a session of its own, the parent gone at once
open(sys.argv[1], "w").close()
while True:
    if os.fork():
        os._exit(0)
    os.setsid()
"""
LOOKING = """
import fcntl, sys, time
fcntl.flock(open(sys.argv[1], "w"), fcntl.LOCK_EX)
print(flush=True)
time.sleep(0.3)
"""


class Kept:
    """A supervisor that was started for one script."""

    def __init__(self, root: Path, *argv: str, seconds: float = 30, stdin: bytes = b"", output: int = 10**7) -> None:
        home = Home(root / "home")
        home.make()
        self.marker = f"gl-supervisor-{os.getpid()}-{time.monotonic_ns()}"
        self.state = TurnState(home, "t_1")
        self.state.path.mkdir(exist_ok=True)
        self.state.make(AssignedTurn(turn="t_1", marker=self.marker, workdir="w", argv=list(argv)))
        env = {"PATH": os.environ["PATH"], process_tree.MARKER_NAME: self.marker}
        task = agent_keeper.Task(list(argv), env, root, stdin, self.marker, seconds, output)
        with self.state.box.open("w") as held_by_box:
            box = AgentBox(Walls().open(home.agent, home.given, None, held_by_box.fileno()))
        self.pid = agent_keeper.start(self.state, task, box)
        box.close()

    def ended(self, within: float = 60) -> dict[str, object]:
        until = time.monotonic() + within
        while held(self.state.supervisor):
            assert time.monotonic() < until, "the supervisor does not end"
            time.sleep(0.01)
        os.waitpid(self.pid, 0)
        end = self.state.end()
        assert end is not None, (self.state.path / "supervisor.error").read_text()
        return end

    def printed(self, within: float = 60) -> str:
        until = time.monotonic() + within
        while not self.state.stdout.exists() or not self.state.stdout.read_bytes().endswith(b"\n"):
            assert time.monotonic() < until
            time.sleep(0.01)
        return self.state.stdout.read_text().strip()


def read_pid(path: Path, within: float = 60) -> int:
    until = time.monotonic() + within
    while not path.exists() or not path.read_text():
        assert time.monotonic() < until
        time.sleep(0.01)
    return int(path.read_text())


def test_the_exit_code_and_what_the_agent_took_are_known(tmp_path: Path) -> None:
    end = Kept(tmp_path, "bash", "-c", "exit 7").ended()
    assert (end["how"], end["exit_code"], end["swept"]) == (agent_keeper.EXITED, 7, 0)
    assert isinstance(end["max_rss"], int)
    assert 10**5 < end["max_rss"] < 10**9


def test_who_looks_whether_there_is_a_supervisor_does_not_keep_it_from_beginning(tmp_path: Path) -> None:
    state = Home(tmp_path / "home").turns / "t_1"
    state.mkdir(parents=True)
    with subprocess.Popen([PYTHON, "-c", LOOKING, state / "supervisor"], stdout=subprocess.PIPE) as looking:
        assert looking.stdout and looking.stdout.readline()
        assert Kept(tmp_path, "bash", "-c", "exit 7").ended()["exit_code"] == 7


def test_a_signal_that_ends_the_agent_is_its_negative_exit_code(tmp_path: Path) -> None:
    assert Kept(tmp_path, "bash", "-c", "kill -SEGV $$").ended()["exit_code"] == -signal.SIGSEGV


@pytest.mark.parametrize(
    "hiding",
    [
        "sleep 1000",
        "setsid sleep 1000",
        "nohup setsid sleep 1000",
        "env -i setsid nohup sleep 1000",
        "env -i setsid setsid nohup bash -c 'trap \"\" HUP INT TERM; while :; do sleep 1; done'",
    ],
)
def test_background_processes_of_a_good_agent_are_swept(tmp_path: Path, hiding: str) -> None:
    kept = Kept(tmp_path, "bash", "-c", f"{hiding} >/dev/null 2>&1 & echo $!; exit 0")
    end = kept.ended()
    assert end["exit_code"] == 0
    assert isinstance(end["swept"], int)
    assert end["swept"] >= 1
    assert not alive(int(kept.printed()))
    assert not remains(kept.marker)


def test_a_daemon_with_an_empty_environment_that_forked_twice_is_swept(tmp_path: Path) -> None:
    kept = Kept(tmp_path, PYTHON, "-c", DAEMON, str(tmp_path / "pid"))
    pid = read_pid(tmp_path / "pid")
    assert kept.ended()["swept"] in (0, 1)
    assert not alive(pid)


def test_processes_that_run_away_by_forking_are_caught(tmp_path: Path) -> None:
    kept = Kept(tmp_path, PYTHON, "-c", RUNNING_AWAY, str(tmp_path / "ran"))
    read_until = time.monotonic() + 60
    while not (tmp_path / "ran").exists():
        assert time.monotonic() < read_until
    assert kept.ended()["left"] == []
    assert not remains(kept.marker)


def test_a_hanging_agent_is_ended_at_its_limit_with_time_for_last_words(tmp_path: Path) -> None:
    script = "trap 'echo interrupted; exit 5' INT; echo ready; while :; do sleep 0.05; done"
    kept = Kept(tmp_path, "bash", "-c", script, seconds=2)
    end = kept.ended()
    assert (end["how"], end["exit_code"]) == (agent_keeper.DEADLINE, 5)
    assert kept.printed() == "ready\ninterrupted"


def test_an_agent_that_ignores_all_signals_is_gone_after_three_seconds(tmp_path: Path) -> None:
    script = (
        "trap '' INT TERM HUP; setsid bash -c 'trap \"\" INT TERM; sleep 1000' & echo $!; while :; do sleep 1; done"
    )
    kept = Kept(tmp_path, "bash", "-c", script)
    child = int(kept.printed())
    began = time.monotonic()
    os.kill(kept.pid, signal.SIGTERM)
    end = kept.ended()
    assert time.monotonic() - began > 2.8
    assert (end["how"], end["exit_code"]) == (agent_keeper.ASKED, -signal.SIGKILL)
    assert not alive(child)


def test_a_helper_that_still_writes_when_the_agent_has_ended_is_heard(tmp_path: Path) -> None:
    kept = Kept(tmp_path, "bash", "-c", "exec > >(sleep 0.1; cat); echo last words")
    kept.ended()
    assert kept.printed() == "last words"


def test_a_background_child_that_holds_the_output_open_does_not_hold_up_the_end(tmp_path: Path) -> None:
    kept = Kept(tmp_path, "bash", "-c", "sleep 1000 & echo done")
    assert kept.ended()["swept"] == 1


def test_an_agent_has_a_session_of_its_own_and_makes_private_files(tmp_path: Path) -> None:
    script = f"umask; ps -o sid= -p $$ | tr -d ' '; echo $$; touch {tmp_path}/made"
    kept = Kept(tmp_path, "bash", "-c", script)
    kept.ended()
    mask, session, pid = kept.printed().split()
    assert mask == "0077"
    assert session == pid
    assert (tmp_path / "made").stat().st_mode & 0o077 == 0


def test_interrupts_reach_the_agent_as_if_it_had_been_started_by_a_shell(tmp_path: Path) -> None:
    kept = Kept(tmp_path, "bash", "-c", "grep -E 'SigIgn|SigBlk' /proc/self/status | cut -f2 | tr '\\n' ' '; echo")
    kept.ended()
    # signals 32 and up are the C library's own; some versions of make leave them ignored
    standard = [int(mask, 16) & 0x7FFFFFFF for mask in kept.printed().split()]
    assert standard == [0, 0]


def test_a_prompt_of_two_megabytes_goes_in_whole_and_ends(tmp_path: Path) -> None:
    prompt = os.urandom(1_000_000).hex().encode()
    kept = Kept(tmp_path, "sha256sum", stdin=prompt)
    assert kept.ended()["exit_code"] == 0
    assert kept.printed().split()[0] == hashlib.sha256(prompt).hexdigest()


def test_an_agent_that_does_not_read_its_prompt_is_not_held_up(tmp_path: Path) -> None:
    assert Kept(tmp_path, "true", stdin=b"x" * 2_000_000).ended()["exit_code"] == 0
    (tmp_path / "second").mkdir()
    kept = Kept(tmp_path / "second", "bash", "-c", "exec <&-; sleep 0.2; echo fine", stdin=b"x" * 2_000_000)
    kept.ended()
    assert kept.printed() == "fine"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["no-such-agent"], "not in this box"),
        (["/no/such/agent"], "not in this box"),
        (["/etc/passwd"], "permission denied"),
        (["bash", "-c", "x" * 200_000], "belong on stdin"),
        (["bash", "a\0b"], "could not be started"),
    ],
)
def test_an_agent_that_cannot_be_started_says_why_and_what_to_do(tmp_path: Path, argv: list[str], said: str) -> None:
    end = Kept(tmp_path, *argv).ended()
    assert end["how"] == agent_keeper.NOT_STARTED
    assert said in str(end["message"])


def test_a_script_without_an_interpreter_line_is_named_as_such(tmp_path: Path) -> None:
    (tmp_path / "agent").write_bytes(b"\x00\x01 no program")
    (tmp_path / "agent").chmod(0o755)
    assert "#!" in str(Kept(tmp_path, str(tmp_path / "agent")).ended()["message"])

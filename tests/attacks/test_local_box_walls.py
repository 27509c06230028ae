"""What hostile code in a local box behind walls tries against its runner, its neighbours and the next turn."""

import asyncio
import ctypes
import os
import signal
import socket
from pathlib import Path

import pytest

from k8s.local import LocalBoxes
from k8s.runner import protocol
from k8s.runner.processes import process_tree
from k8s.runner.processes.walls import BWRAP, PROCESSES
from tests.attacks import namespaces
from tests.attacks.walled import SERVICES_SECRET, Walled, printed, server, service, walled
from tests.k8s.runner.double import BOX_TOKEN
from tests.tools import need

__all__ = ["server", "service", "walled"]


async def test_a_turn_works_behind_the_walls_with_its_checkout_history_and_evidence(walled: Walled) -> None:
    first = walled.commit({"a": "1\n", "d/b": "2"})
    sha = walled.commit({"a": "2\n"})
    told, result = await walled.run(
        "cat; git log --format=%s | wc -l; git status --short; echo 3 >> a; git diff --stat", sha
    )
    assert result.exit_code == 0, result.stderr_tail
    assert printed(told).splitlines()[0] == "the prompt2"
    assert " a | 1 +" in printed(told)
    assert [change.path for change in result.changes] == ["a"]
    assert first != sha


async def test_no_process_of_the_runner_can_be_seen_stopped_or_read(walled: Walled) -> None:
    told, _ = await walled.run(
        namespaces.or_exit()
        + """
        cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'
        kill -STOP -1 2>/dev/null
        for pid in $(seq 2 40000); do [ -e /proc/$pid ] && [ $pid != $$ ] && cat /proc/$pid/comm; done
        cat /proc/1/mem /proc/1/environ /proc/1/maps 2>&1 | grep -c 'ermission denied'
        """
    )
    said = printed(told)
    assert BOX_TOKEN not in said and SERVICES_SECRET not in said
    assert "--service" not in said
    assert said.rstrip().endswith("3")


async def test_the_runners_token_and_state_and_other_boxes_cannot_be_read_or_written(
    walled: Walled, tmp_path: Path
) -> None:
    neighbour = tmp_path / "boxes" / "box-2" / "home"
    neighbour.mkdir(parents=True)
    (neighbour / "private.txt").write_text("of somebody else")
    (tmp_path / "app.pem").write_text("the key of the App")
    box = walled.home.parent
    told, _ = await walled.run(
        f"""
        cat {box}/token {tmp_path}/app.pem {neighbour}/private.txt
        ls -A {box} {box}/home {box}/home/runner {tmp_path} /root /home /run
        echo x > {box}/home/given/repos/evil; rm -rf {box}/home/given/repos
        for cage in /etc /usr; do touch $cage/evil; done
        echo end
        """
    )
    said = printed(told)
    known = (BOX_TOKEN, "key of", "somebody", "token\n", "box.json", "lock", "box-2")
    assert [word for word in known if word in said] == [], said
    assert said.endswith("end\n")
    assert (walled.home / "given/repos").is_dir()
    assert not Path("/etc/evil").exists()


async def test_the_fetch_token_is_nowhere_when_an_agent_runs(walled: Walled) -> None:
    sha = walled.commit({"a": "1"})
    told, _ = await walled.run("env; cat /proc/[0-9]*/environ; grep -rs ghs_ ~ ~/../../given /tmp /run /dev/shm", sha)
    assert told.tokens
    assert told.tokens[0] not in printed(told)
    assert "ghs_" not in printed(told)


TAKE_OVER = """
import os, re, signal, sys, urllib.error, urllib.request
service, *places = sys.argv[1:]
for pid in (-1, 1, *(int(name) for name in os.listdir("/proc") if name.isdecimal() and int(name) != os.getpid())):
    try:
        os.kill(pid, signal.SIGSTOP)
    except OSError:
        pass
found = repr(os.environb).encode()
for place in (*places, "/proc", os.path.expanduser("~/../.."), "/tmp", "/run", "/dev/shm"):
    for folder, _, files in os.walk(place):
        for name in files:
            if folder.startswith("/proc") and name not in ("environ", "cmdline"):
                continue
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    found += file.read(100000)
            except OSError:
                pass
result = b'{"reason": "exited", "exit_code": 0, "output_bytes": 0, "changes": []}'
for token in {"guessed", *(each.decode() for each in re.findall(rb"(?:box-token|token-of|ghs_)[\\w-]+", found))}:
    poll = b'{"runner": {"turns": []}}'
    for method, path, body in (("PUT", "turns/t_1/result", result), ("POST", "boxes/box-1/next", poll)):
        asked = urllib.request.Request(f"{service}/{path}", body, {"authorization": "Bearer " + token}, method=method)
        try:
            print("done", urllib.request.urlopen(asked).status)
        except urllib.error.HTTPError as error:
            print("refused", error.code)
print("tried", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
"""


async def test_an_agent_that_stops_what_it_can_and_reports_for_itself_is_refused_and_can_be_cancelled(
    walled: Walled,
) -> None:
    script = (
        f"{namespaces.or_exit()}exec /usr/bin/python3 - {walled.service.url} {walled.home.parent} << 'X'\n{TAKE_OVER}X"
    )
    told = walled.give(script, walled.commit({"a": "1"}))
    await asyncio.to_thread(walled.service.wait, lambda: "tried" in printed(told), what="for the agent to try")
    assert set(printed(told).splitlines()) == {"refused 401", "tried"}
    assert told.results == 0
    told.cancel = "stopped by hand"
    result = await asyncio.to_thread(walled.service.result, told)
    assert (result.reason, told.results) == (protocol.CANCELLED, 1)


async def test_an_agent_that_makes_namespaces_of_its_own_gets_no_more_of_the_machine(walled: Walled) -> None:
    told, _ = await walled.run(
        f"""
        own() {{ unshare --user --map-root-user --mount --pid --fork "$@" 2>/dev/null && echo done "$@"; }}
        own true
        own mount -o remount,rw,bind /usr
        own mount -o remount,rw,bind {walled.home}/given
        own umount {walled.home}/given
        own sh -c 'mount -t proc proc /proc && ls /proc | grep -c "^[0-9]" | grep -vx [1-6]'
        echo end
        """
    )
    if not printed(told).startswith("done true"):
        pytest.skip("an agent can make no namespaces of its own on this machine")
    assert printed(told) == "done true\nend\n"


def test_the_best_walls_that_this_machine_can_do_are_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def with_programs(*names: str) -> str:
        folder = tmp_path / "-".join(names)
        folder.mkdir()
        for name in names:
            (folder / name).symlink_to(need(name))
        with monkeypatch.context() as patch:
            patch.setenv("PATH", str(folder))
            return LocalBoxes(tmp_path / "boxes").walls

    if with_programs("unshare", "setpriv", "true") == PROCESSES:
        pytest.skip("this machine permits no namespaces: unshare is here, and fails")
    assert with_programs("unshare", "setpriv", "true", "bwrap") == BWRAP
    assert with_programs("true") == PROCESSES


DAEMON = """
/usr/bin/python3 -c '
import os, signal, time
for number in range(1, 32):
    try: signal.signal(number, signal.SIG_IGN)
    except OSError: pass
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.environ.clear()
while True: time.sleep(7654.3)
'
"""


async def test_a_daemon_that_hides_is_ended_with_its_turn(walled: Walled) -> None:
    _, result = await walled.run(DAEMON + "env -i setsid nohup sleep 7654.3 > /dev/null 2>&1 &\nexit 3")
    assert (result.exit_code, result.swept) == (3, 2)
    mine = [pid for pid in process_tree.table() if process_tree.works_in(pid, [walled.home / "agent"])]
    assert mine == []


async def test_fork_bombs_end_with_their_turn(walled: Walled) -> None:
    forking = "import os\nwhile True:\n try:\n  os.fork()\n except OSError: pass"
    bomb = f"ulimit -u 150; /usr/bin/python3 -c '{forking}' & sleep 0.5; exit 4"
    _, result = await walled.run(bomb)
    assert (result.reason, result.exit_code) == (protocol.EXITED, 4), result.message
    _, result = await walled.run("exit 5")
    assert result.exit_code == 5


async def test_the_supervisor_cannot_be_signalled_slowed_or_starved_by_its_agent(walled: Walled) -> None:
    told, result = await walled.run(
        """
        for signal in INT TERM HUP QUIT USR1 USR2 STOP SEGV KILL; do kill -$signal 1; done
        /usr/bin/python3 - <<'X'
        import ctypes, os, resource, struct
        libc = ctypes.CDLL(None, use_errno=True)
        def refused(done):
            print("refused" if done == -1 and ctypes.get_errno() == 1 else f"done {done} {ctypes.get_errno()}")
        for limit in (resource.RLIMIT_CPU, resource.RLIMIT_NOFILE):
            try:
                resource.prlimit(1, limit, (1, 1))
                print("done")
            except PermissionError:
                print("refused")
        for which, who in ((os.PRIO_PROCESS, 1), (os.PRIO_USER, 0), (os.PRIO_USER, os.getuid())):
            refused(libc.setpriority(which, who, 19))
        try:
            os.sched_setaffinity(1, {0}); print("done")
        except PermissionError:
            print("refused")
        X
        exit 6
        """
    )
    assert printed(told).split() == ["refused"] * 6, result.stderr_tail
    assert result.exit_code == 6


def supervisor_of(walled: Walled) -> int:
    """The process, as this machine numbers it, that is number 1 in the box of the turn that runs."""
    folder = str(walled.home).encode()
    for pid in process_tree.table():
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        [numbers] = [line.split()[1:] for line in status.splitlines() if line.startswith("NSpid:")]
        if numbers[1:] == ["1"] and b"supervise" in words and any(word.startswith(folder) for word in words):
            return pid
    raise AssertionError("no supervisor is there")


@pytest.mark.parametrize("walled", [BWRAP], indirect=True)  # it takes its time, and is of one kind with the other
async def test_a_turn_whose_supervisor_is_stopped_for_good_ends_with_all_of_its_box_and_the_next_one_works(
    walled: Walled,
) -> None:
    told = walled.give("setsid sleep 7654.5 & echo begun; sleep 7654.5", walled.commit({"a": "1"}))
    await asyncio.to_thread(walled.service.wait, lambda: told.output, what="the agent's first words")
    supervisor = supervisor_of(walled)
    assert process_tree.send(supervisor, signal.SIGSTOP)
    told.cancel = "stopped by hand"
    result = await asyncio.to_thread(walled.service.result, told)
    assert (result.reason, result.exit_code, told.results) == (protocol.CANCELLED, None, 1)
    assert process_tree.look_up(supervisor) is None
    assert [pid for pid in process_tree.table() if process_tree.works_in(pid, [walled.home / "agent"])] == []
    _, result = await walled.run("exit 9", walled.commit({"a": "2"}))
    assert result.exit_code == 9


def landlock_scopes() -> bool:
    """Whether the kernel can keep abstract sockets apart: version 6 of Landlock's interface (Linux 6.12)."""
    landlock_create_ruleset, version = 444, 1
    libc = ctypes.CDLL(None)
    return int(libc.syscall(landlock_create_ruleset, None, ctypes.c_size_t(0), version)) >= 6


async def test_an_agent_holds_no_connection_of_the_runners_and_gets_to_no_socket_without_a_name(walled: Walled) -> None:
    if not landlock_scopes():
        pytest.skip("this kernel keeps no abstract sockets apart (it has no version 6 of Landlock)")
    name = f"greenloop-attacked-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as listens:
        listens.bind("\0" + name)
        listens.listen()
        told, result = await walled.run(
            f"""
            exec /usr/bin/python3 - <<'X'
            import os, socket
            print(*(number for number in range(1024) if os.path.exists(f"/proc/self/fd/{{number}}")))
            try:
                socket.socket(socket.AF_UNIX).connect("\\0{name}")
                print("connected")
            except PermissionError:
                print("refused")
            for place in ("fd", "root", "cwd", "exe", "ns/pid", "map_files"):
                try:
                    os.listdir(f"/proc/1/{{place}}") or os.readlink(f"/proc/1/{{place}}")
                    print("read", place)
                except (PermissionError, NotADirectoryError):
                    print("refused")
            X
            """
        )
    assert printed(told).splitlines() == ["0 1 2", *["refused"] * 7], result.stderr_tail


async def test_a_runner_started_by_root_never_runs_an_agent_as_root(walled: Walled) -> None:
    told, _ = await walled.run(
        "id -u; grep -E '^Cap(Prm|Eff|Bnd|Amb)|^NoNewPrivs' /proc/self/status | cut -f2 | sort -u"
    )
    user, *rights = printed(told).split()
    assert user != "0"
    assert rights == ["0000000000000000", "1"] or os.geteuid() != 0

"""What hostile code in a local box behind walls tries against its runner, its neighbours and the next turn."""

import asyncio
import os
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from k8s.boxes import BoxesUnavailable, BoxSpec
from k8s.local import LocalBoxes
from k8s.runner import protocol
from k8s.runner.processes import process_tree
from tests.k8s.runner.conftest import Box, server, service
from tests.k8s.runner.double import BOX, BOX_TOKEN, Service, Told
from tests.tools import need

__all__ = ["server", "service"]
SERVICES_SECRET = "secret-of-the-service-itself"


class Walled(Box):
    """A box behind walls, in which agents run at once, one after the other."""

    async def run(self, script: str, sha: str | None = None, **about: object) -> tuple[Told, protocol.Result]:
        told = self.give(textwrap.dedent(script), sha, **about)
        return told, await asyncio.to_thread(self.service.result, told)


@pytest.fixture
async def walled(tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Walled]:
    need("bwrap")
    monkeypatch.setenv("GREENLOOP_WEBHOOK_SECRETS", SERVICES_SECRET)
    boxes = LocalBoxes(tmp_path / "boxes", walls="bwrap")
    try:
        assert boxes.walls == "bwrap"
    except BoxesUnavailable:
        pytest.skip("this machine permits no namespaces: bubblewrap is here, and fails")
    made = Walled(tmp_path, service)
    made.home = tmp_path / "boxes" / BOX / "home"
    spec = BoxSpec(name=BOX, owner_key="1/2", token=BOX_TOKEN, service_url=service.url, labels={})
    assert (await boxes.ensure(spec)).usable
    yield made
    await boxes.delete_home(BOX)


def printed(told: Told) -> str:
    return told.output.decode()


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
        f"[ -e /proc/{os.getpid()} ] && exit 1"  # no walls: to go on would stop this machine
        """
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


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes", "a", "d"])
async def test_a_fifo_in_the_place_of_a_file_hangs_nothing_and_is_named(walled: Walled, name: str) -> None:
    sha = walled.commit({"a": "1", ".gitignore": "*.log\n", ".gitattributes": "*.txt text\n", "d/f": "1"})
    _, result = await walled.run(f"rm -rf {name}; mkfifo {name}; echo new > b", sha)
    assert [change.path for change in result.changes if change.sha] == ["b"], result
    assert f"{name} (a FIFO)" in result.left_out


async def test_a_nested_repository_runs_nothing_as_the_runner(walled: Walled) -> None:
    sha = walled.commit({"a": "1", "d/f": "1"})
    _, result = await walled.run(
        """
        cd d; git init -q; echo '* filter=x' > .gitattributes
        git config filter.x.clean "sh -c 'id > /tmp/ran; touch ~/ran; cat'"
        git config core.fsmonitor "touch ~/ran"
        echo 2 > f; git add f; git -c user.name=x -c user.email=x commit -qm x
        rm -f ~/ran; cd ..
        printf '[submodule "d"]\\n\\tpath = d\\n\\turl = x\\n\\tupdate = !touch ~/ran\\n' > .gitmodules
        """,
        sha,
    )
    assert {change.path for change in result.changes} == {".gitmodules", "d/f"}
    assert "d/ (a repository of its own)" in result.left_out
    assert not [folder for folder, _, files in os.walk(walled.home) if "ran" in files]


async def test_what_a_turn_leaves_in_its_home_is_not_there_in_the_next_but_for_downloads(walled: Walled) -> None:
    await walled.run(
        """
        cd; for file in .bashrc .profile .gitconfig .npmrc .claude/settings.json .codex/config.toml .cargo/config.toml \
            .config/opencode/plugin/x.js .gradle/init.d/x.gradle .m2/settings.xml .local/bin/git go/bin/go \
            .local/lib/python3.11/site-packages/usercustomize.py .npm/_npx/x .npm/_cacache/kept .cache/pip/kept; do
            mkdir -p $(dirname $file); echo evil > $file
        done
        mkdir ../beside ../caches/evil; echo evil > ../caches/x; ln -s / ../link
        echo evil | tee /tmp/evil /var/tmp/evil /dev/shm/evil > /dev/null
        """
    )
    told, _ = await walled.run("cd; find -L . -type f; ls ..; ls ../caches; ls -A /tmp /var/tmp /dev/shm | grep evil")
    names = ["caches", "home", "cargo", "go", "gradle", "maven", "npm", "pip"]
    assert sorted(printed(told).split()) == sorted(["./.npm/_cacache/kept", "./.cache/pip/kept", *names])


async def test_deleting_the_home_costs_the_next_turn_nothing(walled: Walled) -> None:
    sha = walled.commit({"a": "1"})
    for harm in ("rm -rf ~ ..", "chmod 000 ~", "rm -rf ../caches; ln -s / ../caches", "mv ~ ../x; touch ~"):
        _, result = await walled.run(f"cd; {harm}; exit 0", sha)
        assert result.reason == protocol.EXITED, (harm, result.message)
    told, result = await walled.run("cat a; ls -A ~/.cache; touch ~/.cache/pip/x && echo fine", sha)
    assert printed(told).split() == ["1pip", "fine"], result.message


async def test_files_that_nobody_may_read_are_read_or_named_and_never_stop_a_turn(walled: Walled) -> None:
    sha = walled.commit({"a": "1", "d/f": "1"})
    _, result = await walled.run("echo 2 > a; chmod 000 a; echo 2 > d/f; chmod 000 d; echo n > n; chmod 000 n", sha)
    assert {change.path: change.mode for change in result.changes} == dict.fromkeys(("a", "d/f", "n"), "100644")
    deep = 'python3 -c \'import os\nfor _ in range(3000): os.mkdir("x"); os.chdir("x")\'; touch b'
    _, result = await walled.run(deep, sha)
    assert [change.path for change in result.changes] == ["b"]
    assert any("folders in one another" in each for each in result.left_out)
    _, result = await walled.run("cat a", sha)
    assert result.exit_code == 0


async def test_a_runner_started_by_root_never_runs_an_agent_as_root(walled: Walled) -> None:
    told, _ = await walled.run(
        "id -u; grep -E '^Cap(Prm|Eff|Bnd|Amb)|^NoNewPrivs' /proc/self/status | cut -f2 | sort -u"
    )
    user, *rights = printed(told).split()
    assert user != "0"
    assert rights == ["0000000000000000", "1"] or os.geteuid() != 0

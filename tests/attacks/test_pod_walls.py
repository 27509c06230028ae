"""What hostile code in the agent's container of a box's pod tries against the runner beside it and the next turn."""

import asyncio
import textwrap
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from k8s.boxes import BoxState
from k8s.cluster import Cluster
from k8s.kubernetes_boxes import KubernetesBoxes
from k8s.options import PodOptions
from k8s.pod import SOCKET_DIR, TOKEN_DIR
from k8s.runner import protocol
from tests.attacks import namespaces
from tests.k8s.cluster.conftest import settled
from tests.k8s.cluster_double.kubelet.isolation import Isolation
from tests.k8s.cluster_double.server import SmallCluster, small_cluster
from tests.k8s.objects import IMAGE, spec
from tests.k8s.runner.conftest import Box, server, service
from tests.k8s.runner.double import BOX, BOX_TOKEN, Service, Told
from tests.tools import need

__all__ = ["server", "service"]
HOME = PodOptions().home.path
AGENT_USER = 1001


class Podded(Box):
    """A box of two containers, in which agents run one after the other."""

    def __init__(self, root: Path, service: Service, cluster: SmallCluster, boxes: KubernetesBoxes) -> None:
        super().__init__(root, service)
        self.cluster = cluster
        self.boxes = boxes
        self.spec = replace(spec(BOX, token=BOX_TOKEN), service_url=service.url)

    async def up(self) -> None:
        assert (await self.boxes.ensure(self.spec)).usable
        assert (await settled(self.boxes, BOX, 60)).state is BoxState.RUNNING
        [self.home] = (self.cluster.folder / "claims").iterdir()

    async def run(self, script: str, sha: str | None = None, **about: object) -> tuple[Told, protocol.Result]:
        told = self.give(textwrap.dedent(script), sha, **about)
        return told, await asyncio.to_thread(self.service.result, told)

    async def begun(self, script: str) -> Told:
        """A turn that has said something."""
        told = self.give(script, self.commit({"a": "1"}))
        await asyncio.to_thread(self.service.wait, lambda: told.output, what="the agent's first words")
        return told


@pytest.fixture
async def pod(tmp_path: Path, service: Service) -> AsyncIterator[Podded]:
    need("bwrap")
    isolation = Isolation.of_this_machine()
    if not isolation.works:
        pytest.skip(isolation.lacks)
    async with small_cluster(tmp_path / "cluster") as cluster:
        cluster.make_namespace("boxes", enforce="restricted")
        client = await Cluster.connect("boxes", kubeconfig=cluster.kubeconfig)
        options = PodOptions.model_validate({"image": IMAGE, "graceSeconds": 2})
        boxes = KubernetesBoxes(client, "greenloop", options, backoff=(0.05, 0.2))
        try:
            made = Podded(tmp_path, service, cluster, boxes)
            await made.up()
            yield made
        finally:
            await boxes.close()


def printed(told: Told) -> str:
    return told.output.decode()


async def test_a_turn_works_in_its_container_with_its_checkout_history_and_streams(pod: Podded) -> None:
    pod.commit({"a": "1\n", "d/b": "2"})
    sha = pod.commit({"a": "2\n"})
    told, result = await pod.run(
        """
        cat; echo; git log --format=%s | wc -l; git status --short
        echo 3 >> a; git commit -qam x; git diff --stat HEAD~
        echo out > /dev/stdout; echo err > /dev/stderr; id -u
        """,
        sha,
    )
    assert result.exit_code == 0, result.stderr_tail
    said = printed(told).splitlines()
    assert said[:2] == ["the prompt", "2"]
    assert " a | 1 +" in said
    assert result.stderr_tail == "err\n"
    assert said[-2] == "out"
    assert said[-1] == str(AGENT_USER) or not Isolation.of_this_machine().users
    assert [change.path for change in result.changes] == ["a"]


async def test_no_process_of_the_runner_can_be_seen_stopped_or_read(pod: Podded) -> None:
    told, result = await pod.run(
        namespaces.or_exit()
        + """
        cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'
        kill -STOP -1 2>/dev/null
        for pid in $(seq 2 400); do [ -e /proc/$pid ] && [ $pid != $$ ] && cat /proc/$pid/comm; done
        cat /proc/1/mem /proc/1/environ /proc/1/maps 2>&1 | grep -c 'ermission denied'
        exit 3
        """
    )
    said = printed(told)
    assert result.exit_code == 3
    assert BOX_TOKEN not in said and told.token not in said
    assert "--service" not in said and "GREENLOOP_BOX" not in said
    assert said.rstrip().endswith("3")


async def test_no_token_and_nothing_of_the_runners_state_can_be_read(pod: Podded) -> None:
    sha = pod.commit({"a": "1"})
    told, _ = await pod.run(
        f"""
        ls -A {TOKEN_DIR} {HOME} {HOME}/runner {HOME}/runner/turns; cat {TOKEN_DIR}/token
        env; cat /proc/[0-9]*/environ
        for secret in {BOX_TOKEN} token-of-t_1 ghs_; do grep -rsF $secret {HOME} /run /var /tmp /dev/shm; done
        echo end
        """,
        sha,
    )
    said = printed(told)
    assert said.endswith("end\n")
    assert told.tokens and told.tokens[0] not in said
    known = (BOX_TOKEN, told.token, "ghs_", "turn.json", "conversations", "lock")
    assert [word for word in known if word in said] == [], said
    assert {"agent", "given"} <= set(said.split())


async def test_the_socket_can_be_neither_replaced_nor_used_again(pod: Podded) -> None:
    sha = pod.commit({"a": "1"})
    told, result = await pod.run(
        f"""
        cd {SOCKET_DIR}; ls -A; touch x; mkdir y; mv ../greenloop-agent ../z; rm -rf ../greenloop-agent; ls -d $PWD
        /usr/bin/python3 - <<'X'
        import socket
        for name in ("agent", "evil"):
            for use in ("connect", "bind"):
                try:
                    getattr(socket.socket(socket.AF_UNIX), use)(name)
                    print("done")
                except OSError as error:
                    print(error.strerror)
        X
        touch {HOME}/given/repos/evil && echo done
        rm -rf {HOME}/given; touch {HOME}/evil && echo done
        """,
        sha,
    )
    missing, fixed = "No such file or directory", "Read-only file system"
    assert printed(told).splitlines() == [SOCKET_DIR, missing, fixed, missing, fixed], result.stderr_tail
    assert (pod.home / "given/repos").is_dir() and not (pod.home / "evil").exists()
    _, result = await pod.run("exit 4", sha)
    assert result.exit_code == 4


async def test_the_supervisor_cannot_be_signalled_slowed_or_starved_by_its_agent(pod: Podded) -> None:
    told, result = await pod.run(
        """
        for signal in INT TERM HUP QUIT USR1 USR2 STOP SEGV KILL; do kill -$signal 1; done
        /usr/bin/python3 - <<'X'
        import ctypes, os, resource
        libc = ctypes.CDLL(None, use_errno=True)
        for limit in (resource.RLIMIT_CPU, resource.RLIMIT_NOFILE):
            try:
                resource.prlimit(1, limit, (1, 1))
                print("done")
            except PermissionError:
                print("refused")
        for which, who in ((os.PRIO_PROCESS, 1), (os.PRIO_USER, 0), (os.PRIO_USER, os.getuid())):
            print("refused" if libc.setpriority(which, who, 19) == -1 and ctypes.get_errno() == 1 else "done")
        X
        exit 6
        """
    )
    assert printed(told).split() == ["refused"] * 5, result.stderr_tail
    assert result.exit_code == 6
    _, result = await pod.run("exit 7")
    assert result.exit_code == 7


SURVIVING = """
/usr/bin/python3 - <<'X'
import ctypes, os, signal, time
libc = ctypes.CDLL(None)
print(libc.shmget(7654, 4096, 0o1666), libc.msgget(7654, 0o1666), libc.semget(7654, 1, 0o1666), flush=True)
for number in range(1, 32):
    try: signal.signal(number, signal.SIG_IGN)
    except OSError: pass
for _ in range(2):
    if os.fork(): os._exit(0)
    os.setsid()
os.environ.clear()
while True: time.sleep(7654.3)
X
for place in /tmp /dev/shm; do
    echo evil > $place/evil; mkdir -p $place/x/y; echo evil > $place/x/y/z; chmod 0 $place/x
done
cd; for file in .bashrc .gitconfig .claude/settings.json .codex/config.toml .config/opencode/plugin/x.js \
    .local/bin/git \
    .local/lib/python3.11/site-packages/usercustomize.py .npm/_cacache/kept .cache/pip/kept; do
    mkdir -p $(dirname $file); echo evil > $file
done
mkdir ../beside; echo evil > ../caches/x; mkfifo fifo; chmod 0 .local
"""
LOOKING = """
grep -c . /proc/sysvipc/shm /proc/sysvipc/msg /proc/sysvipc/sem | cut -d: -f2
for pid in $(seq 2 4000); do [ -e /proc/$pid ] && [ $pid != $$ ] && cat /proc/$pid/comm 2>/dev/null; done
ls -A /tmp /dev/shm | grep -v :; cd; find -L . -type f; ls ..
"""


async def test_nothing_of_a_turn_is_there_in_the_next_but_for_downloads(pod: Podded) -> None:
    sha = pod.commit({"a": "1"})
    told, result = await pod.run(SURVIVING, sha)
    assert "-1" not in printed(told), "this machine made no shared memory to leave behind"
    assert (result.reason, result.swept) == (protocol.EXITED, 1), result
    told, result = await pod.run(LOOKING)
    kept = ["./.npm/_cacache/kept", "./.cache/pip/kept"]
    assert sorted(printed(told).split()) == sorted(["1", "1", "1", *kept, "caches", "home"]), result.stderr_tail


DENIED = """
/usr/bin/python3 - <<'X'
import os, struct
# an access control list that shuts out just the runner's user
entries = ((1, 6, 2**32 - 1), (2, 0, 1000), (4, 4, 2**32 - 1), (16, 7, 2**32 - 1), (32, 4, 2**32 - 1))
acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *each) for each in entries)
open("shut", "w").write("out")
try:
    os.setxattr("shut", "system.posix_acl_access", acl)
except OSError as error:
    print("no lists here:", error)
X
"""


async def test_what_the_runner_may_not_read_and_what_is_no_file_is_read_or_named_and_hangs_nothing(pod: Podded) -> None:
    sha = pod.commit({"a": "1", "d/f": "1", ".gitignore": "*.log\n", ".gitattributes": "*.txt text\n"})
    _, result = await pod.run(
        f"""
        {DENIED.strip()}
        echo 2 > a; chmod 0 a; echo 2 > d/f; chmod 0 d; (umask 777; echo n > n; mkdir m)
        rm .gitignore .gitattributes; mkfifo .gitignore .gitattributes pipe
        ln -s {HOME}/runner/lock link; truncate -s 1T huge.log
        /usr/bin/python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("listens")'
        """.replace("\n        ", "\n"),
        sha,
    )
    found = {change.path: change.mode for change in result.changes if change.sha}
    assert found == {**dict.fromkeys(("a", "d/f", "n", "shut"), "100644"), "link": "120000"}, result
    for name in (".gitignore (a FIFO)", ".gitattributes (a FIFO)", "pipe (a FIFO)", "listens (a socket)"):
        assert name in result.left_out
    _, result = await pod.run("cat a d/f", sha)
    assert result.exit_code == 0


async def test_what_an_agent_reports_of_itself_counts_for_nothing(pod: Podded) -> None:
    told, result = await pod.run(
        f"""
        /usr/bin/python3 - <<'X'
        import json, urllib.error, urllib.request
        body = json.dumps({{"runner": {{"version": "2", "turn": None, "turns": []}}}}).encode()
        for method, path in (("PUT", "/turns/t_1/result"), ("POST", "/boxes/{BOX}/next"), ("POST", "/turns/t_1/token")):
            for token in ("", "{BOX_TOKEN[:-1]}x"):
                headers = {{"Authorization": "Bearer " + token, "Content-Type": "application/json"}}
                asked = urllib.request.Request("{pod.service.url}" + path, body, headers, method=method)
                try:
                    print(urllib.request.urlopen(asked).status)
                except urllib.error.HTTPError as error:
                    print(error.code)
        X
        exit 5
        """
    )
    assert set(printed(told).split()) == {"401"}, result.stderr_tail
    assert (result.exit_code, told.results) == (5, 1)


async def ended(pod: Podded) -> None:
    """Wait for the end of both containers."""
    async with asyncio.timeout(60):
        while ((pod.cluster.find("Pod", "boxes", BOX) or {}).get("status") or {}).get("phase") != "Failed":
            await asyncio.sleep(0.02)


async def test_an_agents_container_that_is_killed_ends_its_turn_in_words_and_the_next_one_works(pod: Podded) -> None:
    told = await pod.begun("touch kept; echo begun; sleep 600")
    [life] = pod.cluster.kubelet.living("boxes", BOX)
    await life.process("agent").kill()
    await ended(pod)
    seen = await settled(pod.boxes, BOX, 60)
    assert seen.state is BoxState.FAILED
    assert seen.message.startswith("The agent's part of the box ended with exit code 137")
    # why, the runner does not know: it leaves that to the cluster, and the turn to the next box
    assert told.result is None
    await pod.up()
    _, result = await pod.run("exit 8", pod.commit({"a": "2"}))
    assert result.exit_code == 8


async def test_a_runner_that_is_killed_takes_the_agent_with_it_and_the_next_one_reports_its_turn(pod: Podded) -> None:
    told = await pod.begun("setsid sleep 7654.25 & echo begun; sleep 600")
    [life] = pod.cluster.kubelet.living("boxes", BOX)
    agent = life.process("agent")
    await life.process("runner").kill()
    # without anybody's doing: the supervisor ends what it keeps, and goes
    assert await agent.wait() == 0
    assert told.result is None
    await pod.up()
    result = await asyncio.to_thread(pod.service.result, told)
    assert result.reason == protocol.RUNNER_RESTARTED
    assert "runner was killed" in result.message

"""Boxes made of local processes, with the real runner inside."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from k8s.boxes import BoxSpec, BoxState
from k8s.local import LocalBoxes
from k8s.runner.state import signed
from tests.k8s.runner.conftest import alive, server, service
from tests.k8s.runner.double import BOX, BOX_TOKEN, Service

__all__ = ["server", "service"]


def spec_for(service: Service, **about: str) -> BoxSpec:
    settings = {"name": BOX, "owner_key": "1/2", "token": BOX_TOKEN, "service_url": service.url, **about}
    return BoxSpec(labels={"instance": "test", "installation": "1", "person": "2"}, **settings)  # type: ignore[arg-type]


@pytest.fixture
async def boxes(tmp_path: Path) -> AsyncIterator[LocalBoxes]:
    made = LocalBoxes(tmp_path / "boxes", walls="processes")
    yield made
    for status in await made.list():
        await made.delete_home(status.name)


def runner_pid(boxes: LocalBoxes, tmp_path: Path) -> int:
    pid = signed(tmp_path / "boxes" / BOX / "home" / "runner" / "lock")
    assert pid
    return pid


def simple_turn(script: str, name: str = "t_1") -> dict[str, object]:
    return {
        "turn": name, "marker": f"gl-local-{os.getpid()}-{name}", "repository": None, "workdir": "Code/x",
        "argv": ["bash", "-c", script], "limits": {"seconds": 60},
    }  # fmt: skip


async def test_a_box_is_absent_until_it_is_made_and_then_runs_turns(
    boxes: LocalBoxes, service: Service, tmp_path: Path
) -> None:
    assert (await boxes.status(BOX)).state is BoxState.ABSENT
    status = await boxes.ensure(spec_for(service))
    assert status.state is BoxState.RUNNING
    assert status.started_at is not None
    assert status.labels["person"] == "2"
    told = service.give(simple_turn("echo $HOME"))
    await asyncio.to_thread(service.result, told)
    assert told.output.decode() == f"{tmp_path}/boxes/{BOX}/home/agent/home\n"
    assert [found.name for found in await boxes.list()] == [BOX]


async def test_homes_and_tokens_are_closed_to_other_users(boxes: LocalBoxes, service: Service, tmp_path: Path) -> None:
    await boxes.ensure(spec_for(service))
    folder = tmp_path / "boxes" / BOX
    assert (folder / "token").stat().st_mode & 0o777 == 0o600
    assert (folder / "home").stat().st_mode & 0o777 == 0o700
    assert folder.stat().st_mode & 0o777 == 0o700


async def test_ensuring_twice_and_at_once_makes_one_runner(boxes: LocalBoxes, service: Service, tmp_path: Path) -> None:
    await asyncio.gather(*(boxes.ensure(spec_for(service)) for _ in range(5)))
    first = runner_pid(boxes, tmp_path)
    await LocalBoxes(tmp_path / "boxes").ensure(spec_for(service))
    assert runner_pid(boxes, tmp_path) == first
    log = (tmp_path / "boxes" / BOX / "runner.log").read_text()
    assert log.count("version=") == 1


async def test_a_runner_that_was_killed_is_started_again(boxes: LocalBoxes, service: Service, tmp_path: Path) -> None:
    await boxes.ensure(spec_for(service))
    first = runner_pid(boxes, tmp_path)
    os.kill(first, signal.SIGKILL)
    service.wait(lambda: not alive(first))
    assert (await boxes.status(BOX)).state is BoxState.ABSENT
    assert (await boxes.ensure(spec_for(service))).state is BoxState.RUNNING
    assert runner_pid(boxes, tmp_path) != first


async def test_a_box_outlives_the_service_that_was_killed_and_is_adopted_by_the_next(
    boxes: LocalBoxes, service: Service, tmp_path: Path
) -> None:
    program = (
        "import asyncio, os, pathlib\n"
        "from k8s.boxes import BoxSpec\n"
        "from k8s.local import LocalBoxes\n"
        f"about = dict(name={BOX!r}, token={BOX_TOKEN!r}, service_url={service.url!r})\n"
        "spec = BoxSpec(owner_key='1/2', labels={}, **about)\n"
        f"print(asyncio.run(LocalBoxes(pathlib.Path({str(tmp_path / 'boxes')!r})).ensure(spec)).state, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    killed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert "RUNNING" in killed.stdout
    pid = runner_pid(boxes, tmp_path)
    await boxes.ensure(spec_for(service))
    assert runner_pid(boxes, tmp_path) == pid


async def test_stop_ends_the_runner_and_whatever_its_agents_left_behind(
    boxes: LocalBoxes, service: Service, tmp_path: Path
) -> None:
    await boxes.ensure(spec_for(service))
    told = service.give(simple_turn("env -i setsid nohup sleep 1000 >/dev/null 2>&1 & echo $!; sleep 1000"))
    service.wait(lambda: told.output)
    sleeper = int(told.output)
    pid = runner_pid(boxes, tmp_path)
    await boxes.stop(BOX)
    assert not alive(pid)
    assert not alive(sleeper)
    assert (await boxes.status(BOX)).state is BoxState.ABSENT
    assert (tmp_path / "boxes" / BOX / "home").is_dir()
    assert told.result is not None
    assert told.result["reason"] == "runner_restarted"


async def test_stop_works_although_the_service_is_away(boxes: LocalBoxes, service: Service, tmp_path: Path) -> None:
    await boxes.ensure(spec_for(service))
    told = service.give(simple_turn("echo $$; trap '' INT TERM; sleep 1000"))
    service.wait(lambda: told.output)
    service.down = True
    os.kill(runner_pid(boxes, tmp_path), signal.SIGKILL)
    await boxes.stop(BOX)
    assert not alive(int(told.output))
    await boxes.stop("never-made")


async def test_a_service_that_moved_keeps_the_turn_that_runs(
    boxes: LocalBoxes, service: Service, tmp_path: Path
) -> None:
    await boxes.ensure(spec_for(service))
    told = service.give(simple_turn("echo one; until [ -e go ]; do sleep 0.05; done; echo two"))
    service.wait(lambda: told.output)
    service.stop()
    service.port = Service(tmp_path).port
    service.start()
    await boxes.ensure(spec_for(service))
    (tmp_path / "boxes" / BOX / "home" / "agent" / "home" / "Code" / "x" / "go").touch()
    result = await asyncio.to_thread(service.result, told)
    assert (result.reason, result.exit_code) == ("exited", 0)
    assert told.output == b"one\ntwo\n"


async def test_the_services_own_environment_does_not_reach_the_box(
    boxes: LocalBoxes, service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENLOOP_WEBHOOK_SECRET", "s3cret")
    await boxes.ensure(spec_for(service))
    told = service.give(simple_turn("env; tr '\\0' '\\n' < /proc/$PPID/environ"))
    await asyncio.to_thread(service.result, told)
    assert b"HOME=" in told.output
    assert b"s3cret" not in told.output


async def test_a_runner_that_cannot_start_is_reported_in_words(service: Service, tmp_path: Path) -> None:
    boxes = LocalBoxes(tmp_path / "boxes")
    status = await boxes.ensure(spec_for(service, service_url="gopher://nowhere"))
    assert status.state is BoxState.FAILED
    assert "gopher://nowhere" in status.message
    assert not status.usable


async def test_deleting_a_home_leaves_nothing_of_it(boxes: LocalBoxes, service: Service, tmp_path: Path) -> None:
    await boxes.ensure(spec_for(service))
    await boxes.delete_home(BOX)
    assert not (tmp_path / "boxes" / BOX).exists()
    assert await boxes.list() == []
    await boxes.delete_home(BOX)


async def test_a_runner_goes_by_itself_when_the_service_stays_away(service: Service, tmp_path: Path) -> None:
    boxes = LocalBoxes(tmp_path / "boxes", orphan_seconds=0.3)
    await boxes.ensure(spec_for(service))
    pid = runner_pid(boxes, tmp_path)
    service.down = True
    service.wait(lambda: not alive(pid), what="for the runner to go")

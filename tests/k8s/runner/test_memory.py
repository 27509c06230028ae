"""Memory that runs out under one process of a turn, by the kernel itself: a group of its own with a small limit."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from k8s.runner import protocol
from k8s.runner.supervisor import memory
from tests.k8s.runner.conftest import Box

LIMIT = 64 << 20
HOG = "python3 -c 'held = bytearray(400 << 20); print(len(held))'"


@contextlib.contextmanager
def small_group() -> Iterator[Path]:
    """A memory group below ours: the file to which who belongs to it writes a 0. Skipped where we may make none."""
    lines = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    v1 = next((path for _, names, path in lines if "memory" in names.split(",")), None)
    v2 = next((path for _, names, path in lines if not names), None)
    root, limit = ("memory" + v1, "memory.limit_in_bytes") if v1 is not None else ((v2 or "").lstrip("/"), "memory.max")
    folder = memory.GROUPS / root / f"greenloop-test-{os.getpid()}"
    try:
        folder.mkdir()
        (folder / limit).write_text(str(LIMIT))
    except OSError as error:
        with contextlib.suppress(OSError):
            folder.rmdir()
        pytest.skip(f"this machine lets nobody make a memory group: {error}")
    for swap in ("memory.swap.max", "memory.memsw.limit_in_bytes"):
        with contextlib.suppress(OSError):
            (folder / swap).write_text("0" if "max" in swap else str(LIMIT))
    try:
        yield folder / "cgroup.procs"
    finally:
        until = time.monotonic() + 10
        while folder.exists() and time.monotonic() < until:
            with contextlib.suppress(OSError):
                folder.rmdir()
            time.sleep(0.05)


def into(procs: Path) -> list[str]:
    """What makes the command behind it a member of the group, with all that it starts."""
    return ["sh", "-c", f'echo 0 > "{procs}"; exec "$@"', "sh"]


@pytest.mark.parametrize(
    ("script", "reason", "code"),
    [
        (f"exec {HOG}", protocol.OUT_OF_MEMORY, -9),
        (f"{HOG}; exit $?", protocol.OUT_OF_MEMORY, 137),
        (f"{HOG}; echo the compiler is gone >&2; exit 3", protocol.EXITED, 3),
    ],
    ids=["the agent itself", "what a shell waited for", "one of its tools"],
)
def test_who_ran_out_of_memory_is_told_with_the_limit(box: Box, script: str, reason: str, code: int) -> None:
    told = box.give(script, None)
    with small_group() as procs:
        box.start(by=into(procs))
        result = box.service.result(told)
        box.idle(told)
        box.kill()
    assert (result.reason, result.exit_code) == (reason, code)
    assert "ran out of memory (its limit is 64 MiB): a process of the turn had to be killed" in result.message


def test_what_does_not_run_out_is_not_told(box: Box) -> None:
    told = box.give("kill -9 $$", None)
    with small_group() as procs:
        box.start(by=into(procs))
        result = box.service.result(told)
        box.idle(told)
        box.kill()
    assert (result.reason, result.exit_code) == (protocol.EXITED, -9)
    assert "memory" not in result.message


@pytest.mark.parametrize(
    ("own", "files", "kills", "limit"),
    [
        ("0::/", {"memory.events": "low 0\noom 3\noom_kill 2\n", "memory.max": "4294967296\n"}, 2, 4 << 30),
        ("0::/pod/box", {"pod/box/memory.events": "oom_kill 1\n", "pod/box/memory.max": "max\n"}, 1, None),
        (
            "4:memory:/kubepods/pod1/box",
            {"memory/memory.oom_control": "under_oom 0\noom_kill 1\n", "memory/memory.limit_in_bytes": "1024\n"},
            1,
            1024,
        ),
        ("4:memory:/a", {"memory/a/memory.limit_in_bytes": "9223372036854771712\n"}, 0, None),
        ("", {}, 0, None),
    ],
    ids=["version 2", "version 2 with its path", "version 1 in a container", "version 1 without a limit", "neither"],
)
def test_what_a_group_tells_is_read_under_either_version(
    tmp_path: Path, own: str, files: dict[str, str], kills: int, limit: int | None
) -> None:
    groups, mine = tmp_path / "groups", tmp_path / "own"
    mine.write_text(own + "\n" if own else "")
    for name, content in files.items():
        (groups / name).parent.mkdir(parents=True, exist_ok=True)
        (groups / name).write_text(content)
    assert (memory.oom_kills(groups, mine), memory.limit(groups, mine)) == (kills, limit)

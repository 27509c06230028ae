"""Processes that `demo` and `up` start end with them, also where these are killed and can end nothing."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.process.valkey import EmbeddedRedis, RedisUnavailable

STARTS = """
import sys, time
from pathlib import Path
from app.process.valkey import EmbeddedRedis
server = EmbeddedRedis(Path(sys.argv[1]))
print(server.start(), flush=True)
time.sleep(600)
"""


@contextmanager
def started(arguments: list[str], **options: object) -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, **options)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def listens(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as knock:
        return knock.connect_ex(path) == 0


def test_the_embedded_redis_does_not_outlive_whoever_started_it_and_was_killed(tmp_path: Path) -> None:
    with started(["-c", STARTS, str(tmp_path)]) as process:
        path = process.stdout.readline().decode().strip().removeprefix("unix://")  # type: ignore[union-attr]
        assert listens(path)
        process.kill()
        process.wait()
        deadline = time.monotonic() + 60
        while listens(path):
            assert time.monotonic() < deadline, "Redis goes on"
            time.sleep(0.02)


def test_the_embedded_redis_starts_again_where_it_was_and_knows_what_it_knew(tmp_path: Path) -> None:
    server = EmbeddedRedis(tmp_path)
    first = server.start()
    server.stop()
    assert not listens(first.removeprefix("unix://"))
    assert server.start() == first
    server.stop()


def test_a_redis_that_ends_at_once_is_no_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.process.valkey.binary", lambda: "/bin/false")
    with pytest.raises(RedisUnavailable, match=r"/bin/false did not start"):
        EmbeddedRedis(tmp_path).start()


def test_a_worker_of_a_demo_that_is_gone_ends_in_good_order(tmp_path: Path) -> None:
    environment = {**os.environ, "GREENLOOP_DATA": str(tmp_path), "GREENLOOP_REDIS_URL": "redis://127.0.0.1:9"}
    worker = ["-m", "app", "worker", "--end-with-stdin"]
    with started(worker, stdin=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment) as process:
        assert any(b"worker.waits" in line for line in iter(process.stdout.readline, b""))  # type: ignore[union-attr]
        assert process.poll() is None
        process.stdin.close()  # type: ignore[union-attr]
        assert process.wait(60) == 0
        process.stdin = None

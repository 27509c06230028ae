"""Child processes that are started again when they die, and end when we do: the web and the worker on one machine."""

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import structlog

log = structlog.get_logger(__name__)

RESTART_SECONDS = 0.3
RESTART_LIMIT = 10.0
STOP_SECONDS = 10.0


def end_with_stdin() -> None:
    """Have this process end in good order once its standard input does: whoever started it is gone, however it died."""

    def wait() -> None:
        while os.read(0, 1024):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="stdin", daemon=True).start()


class Supervisor:
    """Runs `python -m app ARGUMENTS` and starts it again, with a growing pause, until `stop()`."""

    def __init__(self, name: str, arguments: Sequence[str], env: Mapping[str, str], logs: Path) -> None:
        self.name = name
        self.starts = 0
        self._arguments = arguments
        self._env = env
        self._logs = logs
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name=f"supervise {self.name}")

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    async def stop(self) -> None:
        """End the process: SIGTERM, then SIGKILL."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        process = self._process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

    async def _run(self) -> None:
        pause = RESTART_SECONDS
        loop = asyncio.get_running_loop()
        while True:
            with (self._logs / f"{self.name}.log").open("ab") as output:
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-m",
                    "app",
                    *self._arguments,
                    "--end-with-stdin",
                    stdout=output,
                    stderr=output,
                    stdin=asyncio.subprocess.PIPE,
                    env={**os.environ, **self._env},
                    start_new_session=True,
                )
            self.starts += 1
            began = loop.time()
            code = await self._process.wait()
            pause = RESTART_SECONDS if loop.time() - began > RESTART_LIMIT else min(pause * 2, RESTART_LIMIT)
            log.warning("process.died", name=self.name, code=code, again_in=pause)
            await asyncio.sleep(pause)

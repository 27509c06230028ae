"""One shell of one step: started in a session of its own, read line by line, and ended with all it started."""

import asyncio
import codecs
import contextlib
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

# how long output may still come after the shell itself has gone
DRAIN_SECONDS = 1.0
MARKER = "RUNNER_TRACKING_ID"
MAX_LINE = 1024 * 1024


@dataclass(frozen=True)
class Ended:
    """`code` None: it was ended from outside, for `why` (timeout or cancelled)."""

    code: int | None
    why: str = ""


async def run(
    argv: list[str],
    env: Mapping[str, str],
    folder: Path,
    seconds: float,
    line: Callable[[str], None],
    cancelled: asyncio.Event,
) -> Ended:
    """Run to the end, the limit in seconds, or cancellation. Every line of output goes to `line`."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        cwd=folder,
        env=dict(env),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    reading = asyncio.create_task(_read(process.stdout, line))
    waiting = asyncio.create_task(process.wait())
    stopping = asyncio.create_task(cancelled.wait())
    try:
        await asyncio.wait({waiting, stopping}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            await _end_group(process)
            why = "cancelled" if cancelled.is_set() else "timeout"
            await asyncio.wait({reading}, timeout=DRAIN_SECONDS)
            return Ended(None, why)
        await asyncio.wait({reading}, timeout=DRAIN_SECONDS)
        code = process.returncode if process.returncode is not None else 1
        return Ended(code if code >= 0 else 128 - code)
    finally:
        for task in (reading, stopping, waiting):
            task.cancel()
        if process.returncode is None:
            _signal(process.pid, signal.SIGKILL)


async def _end_group(process: asyncio.subprocess.Process) -> None:
    """Ask the group, then insist."""
    for number, patience in ((signal.SIGINT, 0.5), (signal.SIGTERM, 0.5), (signal.SIGKILL, 5.0)):
        _signal(process.pid, number)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await process.wait()
                break
    _signal(process.pid, signal.SIGKILL)


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


async def _read(stream: asyncio.StreamReader | None, line: Callable[[str], None]) -> None:
    """Split into lines by hand: a line may be longer than any buffer."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    pending = ""
    while stream is not None and (chunk := await stream.read(65_536)):
        pending += decoder.decode(chunk)
        *whole, pending = pending.split("\n")
        for text in whole:
            line(text.removesuffix("\r"))
        if len(pending) > MAX_LINE:
            line(pending)
            pending = ""
    if pending:
        line(pending)


def sweep(mark: str) -> list[str]:
    """Kill what a job left running: whatever carries its mark in the environment. The names of what was found."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARKER}={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                name = (entry / "comm").read_text().strip()
                os.kill(int(entry.name), signal.SIGKILL)
                found.append(f"{entry.name} ({name})")
        except (OSError, ValueError):
            continue
    return found

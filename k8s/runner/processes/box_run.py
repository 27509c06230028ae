"""Run one program in a box, to its end or a deadline, and hold the end of what it prints."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .agent_box import AgentBox

GRACE_SECONDS = 2.0
DRAIN_SECONDS = 0.4
PIECE = 256 * 1024


@dataclass(frozen=True)
class Ran:
    """`exit_code` is None for a program that was ended at its deadline, negative for a signal."""

    exit_code: int | None
    output: bytes
    seconds: float


def run(
    box: AgentBox,
    argv: list[str],
    env: dict[str, str],
    folder: Path,
    marker: str,
    *,
    seconds: float,
    limit: int,
    tick: Callable[[], None] = lambda: None,
) -> Ran:
    """Run `argv` and wait; `tick` is called about once a second, and may raise to give up. What it leaves running goes
    on until the box ends it. Raises `BoxLost`, OSError where it cannot be started."""
    began = time.monotonic()
    ended: list[int] = []

    def heard(said: dict[str, Any]) -> None:
        if "ended" in said:
            ended.append(said["ended"])

    (null, null_end), (out, out_end) = os.pipe(), os.pipe()
    os.close(null_end)
    os.fchmod(out_end, 0o666)
    try:
        answer = box.ask(
            "run", descriptors=(null, out_end, out_end), other=heard,
            argv=argv, env=env, folder=str(folder), marker=marker,
        )  # fmt: skip
    except BaseException:
        os.close(out)
        raise
    finally:
        for descriptor in (null, out_end):
            os.close(descriptor)
    try:
        if "errno" in answer:
            raise OSError(answer["errno"], os.strerror(answer["errno"]))
        output = _Tail(out, limit)
        late = _wait(box, output, ended, heard, tick, began + seconds)
        until = time.monotonic() + DRAIN_SECONDS
        while output.open and time.monotonic() < until:
            output.take(max(0.0, until - time.monotonic()))
        code = None if late or not ended else os.waitstatus_to_exitcode(ended[0])
        return Ran(code, output.end(), time.monotonic() - began)
    finally:
        os.close(out)


def _wait(
    box: AgentBox,
    output: _Tail,
    ended: list[int],
    heard: Callable[[dict[str, Any]], None],
    tick: Callable[[], None],
    deadline: float,
) -> bool:
    """Until it has ended; whether it had to be ended."""
    ticked = time.monotonic()
    signals = [signal.SIGTERM, signal.SIGKILL]
    late = False
    while not ended:
        now = time.monotonic()
        if now >= deadline:
            if not signals:
                return True
            late = True
            box.send("signal", number=int(signals.pop(0)))
            deadline = now + GRACE_SECONDS
        watched = [box.fileno(), output.descriptor] if output.open else [box.fileno()]
        readable, _, _ = select.select(watched, [], [], min(1.0, max(0.0, deadline - now)))
        if output.descriptor in readable:
            output.take(0)
        while (said := box.receive(0)) is not None:
            heard(said)
        if time.monotonic() - ticked >= 1.0:
            ticked = time.monotonic()
            tick()
    return late


class _Tail:
    """The last `limit` bytes that come out of a pipe."""

    def __init__(self, descriptor: int, limit: int) -> None:
        self.descriptor, self.open = descriptor, True
        self._limit = limit
        self._held = b""
        os.set_blocking(descriptor, False)

    def take(self, seconds: float) -> None:
        if seconds and not select.select([self.descriptor], [], [], seconds)[0]:
            return
        with contextlib.suppress(BlockingIOError):
            data = os.read(self.descriptor, PIECE)
            self.open = bool(data)
            self._held = (self._held + data)[-2 * self._limit :]

    def end(self) -> bytes:
        """What was held, from the beginning of a line on."""
        if len(self._held) <= self._limit:
            return self._held
        cut = self._held[-self._limit :]
        return cut[cut.find(b"\n") + 1 :]

"""Pass an agent's output on to the service: by offset, in whole lines, with a sign of life in between."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from .. import protocol
from ..protocol import LONGEST_LINE, OUTPUT_CHUNK, Output
from ..state import TurnState
from .link import Link

PAUSE_SECONDS = 0.25
"""Between two posts of output: what comes after silence goes at once, so that somebody who watches sees it begin."""
LOOK_SECONDS = 0.03
"""Between two looks at the file, and at whether the agent has ended: an agent that works is not disturbed by them."""
MUCH = OUTPUT_CHUNK // 2
"""Bytes that are sent without a pause, so that much output is quick and little output makes few requests."""


class Shipping:
    """The way of one turn's stdout. The service says how far it has come; nothing is remembered here.

    `beat_seconds` is the longest silence; also how long a wish to cancel may go unheard.
    """

    def __init__(self, link: Link, state: TurnState, beat_seconds: float) -> None:
        self._link = link
        self._state = state
        self._beat_seconds = beat_seconds
        self._offset = 0
        self._posted = 0.0
        self._told = 0.0

    def size(self) -> int:
        """Bytes of output on disk."""
        try:
            return self._state.stdout.stat().st_size
        except FileNotFoundError:
            return 0

    def beat(self, state: str) -> str | None:
        """Say that we live, unless that was said just now. Answers why to cancel, if so."""
        if time.monotonic() - self._posted < self._beat_seconds:
            return None
        answer = self._link.output(self._state.id, Output(self._offset, state=state), patience=0)
        self._posted = time.monotonic()
        return answer.cancel

    def begin(self) -> None:
        """Say that the agent starts now, for as long as it takes to be heard. Raises `Gone`, `Refused`, `Rejected`."""
        self._link.output(self._state.id, Output(self._offset, state=protocol.RUNNING))
        self._posted = time.monotonic()

    def follow(self, ended: Callable[[], bool], cancelled: Callable[[str], None]) -> None:
        """Post output until `ended` and all is acknowledged; `cancelled(reason)` is called when the service wants an
        end.

        Raises `Gone`, `Refused`, `Rejected`.
        """
        while True:
            # looked up before the size: what is printed later than that is not missed
            over = ended()
            data = self._next(over)
            last = over and self._offset + len(data) >= self.size()
            due = self._told + PAUSE_SECONDS if data else self._posted + self._beat_seconds
            if last or len(data) >= MUCH or time.monotonic() >= due:
                state = protocol.REPORTING if over else protocol.RUNNING
                output = Output(self._offset, protocol.encode(data), end=last, state=state)
                answer = self._link.output(self._state.id, output)
                self._posted = time.monotonic()
                self._told = self._posted if data else self._told
                stuck = bool(data) and answer.offset <= self._offset
                self._offset = min(max(answer.offset, 0), self.size())
                if answer.cancel is not None:
                    cancelled(answer.cancel)
                if last and self._offset >= self.size():
                    return
                if stuck:
                    time.sleep(PAUSE_SECONDS)
            else:
                time.sleep(LOOK_SECONDS)

    def _next(self, over: bool) -> bytes:
        """The bytes to send next: whole lines, unless it is the end or a line that is too long to wait for."""
        try:
            file = os.open(self._state.stdout, os.O_RDONLY)
        except FileNotFoundError:
            return b""
        try:
            data = os.pread(file, OUTPUT_CHUNK, self._offset)
            if len(data) == OUTPUT_CHUNK and b"\n" not in data:
                data = os.pread(file, LONGEST_LINE + 1, self._offset)
        finally:
            os.close(file)
        whole = data.rfind(b"\n") + 1
        if whole and not (over and self._offset + len(data) >= self.size()):
            return data[:whole]
        return data if over or len(data) > LONGEST_LINE else b""

"""The runner's end of the line to a supervisor: what it asks for, and what it hears."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

PIECE = 1024 * 1024
ANSWER_SECONDS = 60.0


class BoxLost(OSError):
    """The supervisor has gone, and all that it kept with it."""


class AgentBox:
    """A supervisor behind a connected socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._buffer = b""
        self._number = time.monotonic_ns()

    def fileno(self) -> int:
        """The descriptor of the connection."""
        return self._connection.fileno()

    def close(self) -> None:
        """Let go of our end: where nobody else holds it, the supervisor ends everything and goes."""
        self._connection.close()

    def send(self, operation: str, *, descriptors: Sequence[int] = (), **about: Any) -> int:
        """Ask for something: the number that its answer will bear. Raises `BoxLost`."""
        self._number += 1
        data = json.dumps({"id": self._number, "op": operation, **about}).encode() + b"\n"
        try:
            sent = socket.send_fds(self._connection, [data], descriptors) if descriptors else 0
            self._connection.sendall(data[sent:])
        except OSError as error:
            raise BoxLost(f"the supervisor of the box is gone: {error}") from None
        return self._number

    def receive(self, seconds: float) -> dict[str, Any] | None:
        """The next thing that it says, or None within `seconds`. Raises `BoxLost`."""
        until = time.monotonic() + seconds
        while True:
            line, ends, rest = self._buffer.partition(b"\n")
            if ends:
                self._buffer = rest
                with contextlib.suppress(ValueError):
                    said: dict[str, Any] = json.loads(line)
                    return said
                # the rest of a line that whoever listened before us had begun to read
                continue
            readable, _, _ = select.select([self._connection], [], [], max(0.0, until - time.monotonic()))
            if not readable:
                return None
            try:
                data = self._connection.recv(PIECE)
            except OSError:
                data = b""
            if not data:
                raise BoxLost("the supervisor of the box is gone")
            self._buffer += data

    def ask(
        self,
        operation: str,
        *,
        tick: Callable[[], None] = lambda: None,
        seconds: float = ANSWER_SECONDS,
        descriptors: Sequence[int] = (),
        other: Callable[[dict[str, Any]], None] = lambda _: None,
        **about: Any,
    ) -> dict[str, Any]:
        """Ask, and wait for the answer; `tick` is called once a second, `other` hears what is said meanwhile.

        Raises `BoxLost`, also after `seconds` without an answer.
        """
        number = self.send(operation, descriptors=descriptors, **about)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            said = self.receive(1.0)
            if said is None:
                tick()
            elif said.get("id") == number:
                return said
            else:
                other(said)
        raise BoxLost(f"the supervisor of the box did not answer {operation!r} within {seconds:.0f} s")

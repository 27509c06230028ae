"""The agent's container of a pod, from the runner's: one supervisor that connects once, before it starts anything.

The runner listens where agents cannot write, and only until the supervisor has come: whoever is heard afterwards is the
one that was there before every agent. That is why a connection that has ended is never made again, and the pod goes
with it: an agent that is still alive could answer in the supervisor's place.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path

from ..state import TurnState, remove_tree
from .agent_box import AgentBox, BoxLost

CONNECT_SECONDS = 120.0
"""How long the two containers of a pod may start apart from each other."""
RESTORE_SECONDS = 60.0
CLEAR_SECONDS = 600.0
SEND_SECONDS = 60


class NoSupervisor(Exception):
    """Nobody came; `str()` says it in words."""


class AgentContainer:
    """What is behind the connection. Processes forked from the one that made it share it, one at a time."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.lost = False
        # a supervisor that is stopped reads nothing: who writes to it must come back
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", SEND_SECONDS, 0))

    @classmethod
    def accept(cls, path: Path, user: int | None, log: Callable[[str], None]) -> AgentContainer:
        """Wait for the supervisor at the socket `path`, a process of `user`. Raises `NoSupervisor`, OSError."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            # the name of a socket may be 107 bytes long, that of its folder any number
            with contextlib.chdir(path.parent):
                listener.bind(path.name)
            path.chmod(0o666)
            listener.listen(1)
            until = time.monotonic() + CONNECT_SECONDS
            while (left := until - time.monotonic()) > 0:
                listener.settimeout(left)
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    break
                peer = _user_of(connection)
                if user is None or peer == user:
                    path.unlink()
                    return cls(connection)
                connection.close()
                log(f"a process of user {peer} at {path} was turned away: agents are of user {user}")
        path.unlink()
        raise NoSupervisor(f"the agent's container did not connect to {path} within {CONNECT_SECONDS:.0f} s")

    def open(self, state: TurnState, argv: list[str]) -> AgentBox:
        """Nothing of an earlier turn runs in it. Raises `BoxLost`."""
        box = AgentBox(self._connection.dup())
        try:
            if left := box.ask("end", seconds=RESTORE_SECONDS)["left"]:
                raise BoxLost(f"{len(left)} processes of an earlier turn cannot be ended")
        except BoxLost:
            self.give_up()
            box.close()
            raise
        return box

    def end(self, state: TurnState) -> None:
        with contextlib.suppress(BoxLost):
            self.open(state, []).close()

    def give_up(self) -> None:
        self.lost = True

    def clear(self) -> None:
        if self.lost:
            return
        box = AgentBox(self._connection.dup())
        try:
            box.ask("clear", seconds=CLEAR_SECONDS)
        except BoxLost:
            self.give_up()
        finally:
            box.close()

    def is_there(self) -> bool:
        """Whether the supervisor has not hung up."""
        watch = select.poll()
        watch.register(self._connection, 0)
        return not watch.poll(0)


def _user_of(connection: socket.socket) -> int:
    size = struct.calcsize("3i")
    _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    return int(user)


def give_folder(agent: Path) -> None:
    """Let the agents' user work in `agent`. What is there of a release whose agents were of our own user goes."""
    about = agent.stat()
    if about.st_uid != os.geteuid() or about.st_mode & 0o020:
        return
    for entry in os.scandir(agent):
        remove_tree(Path(entry.path))
    agent.chmod(0o770)

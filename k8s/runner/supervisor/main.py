"""How a supervisor starts: shut off from its agents before there is one, and connected before it starts anything.

python3 -I -B RUNNER supervise --agent DIR --given DIR (--fd N | --socket PATH)
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
import time
from pathlib import Path

from . import kernel
from .serving import Supervisor, ignore_signals

CONNECT_SECONDS = 120.0


def main(arguments: list[str]) -> int:
    """Serve until the runner goes: the exit code, 1 when no runner is found or processes cannot be ended."""
    parser = argparse.ArgumentParser(prog="runner supervise", description="Keeps the agents of one Greenloop box.")
    parser.add_argument("--agent", type=Path, required=True, help="the folder of the agent's home and caches")
    parser.add_argument("--given", type=Path, required=True, help="what the runner gives: objects, evidence")
    parser.add_argument("--skeleton", type=Path, help="what a fresh home begins with")
    parser.add_argument("--fd", type=int, help="a descriptor of the connection to the runner (a local box)")
    parser.add_argument("--socket", type=Path, help="where the runner listens (a pod)")
    parser.add_argument("--hold", type=int, help="a descriptor to keep open for as long as the supervisor is there")
    given = parser.parse_args(arguments)
    if (given.fd is None) == (given.socket is None):
        parser.error("one of --fd and --socket")
    kernel.hide_memory()
    ignore_signals()
    if given.fd is not None:
        for descriptor in (given.fd, given.hold):
            if descriptor is not None:
                os.set_inheritable(descriptor, False)
        connection = socket.socket(fileno=given.fd)
    else:
        found = _connect(given.socket)
        if found is None:
            sys.stderr.write(f"supervisor: no runner listens at {given.socket} after {CONNECT_SECONDS:.0f} s\n")
            return 1
        connection = found
    os.chdir("/")
    supervisor = Supervisor(connection, given.agent, given.given, given.skeleton, local=given.fd is not None)
    if left := supervisor.run():
        sys.stderr.write(f"supervisor: processes {left} of a turn cannot be killed\n")
    return 1 if left else 0


def _connect(path: Path) -> socket.socket | None:
    until = time.monotonic() + CONNECT_SECONDS
    # the name of a socket may be 107 bytes long, that of its folder any number
    os.chdir(path.parent)
    while time.monotonic() < until:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(path.name)
        except OSError:
            connection.close()
            time.sleep(0.02)
        else:
            return connection
    return None

"""How a supervisor starts: shut off from its agents before there is one, and connected before it starts anything.

python3 -I -B RUNNER supervise --agent DIR --given DIR --fd N
"""

from __future__ import annotations

import argparse
import os
import socket
from pathlib import Path

from . import kernel
from .serving import Supervisor, ignore_signals


def main(arguments: list[str]) -> int:
    """Serve until the runner goes: the exit code."""
    parser = argparse.ArgumentParser(prog="runner supervise", description="Keeps the agents of one Greenloop box.")
    parser.add_argument("--agent", type=Path, required=True, help="the folder of the agent's home and caches")
    parser.add_argument("--given", type=Path, required=True, help="what the runner gives: objects, evidence")
    parser.add_argument("--skeleton", type=Path, help="what a fresh home begins with")
    parser.add_argument("--fd", type=int, required=True, help="a descriptor of the connection to the runner")
    parser.add_argument("--hold", type=int, required=True, help="a descriptor to keep open, by which our end is seen")
    given = parser.parse_args(arguments)
    kernel.hide_memory()
    ignore_signals()
    for descriptor in (given.fd, given.hold):
        os.set_inheritable(descriptor, False)
    os.chdir("/")
    Supervisor(socket.socket(fileno=given.fd), given.agent, given.given, given.skeleton).run()
    return 0

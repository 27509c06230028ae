"""`python -m tests.loops.runtimes.cut_off CLI`: a turn of the real CLI where nothing is to be had but its model.

Runs in a network of its own (`bwrap --unshare-net`), in which a name server on port 53 writes down what it is asked and
knows no name. Prints one JSON object: what the turn came to, the names that it looked up, and whether a lookup of our
own was heard: else another name server than ours would be the one that programs ask.
"""

import contextlib
import json
import socket
import sys
import tempfile
import threading
from pathlib import Path

from loops.runtimes import registry
from loops.runtimes.base import Credential, TurnRequest
from loops.runtimes.scripted.brain import Script
from loops.runtimes.scripted.replies import Reply
from loops.runtimes.scripted.server import ModelServer
from tests.loops.runtimes.box import Box

OURS = "greenloop-looks.invalid"
HEADER = 12
"""Bytes of a DNS message before its first question (RFC 1035, 4.1.1)."""


def name_in(question: bytes) -> str:
    """The name that is asked for."""
    labels, at = [], HEADER
    while size := question[at]:
        labels.append(question[at + 1 : at + 1 + size].decode("latin-1"))
        at += 1 + size
    return ".".join(labels)


def serve_names(listening: socket.socket, asked: list[str]) -> None:
    """Write each name down, and answer that it does not exist."""
    while True:
        question, sender = listening.recvfrom(4096)
        asked.append(name_in(question))
        listening.sendto(question[:2] + b"\x81\x83" + question[4:], sender)


def main() -> None:
    """One turn."""
    cli, asked = sys.argv[1], list[str]()
    listening = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listening.bind(("127.0.0.1", 53))
    threading.Thread(target=serve_names, args=(listening, asked), daemon=True).start()
    with contextlib.suppress(OSError):
        socket.getaddrinfo(OURS, 443)
    smoke = registry.smoke(cli)
    with tempfile.TemporaryDirectory() as root, ModelServer({"x": Script(Reply("Done."))}) as server:
        turn = TurnRequest(
            prompt="Say that it is done.",
            model="scripted-1",
            provider=smoke.provider,
            base_url=server.base_url("x", smoke.wire),
            credential=Credential("api_key", "sk-planted-0123456789abcdef"),
        )
        ran = Box(Path(root)).run(registry.get(cli), turn, seconds=350)
    # a resolver may try it with a domain of this machine behind it, too
    told = {name for name in asked if not name.startswith(OURS)}
    about = {"message": ran.outcome.message, "error": ran.outcome.error}
    print(json.dumps({**about, "heard": OURS in asked, "asked": sorted(told)}))


if __name__ == "__main__":
    main()

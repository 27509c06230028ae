"""git's proc-receive hook: asks the local GitHub about every ref of a push and passes on its words.

Standard library only, run by git in a process of its own. Unlike a pre-receive hook it can give each ref its own
reason, which is how GitHub's refusals look. Protocol: githooks(5), `proc-receive`.
"""

import json
import os
import socket
import sys
from typing import Any, BinaryIO
from urllib.parse import urlsplit


def read_packets(stream: BinaryIO) -> list[str]:
    """The packets up to a flush."""
    found = []
    while (size := int(stream.read(4) or b"0000", 16)) != 0:
        found.append(stream.read(size - 4).decode().rstrip("\n"))
    return found


def write_packets(stream: BinaryIO, lines: list[str]) -> None:
    """The packets and a flush."""
    for line in lines:
        data = line.encode()
        stream.write(f"{len(data) + 4:04x}".encode() + data)
    stream.write(b"0000")
    stream.flush()


def ask(url: str, body: dict[str, Any]) -> Any:
    """POST JSON, get JSON: plain sockets, because a push should not wait for imports."""
    parts = urlsplit(url)
    data = json.dumps(body).encode()
    head = f"POST {parts.path} HTTP/1.0\r\nHost: {parts.netloc}\r\nContent-Length: {len(data)}\r\n\r\n"
    with socket.create_connection((parts.hostname or "127.0.0.1", parts.port or 80), timeout=60) as link:
        link.sendall(head.encode() + data)
        with link.makefile("rb") as stream:
            answer = stream.read()
    return json.loads(answer.partition(b"\r\n\r\n")[2])


def main() -> None:
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    read_packets(stdin)
    write_packets(stdout, ["version=1"])
    updates = [line.split(" ", 2) for line in read_packets(stdin)]
    verdict = ask(os.environ["LOCAL_GITHUB_PUSH"], {"updates": updates})
    for line in verdict["remote"]:
        print(line, file=sys.stderr, flush=True)
    lines: list[str] = []
    for _, _, ref in updates:
        reason = verdict["refused"].get(ref)
        lines += [f"ok {ref}", "option fall-through"] if reason is None else [f"ng {ref} {reason}"]
    write_packets(stdout, lines)


if __name__ == "__main__":
    main()

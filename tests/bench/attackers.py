"""Attacks on the web process, as contexts: each goes on while the block runs, and tells what it was answered."""

import asyncio
import contextlib
import itertools
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass

from k8s.runner.protocol import DIFF_BYTES
from tests.bench.receiver import Served

BOXES = 400
"""Boxes of the hostile tenant, each with the turn `t_<number>`, whose token is `turn-<number>`."""
OPENED = 0
"""Stands for a connection that was opened, among statuses."""

Answers = Counter[int]
_STATUS = re.compile(rb"HTTP/1\.1 (\d{3})")


@dataclass(frozen=True)
class Attack:
    """`connections` that send what `pieces` makes, one after the other, and are opened again when they are closed.

    It happened where `proof` stands among the statuses that the server answered.
    """

    connections: int
    pieces: Callable[[], Iterator[bytes]]
    pause: float
    proof: int = OPENED
    as_box: bool = False

    @contextlib.asynccontextmanager
    async def under_way(self, server: Served) -> AsyncIterator[Answers]:
        """Attack while the block runs."""
        answers: Answers = Counter()
        port = server.boxes if self.as_box else server.port
        tasks = [asyncio.create_task(self._one(port, answers)) for _ in range(self.connections)]
        await asyncio.sleep(0.5)
        try:
            yield answers
        finally:
            await _ended(tasks)

    async def _one(self, port: int, answers: Answers) -> None:
        while True:
            with contextlib.suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                answers[OPENED] += 1
                listening = asyncio.create_task(_listen(reader, answers))
                try:
                    for piece in self.pieces():
                        if writer.is_closing():
                            break
                        writer.write(piece)
                        await writer.drain()
                        await asyncio.sleep(self.pause)
                finally:
                    writer.close()
                    await _ended([listening])
            await asyncio.sleep(0.05)


async def _listen(reader: asyncio.StreamReader, answers: Answers) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65_536):
            answers.update(map(int, _STATUS.findall(data)))


async def _ended(tasks: list["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()
    waiting: Awaitable[object] = asyncio.gather(*tasks, return_exceptions=True)
    await waiting


def _drops() -> Iterator[bytes]:
    yield b"GET / HTTP/1.1\r\n"
    yield from itertools.repeat(b"x: y\r\n")


_UPLOAD = b"PUT /turns/t/objects/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\nContent-Length: 100000000\r\n\r\n"
_UNSIGNED = (
    b"POST /webhooks/github HTTP/1.1\r\nHost: a\r\nX-Hub-Signature-256: sha256=0\r\nContent-Length: 2000000\r\n\r\n"
    + b"x" * 2_000_000
)

_reporting = itertools.count()


def _reports() -> Iterator[bytes]:
    """The report of one turn after the other, each with a diff that a careless recogniser reads in square time."""
    while True:
        number = next(_reporting) % BOXES
        report = {"reason": "exited", "exit_code": 0, "base": "1" * 40, "tree": "2" * 40, "changes": []}
        body = json.dumps(report | {"diff": "eyJ" * (DIFF_BYTES // 3)}).encode()
        head = f"PUT /turns/t_{number}/result HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer turn-{number}\r\n"
        yield f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


REPORTS = "2 boxes, reports of eyJ"
ATTACKS: dict[str, Attack] = {
    "150 silent connections": Attack(150, lambda: itertools.repeat(b""), 0.2),
    "50 heads, drop by drop": Attack(50, _drops, 0.1),
    "50 bodies that do not come": Attack(50, lambda: itertools.repeat(_UPLOAD), 0.5, as_box=True),
    "8 unsigned bodies of 2 MB": Attack(8, lambda: itertools.repeat(_UNSIGNED), 0.5),
    REPORTS: Attack(2, _reports, 0.5, as_box=True),
    "50 times no HTTP": Attack(50, lambda: iter([b"nonsense\r\n\r\n"]), 0.05, proof=400),
}

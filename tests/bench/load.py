"""A load generator: keep-alive connections that each send the next request when the answer to the last has come."""

import asyncio
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


@dataclass
class Load:
    """What came of a run: answers by status, seconds, and the time of each answer in seconds."""

    seconds: float = 0.0
    statuses: dict[int, int] = field(default_factory=dict)
    times: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Answers a second."""
        return sum(self.statuses.values()) / self.seconds

    def percentile(self, percent: float) -> float:
        """Milliseconds that `percent` of the answers took at most."""
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))] * 1000


class _Connection(asyncio.Protocol):
    def __init__(self, request: Callable[[], bytes], load: Load, until: float, over: "asyncio.Future[None]") -> None:
        self._request, self._load, self._until, self.over = request, load, until, over
        self._buffer = b""
        self._sent = 0.0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._next()

    def _next(self) -> None:
        assert self._transport is not None
        self._sent = time.perf_counter()
        if self._sent >= self._until:
            self._transport.close()
            return
        self._transport.write(self._request())

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head = self._buffer.find(b"\r\n\r\n")
        if head < 0:
            return
        length = _LENGTH.search(self._buffer, 0, head)
        if len(self._buffer) < head + 4 + (int(length[1]) if length else 0):
            return
        status = int(self._buffer[9:12])
        self._buffer = b""
        self._load.statuses[status] = self._load.statuses.get(status, 0) + 1
        self._load.times.append(time.perf_counter() - self._sent)
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.over.done():
            self.over.set_result(None) if exc is None else self.over.set_exception(exc)


async def drive(host: str, port: int, request: Callable[[], bytes], *, connections: int, seconds: float) -> Load:
    """Send what `request` makes over `connections` for `seconds`. Raises OSError when a connection breaks."""
    loop = asyncio.get_running_loop()
    load = Load()
    began = time.perf_counter()
    overs: list[asyncio.Future[None]] = []
    for _ in range(connections):
        overs.append(loop.create_future())
        await loop.create_connection(lambda: _Connection(request, load, began + seconds, overs[-1]), host, port)
    await asyncio.gather(*overs)
    load.seconds = time.perf_counter() - began
    return load


async def paced(host: str, port: int, senders: Sequence[Callable[[], bytes]], *, every: float, seconds: float) -> Load:
    """Have each sender send one request `every` so many seconds, over a connection of its own. An answer's time counts
    from when its request was to be sent. Raises OSError when a connection breaks."""
    load = Load()
    began = time.perf_counter()

    async def one(place: int, request: Callable[[], bytes]) -> None:
        reader, writer = await asyncio.open_connection(host, port)
        at = began + every * (1 + place / len(senders))
        while at < began + seconds:
            await asyncio.sleep(max(0.0, at - time.perf_counter()))
            writer.write(request())
            head = await reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(head)
            await reader.readexactly(int(length[1]) if length else 0)
            status = int(head[9:12])
            load.statuses[status] = load.statuses.get(status, 0) + 1
            load.times.append(time.perf_counter() - at)
            at += every
        writer.close()
        await writer.wait_closed()

    await asyncio.gather(*(one(*each) for each in enumerate(senders)))
    load.seconds = time.perf_counter() - began
    return load

"""Servers that hang: they take connections and never answer."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

from app.process.valkey import EmbeddedRedis


@dataclass
class Hanging:
    """Where it is, and how many connections it has taken."""

    url: str = ""
    connections: int = 0


@contextlib.asynccontextmanager
async def hanging_server() -> AsyncIterator[Hanging]:
    """One on loopback."""
    found = Hanging()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.connections += 1
        with contextlib.suppress(OSError):
            while await reader.read(65536):
                pass
        writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    found.url = f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield found


@contextlib.contextmanager
def paused(redis: EmbeddedRedis) -> Iterator[None]:
    """The server stands still while the block lasts; the kernel takes its connections."""
    assert redis._process is not None
    os.killpg(redis._process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.killpg(redis._process.pid, signal.SIGCONT)

"""A log on disk for a moment: it comes from GitHub in pieces, and is read more than once."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import IO

from github.checks.logs import LogOpener
from github.client.errors import GitHubError

CHUNK = 1 << 20


@asynccontextmanager
async def spooled(log: LogOpener) -> AsyncIterator[IO[bytes]]:
    """The log as a file, with a name by which another process reads it. Where it breaks off, what came before; raises
    GitHubError where nothing came."""
    with tempfile.NamedTemporaryFile() as file:
        try:
            async with log() as pieces:
                async for piece in pieces:
                    await asyncio.to_thread(file.write, piece)
        except GitHubError:
            if file.tell() == 0:
                raise
        file.flush()
        yield file


def chunks(file: IO[bytes]) -> Iterator[bytes]:
    """All of it, from the beginning."""
    file.seek(0)
    while chunk := file.read(CHUNK):
        yield chunk

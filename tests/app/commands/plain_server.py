"""A server of whatever a test wants to be found by a command."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

from starlette.applications import Starlette

from app.web.side_server import SideServer


@contextlib.asynccontextmanager
async def serving_plain(app: Starlette) -> AsyncIterator[str]:
    bound = socket.create_server(("127.0.0.1", 0))
    server = SideServer(app)
    task = asyncio.create_task(server.serve([bound]))
    yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    server.should_exit = True
    await task
    bound.close()

"""The application on a real server, inside the test's own process."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

from starlette.applications import Starlette

from app.web.app import server


@contextlib.asynccontextmanager
async def serving(app: Starlette, port: int = 0) -> AsyncIterator[str]:
    """Serve `app` on loopback, by default on a free port; its URL."""
    listening = socket.create_server(("127.0.0.1", port))
    running = server(app)
    task = asyncio.create_task(running.serve(sockets=[listening]))
    while not running.started:
        if task.done():
            await task
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        running.should_exit = True
        await task

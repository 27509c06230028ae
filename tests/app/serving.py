"""The application on a real server, inside the test's own process."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from starlette.applications import Starlette

from app.commands.common import listen
from app.web.app import server
from app.web.connections import ConnectionLimits


@contextlib.asynccontextmanager
async def serving(app: Starlette, port: int = 0, limits: ConnectionLimits | None = None) -> AsyncIterator[str]:
    """Serve `app` on loopback, by default on a free port; its URL."""
    listening = listen("127.0.0.1", port)
    running = server(app, limits=limits)
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

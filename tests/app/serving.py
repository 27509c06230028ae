"""The application on a real server, inside the test's own process."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from starlette.applications import Starlette

from app.commands.common import listen
from app.web.app import server
from app.web.connections import ConnectionLimits


@dataclass(frozen=True)
class Served:
    """Where everybody and where boxes reach it."""

    url: str
    boxes: str


@contextlib.asynccontextmanager
async def serving(app: Starlette, port: int = 0, limits: ConnectionLimits | None = None) -> AsyncIterator[str]:
    """Serve `app` on loopback, by default on a free port; its URL."""
    async with serving_both(app, port, limits=limits) as served:
        yield served.url


@contextlib.asynccontextmanager
async def serving_both(
    app: Starlette, port: int = 0, box_port: int = 0, limits: ConnectionLimits | None = None
) -> AsyncIterator[Served]:
    """Serve `app` and its port for boxes on loopback, by default on free ports."""
    listening, boxes = listen("127.0.0.1", port), listen("127.0.0.1", box_port)
    running = server(app, boxes=boxes, limits=limits)
    task = asyncio.create_task(running.serve(sockets=[listening]))
    while not running.started:
        if task.done():
            await task
        await asyncio.sleep(0.01)
    try:
        yield Served(*(f"http://127.0.0.1:{each.getsockname()[1]}" for each in (listening, boxes)))
    finally:
        running.should_exit = True
        await task

"""Ending background tasks."""

import asyncio
from typing import Any


async def end(task: "asyncio.Task[Any]") -> None:
    """Cancel `task` until it is over. Once is not enough: a client library may swallow a cancellation on its way."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=0.5)

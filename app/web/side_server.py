"""A server beside the process's main one, on a port of its own."""

import contextlib
from collections.abc import Iterator
from typing import Any

import uvicorn
from starlette.applications import Starlette

from app.web.connections import IDLE_SECONDS


class SideServer(uvicorn.Server):
    """Leaves signals and the application's lifespan to the process: it ends by `should_exit`."""

    def __init__(self, app: Starlette, *, drain_seconds: int = 1, **options: Any) -> None:
        """`options` are uvicorn's."""
        super().__init__(
            uvicorn.Config(
                app,
                lifespan="off",
                ws="none",
                access_log=False,
                log_config=None,
                server_header=False,
                timeout_graceful_shutdown=drain_seconds,
                timeout_keep_alive=IDLE_SECONDS,
                **options,
            )
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

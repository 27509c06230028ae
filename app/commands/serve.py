"""The commands that run the service: `web`, `worker`, `up` and `migrate`."""

import asyncio
import contextlib
import os
import socket
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.common import PortOption, database_errors, listen, one_line_errors

if TYPE_CHECKING:
    from app.settings import Settings

WAIT_PAUSE = 1.0

HostOption = Annotated[
    str, typer.Option(help="Address to listen on; :: is every one. Keep 127.0.0.1 unless a proxy is in front.")
]
OpsPortOption = Annotated[
    int,
    typer.Option(min=0, max=65535, help="A port for probes and Prometheus alone; let nobody else reach it. 0: none."),
]


StdinOption = Annotated[bool, typer.Option(hidden=True, help="End once standard input does, as `demo` starts it.")]


def web(
    host: HostOption = "127.0.0.1",
    port: PortOption = 8080,
    ops_port: OpsPortOption = 0,
    end_with_stdin: StdinOption = False,
) -> None:
    """Run the web process: webhooks, API, pages. GREENLOOP_BOX_PORT is for boxes, `--ops-port` serves /metrics."""
    from app.process import processes
    from app.process.wiring import open_web
    from app.web.app import server

    with one_line_errors():
        if end_with_stdin:
            processes.end_with_stdin()
        settings = _settings()
        redis_url = _redis_url(settings)
        with listen(host, port) as listening, listen_for_boxes(settings, host) as boxes, _ops(host, ops_port) as ops:
            server(open_web(settings, redis_url), boxes=boxes, ops=ops).run(sockets=[listening])


def worker(host: HostOption = "127.0.0.1", ops_port: OpsPortOption = 0, end_with_stdin: StdinOption = False) -> None:
    """Run a worker: the steps of the loop. `--ops-port` serves /healthz, /readyz and /metrics."""
    import uvloop

    from app.process import processes
    from app.process.worker import run

    with one_line_errors():
        if end_with_stdin:
            processes.end_with_stdin()
        settings = _settings()
        redis_url = _redis_url(settings)
        with _ops(host, ops_port) as ops:
            uvloop.run(run(settings, redis_url, ops=ops))


def up(host: HostOption = "127.0.0.1", port: PortOption = 8080) -> None:
    """Run everything in one process on this machine: SQLite, an embedded Redis, local boxes."""
    import uvloop

    from app.commands.up import run

    with one_line_errors():
        settings = _settings()
        with listen(host, port) as listening, listen_for_boxes(settings, host) as boxes:
            uvloop.run(run(settings, listening, boxes))


def migrate(
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for a database that does not answer yet.")] = 0,
) -> None:
    """Bring the database to the current schema."""
    from app.settings import Settings
    from loops.store.migrations import upgrade

    async def work(url: str) -> None:
        if wait:
            await _answering(url, wait)
        with database_errors():
            await upgrade(url)

    with one_line_errors():
        settings = Settings()
        settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        asyncio.run(work(settings.database))


async def _answering(url: str, seconds: float) -> None:
    """Wait until the database takes a query. Raises ValueError with its last refusal."""
    from sqlalchemy import text

    from loops.store.database import Database

    database = Database(url)
    loop = asyncio.get_running_loop()
    ends = loop.time() + seconds
    try:
        while True:
            try:
                async with database.read() as tx:
                    await tx.execute(text("SELECT 1"))
                return
            except Exception as error:
                if loop.time() > ends:
                    said = f"{type(error).__name__}: {error}".splitlines()[0]
                    raise ValueError(f"the database did not answer within {seconds:.0f} s: {said}") from error
            await asyncio.sleep(WAIT_PAUSE)
    finally:
        await database.close()


def listen_for_boxes(settings: "Settings", host: str) -> socket.socket:
    """The port of boxes: of this machine only where they are local. Raises ValueError with the way out."""
    where = "127.0.0.1" if settings.boxes == "local" else host
    return listen(where, settings.box_port, named_by="GREENLOOP_BOX_PORT")


def _ops(host: str, port: int) -> contextlib.AbstractContextManager[socket.socket | None]:
    return listen(host, port) if port else contextlib.nullcontext()


def _settings() -> "Settings":
    """The settings of a process that serves, with its logging as they say."""
    import structlog

    from app.logging import configure
    from app.settings import Settings, unknown_variables

    settings = Settings()
    configure(settings.log_level, json=settings.log_json)
    for name, nearest in unknown_variables(os.environ).items():
        structlog.get_logger().warning("settings.unknown", variable=name, nearest=nearest)
    return settings


def _redis_url(settings: "Settings") -> str:
    if not settings.redis_url:
        raise ValueError("GREENLOOP_REDIS_URL is empty: name a Redis, or run everything with `greenloop up`")
    return settings.redis_url

"""The commands that run the service: `web`, `worker`, `up` and `migrate`."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from app.settings import Settings

WAIT_PAUSE = 1.0

HostOption = Annotated[str, typer.Option(help="Address to listen on. Keep 127.0.0.1 unless a proxy is in front.")]
PortOption = Annotated[int, typer.Option(help="Port to listen on.")]
OpsPortOption = Annotated[
    int, typer.Option(help="A port for probes and Prometheus alone; let nobody else reach it. 0: none.")
]


def web(host: HostOption = "127.0.0.1", port: PortOption = 8080, ops_port: OpsPortOption = 0) -> None:
    """Run the web process: webhooks, the boxes' API, the pages. `--ops-port` serves /metrics."""
    from app.web import server
    from app.wiring import open_web

    with setting_errors():
        settings = _settings()
        app = open_web(settings, _redis_url(settings))
    server(app, host=host, port=port, ops_port=ops_port).run()


def worker(host: HostOption = "127.0.0.1", ops_port: OpsPortOption = 0) -> None:
    """Run a worker: the steps of the loop and the sweep. `--ops-port` serves /healthz, /readyz and /metrics."""
    from app.worker import run

    with setting_errors():
        settings = _settings()
        asyncio.run(run(settings, _redis_url(settings), ops=(host, ops_port) if ops_port else None))


def migrate(
    wait: Annotated[float, typer.Option(help="Seconds to wait for a database that does not answer yet.")] = 0,
) -> None:
    """Bring the database to the current schema."""
    from app.settings import Settings
    from loops.migrations import upgrade

    async def work() -> None:
        if wait:
            await _answering(settings.database, wait)
        await upgrade(settings.database)

    with setting_errors():
        settings = Settings()
        settings.folder.mkdir(parents=True, exist_ok=True)
        asyncio.run(work())


async def _answering(url: str, seconds: float) -> None:
    """Wait until the database takes a query. Raises ValueError with its last refusal."""
    from sqlalchemy import text

    from loops.database import Database

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


def up(host: HostOption = "127.0.0.1", port: PortOption = 8080) -> None:
    """Run everything in one process on this machine: SQLite, an embedded Redis, local boxes."""
    from app.up import run

    with setting_errors():
        settings = _settings()
        asyncio.run(run(settings, host, port))


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


@contextlib.contextmanager
def setting_errors() -> Iterator[None]:
    """A setting that cannot be used ends the command in one line, not in a traceback."""
    from pydantic import ValidationError

    from loops.vault import VaultError

    try:
        yield
    except ValidationError as error:
        for each in error.errors():
            name = "_".join(str(part) for part in each["loc"]).upper()
            print(f"greenloop: GREENLOOP_{name}: {each['msg']}", file=sys.stderr)
        raise typer.Exit(2) from None
    except (ValueError, OSError, VaultError) as error:
        print(f"greenloop: {error}", file=sys.stderr)
        raise typer.Exit(2) from None

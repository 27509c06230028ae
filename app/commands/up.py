"""Everything in one process, for one machine."""

import asyncio
import contextlib
import socket

import structlog

from app.commands.common import database_errors
from app.process.valkey import EmbeddedRedis
from app.process.wiring import open_boxes, open_github, open_web
from app.process.worker import on_signals
from app.process.worker import run as run_worker
from app.settings import Settings
from app.web.app import server
from k8s.local import NO_WALLS, LocalBoxes
from k8s.runner.processes.walls import PROCESSES
from loops.secrets.vault import make_key_file
from loops.store.migrations import upgrade

log = structlog.get_logger(__name__)


async def run(settings: Settings, listening: socket.socket, boxes: socket.socket) -> None:
    """Migrate, start the Redis of our own where none is named, and run web and worker until SIGTERM or SIGINT.

    Raises ValueError for settings that cannot be used, and what ends one of the parts.
    """
    if not settings.service_url and settings.boxes == "local":
        settings = settings.model_copy(update={"service_url": f"http://127.0.0.1:{boxes.getsockname()[1]}"})
    # A key that is none is said before a folder, a database or a server exists.
    await open_github(settings).aclose()
    settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not settings.encryption_key_list():
        make_key_file(settings.key_file)
    with database_errors():
        await upgrade(settings.database)
    with contextlib.ExitStack() as stack:
        redis_url = settings.redis_url
        if not redis_url:
            embedded = EmbeddedRedis(settings.folder / "redis")
            redis_url = embedded.start()
            stack.callback(embedded.stop)
        web = server(open_web(settings, redis_url), boxes=boxes, signals=False)
        stop = on_signals()
        parts = [
            asyncio.create_task(web.serve([listening]), name="web"),
            asyncio.create_task(run_worker(settings, redis_url, stop=stop), name="worker"),
            asyncio.create_task(stop.wait(), name="stop"),
        ]
        host, port = listening.getsockname()[:2]
        if not await _has_walls(settings):
            log.warning("up.no_walls", message=NO_WALLS)
        log.info("up.start", at=f"http://{host}:{port}", public_url=settings.public_url, data=str(settings.folder))
        await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
        stop.set()
        web.should_exit = True
        # Both end in their own order before the fault of one of them ends us.
        await asyncio.wait(parts)
        for part in parts:
            part.result()


async def _has_walls(settings: Settings) -> bool:
    """Whether agents run behind walls; on a cluster that is the cluster's affair."""
    if settings.boxes != "local":
        return True
    boxes = await open_boxes(settings)
    try:
        return not isinstance(boxes, LocalBoxes) or await asyncio.to_thread(lambda: boxes.walls) != PROCESSES
    finally:
        await boxes.close()

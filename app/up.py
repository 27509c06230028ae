"""Everything in one process, for one machine."""

import asyncio

from app.settings import Settings
from app.valkey import EmbeddedRedis
from app.web import server
from app.wiring import open_web
from app.worker import on_signals
from app.worker import run as run_worker
from loops.migrations import upgrade
from loops.vault import make_key_file


async def run(settings: Settings, host: str, port: int) -> None:
    """Migrate, start the Redis of our own where none is named, and run web and worker until SIGTERM or SIGINT."""
    settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not settings.encryption_key_list():
        make_key_file(settings.key_file)
    await upgrade(settings.database)
    embedded = None if settings.redis_url else EmbeddedRedis(settings.folder / "redis")
    redis_url = settings.redis_url or (embedded.start() if embedded else "")
    try:
        web = server(open_web(settings, redis_url), host=host, port=port, signals=False)
        stop = on_signals()
        parts = [
            asyncio.create_task(web.serve(), name="web"),
            asyncio.create_task(run_worker(settings, redis_url, stop=stop), name="worker"),
            asyncio.create_task(stop.wait(), name="stop"),
        ]
        await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
        stop.set()
        web.should_exit = True
        await asyncio.gather(*parts)
    finally:
        if embedded is not None:
            embedded.stop()

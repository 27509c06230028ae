"""/healthz: the process lives. /readyz: it can do its work."""

import asyncio
from functools import cache

from alembic.script import ScriptDirectory
from sqlalchemy import text
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.web.state import app_state
from loops.store.database import Database
from loops.store.migrations import config
from loops.store.queue import Queue

SECONDS = 3.0


async def healthz(request: Request) -> Response:
    """200 as long as the process answers; it asks nobody else."""
    return JSONResponse({"status": "ok"})


async def readyz(request: Request) -> Response:
    """200 when deliveries and turns can be taken, else 503. Redis may be away: then all goes on, a little slower."""
    here = app_state(request)
    return await readiness(here.database, here.queue, inbox=here.inbox.depth)


async def readiness(database: Database, queue: Queue, **more: int) -> Response:
    """How database and Redis are, and `more` figures beside them."""
    tables, redis = await asyncio.gather(_database(database), _redis(queue))
    ready = tables == "ok"
    status = "ok" if ready and redis == "ok" else "degraded" if ready else "unavailable"
    return JSONResponse({"status": status, "database": tables, "redis": redis, **more}, 200 if ready else 503)


async def _database(database: Database) -> str:
    try:
        async with asyncio.timeout(SECONDS), database.read() as tx:
            current = (await tx.execute(text("SELECT version_num FROM alembic_version"))).scalars().all()
    except Exception as error:
        return f"not reachable, or without tables (greenloop migrate): {type(error).__name__}"
    if list(current) != newest():
        return f"schema is {current}, this version needs {newest()}: run greenloop migrate"
    return "ok"


async def _redis(queue: Queue) -> str:
    try:
        async with asyncio.timeout(SECONDS):
            if await queue.ping():
                return "ok"
    except TimeoutError:
        pass
    return "not reachable: work goes on at the pace of the workers' sweep"


@cache
def newest() -> list[str]:
    """The schema that this version of the service needs."""
    return list(ScriptDirectory.from_config(config("sqlite://")).get_heads())

"""/healthz: the process lives. /readyz: it can do its work."""

import asyncio
import time

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.web.state import app_state
from loops.store.bus import Bus
from loops.store.database import Database
from loops.store.schema import Schema, look
from loops.store.service_state import remember

SECONDS = 3.0
KEY = "ready"


async def healthz(request: Request) -> Response:
    """200 as long as the process answers; it asks nobody else."""
    return JSONResponse({"status": "ok"})


async def readyz(request: Request) -> Response:
    """200 when deliveries and turns can be taken, else 503. Redis may be away: then all goes on, a little slower."""
    here = app_state(request)
    return await readiness(here.database, here.bus, inbox=here.inbox.depth)


async def readiness(database: Database, bus: Bus, **more: int) -> Response:
    """How database and Redis are, and `more` figures beside them."""
    schema, redis = await asyncio.gather(_database(database), _redis(bus))
    status = "ok" if schema.usable and redis == "ok" else "degraded" if schema.usable else "unavailable"
    said = {"status": status, "database": schema.says, "redis": redis, **more}
    return JSONResponse(said, 200 if schema.usable else 503)


async def _database(database: Database) -> Schema:
    """The schema, and whether something can be written: a full disk or a follower answers every question."""
    found = await look(database)
    if not found.usable:
        return found
    try:
        async with asyncio.timeout(SECONDS):
            await remember(database, KEY, {}, now=time.time())
    except TimeoutError:  # others write before us: who is busy is not taken out of service
        return Schema(True, f"a write takes more than {SECONDS:.0f} s")
    except Exception as error:
        said = str(getattr(error, "orig", None) or error).splitlines()[0]
        return Schema(False, f"the database takes no writes: {said}")
    return found


async def _redis(bus: Bus) -> str:
    try:
        async with asyncio.timeout(SECONDS):
            if await bus.ping():
                return "ok"
    except TimeoutError:
        pass
    return "not reachable: workers find what is due by themselves, half a second later"

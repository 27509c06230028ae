"""The contracts as a web surface performs them: one transaction, the tenant that is meant, and a worker told at once.

Each raises what `loops.operations` raises: Invalid and Unknown.
"""

from dataclasses import asdict
from typing import Any

from app.web.state import AppState
from loops import operations
from loops.store.bus import WORK

_PRIVATE = ("row",)


async def start(
    here: AppState, installation: int | None, wish: operations.StartRequest, origin: str
) -> operations.Started:
    """Begin a session; `origin` is the surface it is recorded under."""
    async with here.database.write() as tx:
        tenant = await operations.tenant_of(tx, installation)
        done = await operations.start(tx, tenant, wish, surface=origin, cap=here.settings.cap, now=here.clock())
    here.bus.notify(WORK)
    return done


async def get(here: AppState, installation: int | None, session: str, after: int) -> operations.Shown:
    """All of one session, with its events behind `after`."""
    async with here.database.read() as tx:
        tenant = await operations.tenant_of(tx, installation)
        return await operations.get(tx, tenant, session, after=after)


async def list_sessions(
    here: AppState, installation: int | None, status: str | None, limit: int
) -> tuple[operations.Brief, ...]:
    """The sessions, newest first."""
    async with here.database.read() as tx:
        tenant = await operations.tenant_of(tx, installation)
        return await operations.list_sessions(tx, tenant, status=status, limit=limit)


async def cancel(here: AppState, installation: int | None, session: str, origin: str) -> operations.Cancelled:
    """Ask for a session's end."""
    async with here.database.write() as tx:
        tenant = await operations.tenant_of(tx, installation)
        done = await operations.cancel(tx, tenant, session, by=origin, surface=origin, now=here.clock())
    if done.was_open:
        here.bus.notify(WORK)
    return done


def plain(value: Any) -> dict[str, Any]:
    """An answer of a contract as JSON shows it, without what only the service needs."""
    return {name: item for name, item in asdict(value).items() if name not in _PRIVATE}

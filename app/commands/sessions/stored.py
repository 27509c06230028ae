"""Sessions in the service's own database, for whoever runs it."""

import asyncio
import time
from collections.abc import AsyncGenerator

from app.settings import Settings
from loops import operations
from loops.operations import Brief, Happened, Listing, Shown, StartRequest
from loops.store.bus import WORK, Bus
from loops.store.database import Database
from loops.store.states import OPEN_SESSION, SessionStatus

SURFACE = "cli"
WATCH_SECONDS = 0.5


class StoredSessions:
    """Within `installation`, where there are several."""

    def __init__(self, settings: Settings, database: Database, installation: int | None) -> None:
        self._settings = settings
        self._database = database
        self._installation = installation

    async def start(self, wish: StartRequest) -> tuple[str, str]:
        async with self._database.write() as tx:
            tenant = await operations.tenant_of(tx, self._installation)
            cap, now = self._settings.cap, time.time()
            done = await operations.start(tx, tenant, wish, surface=SURFACE, cap=cap, now=now)
        await self._wake()
        return done.session, done.status

    async def get(self, session: str, *, events: bool) -> Shown:
        async with self._database.read() as tx:
            tenant = await operations.tenant_of(tx, self._installation)
            return await operations.get(tx, tenant, session, events=events)

    async def listed(
        self, *, status: str | None, repository: str | None, person: str | None, limit: int
    ) -> list[Brief]:
        async with self._database.read() as tx:
            tenant = await operations.tenant_of(tx, self._installation)
            meant = Listing(tenant, status=status, person=person)
            if repository is not None:
                found = await operations.find_repository(tx, tenant, repository)
                meant = Listing(tenant, status=status, person=person, repository_id=found.id)
            return [each.brief for each in await operations.list_sessions(tx, meant, limit=limit)]

    async def cancel(self, session: str) -> tuple[str, bool]:
        async with self._database.write() as tx:
            tenant = await operations.tenant_of(tx, self._installation)
            done = await operations.cancel(tx, tenant, session, by=SURFACE, surface=SURFACE, now=time.time())
        if done.was_open:
            await self._wake()
        return done.status, done.was_open

    async def retry(self, session: str, instruction: str) -> str:
        raise ValueError("a retry asks GitHub about the pull request, which only the server does: name it by --server")

    async def diff(self, session: str) -> str:
        return (await self.get(session, events=False)).diff or ""

    async def follow(self, session: str) -> AsyncGenerator[Happened | Brief]:
        seen = 0
        while True:
            async with self._database.read() as tx:
                tenant = await operations.tenant_of(tx, self._installation)
                found = await operations.get(tx, tenant, session, after=seen)
            for event in found.events:
                seen = event.seq
                yield event
            if found.events:
                continue
            yield found.brief()
            if SessionStatus(found.status) not in OPEN_SESSION:
                return
            await asyncio.sleep(WATCH_SECONDS)

    async def _wake(self) -> None:
        """Tell the workers at once where Redis is known; they find the session anyway."""
        if self._settings.redis_url:
            bus = Bus(self._settings.redis_url)
            bus.notify(WORK)
            await bus.close()

"""Where `greenloop session` finds sessions: at a server that this person logged in at, else in the service's own
database."""

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Protocol

from loops.operations import Brief, Happened, Shown, StartRequest


class Sessions(Protocol):
    """What every source can do. Ids are public ones; what cannot be done raises ValueError or LookupError, in words."""

    async def start(self, wish: StartRequest) -> tuple[str, str]:
        """The new session and its status."""

    async def get(self, session: str, *, events: bool) -> Shown: ...

    async def listed(
        self, *, status: str | None, repository: str | None, person: str | None, limit: int
    ) -> list[Brief]: ...

    async def cancel(self, session: str) -> tuple[str, bool]:
        """The session's status, and whether it was open."""

    async def retry(self, session: str, instruction: str) -> str:
        """The session's status."""

    async def diff(self, session: str) -> str: ...

    def follow(self, session: str) -> AsyncGenerator[Happened | Brief]:
        """Its events as they come, and what it is where that changes; the last is what it ended as."""


@contextlib.asynccontextmanager
async def opened_sessions(server: str | None, installation: int | None) -> AsyncIterator[Sessions]:
    """The source that is meant by `--server`, closed after the block. Raises ValueError with the way out."""
    from app.commands.server.logins import chosen

    if (known := chosen(server)) is not None:
        from app.commands.server.client import Client
        from app.commands.sessions.served import ServedSessions

        client = Client(known)
        try:
            yield ServedSessions(client, installation)
        finally:
            await client.aclose()
        return
    from app.commands.common import opened
    from app.commands.sessions.stored import StoredSessions
    from app.settings import Settings

    settings = Settings()
    async with opened(settings) as database:
        yield StoredSessions(settings, database, installation)

"""Sessions at a server, by its API."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from pydantic import TypeAdapter

from app.commands.server.client import Client
from loops.operations import Brief, Happened, Shown, StartRequest

PAGE = 100
_BRIEF, _SHOWN, _HAPPENED = TypeAdapter(Brief), TypeAdapter(Shown), TypeAdapter(Happened)


class ServedSessions:
    """Within `installation`, where the operator's token needs one."""

    def __init__(self, client: Client, installation: int | None) -> None:
        self._client = client
        self._installation = installation

    async def start(self, wish: StartRequest) -> tuple[str, str]:
        given = {**asdict(wish), "installation": self._installation}
        body = {name: value for name, value in given.items() if value is not None}
        done = await self._client.post("/api/v1/sessions", body)
        return str(done["session"]), str(done["status"])

    async def get(self, session: str, *, events: bool) -> Shown:
        return _SHOWN.validate_python(await self._client.get(_at(session), installation=self._installation))

    async def listed(
        self, *, status: str | None, repository: str | None, person: str | None, limit: int
    ) -> list[Brief]:
        found: list[Brief] = []
        asked: dict[str, Any] = {"status": status, "repository": repository, "person": person}
        cursor = None
        while True:
            page = await self._client.get(
                "/api/v1/sessions",
                **asked,
                limit=min(PAGE, limit - len(found)),
                cursor=cursor,
                installation=self._installation,
            )
            found += [_BRIEF.validate_python(each) for each in page["sessions"]]
            cursor = page["next"]
            if cursor is None or len(found) >= limit:
                return found

    async def cancel(self, session: str) -> tuple[str, bool]:
        done = await self._client.post(f"{_at(session)}/cancel", installation=self._installation)
        return str(done["status"]), bool(done["was_open"])

    async def retry(self, session: str, instruction: str) -> str:
        body = {"instruction": instruction}
        done = await self._client.post(f"{_at(session)}/retry", body, installation=self._installation)
        return str(done["status"])

    async def diff(self, session: str) -> str:
        return await self._client.text(f"{_at(session)}/diff", installation=self._installation)

    async def follow(self, session: str) -> AsyncGenerator[Happened | Brief]:
        tenant = f"?installation={self._installation}" if self._installation is not None else ""
        async with aclosing(self._client.stream(f"{_at(session)}/events{tenant}")) as news:
            async for told in news:
                kind = _HAPPENED if told.kind == "event" else _BRIEF
                yield kind.validate_python(json.loads(told.data))


def _at(session: str) -> str:
    return f"/api/v1/sessions/{quote(session, safe='')}"

"""The way from the git gateway to GitHub, and the answer's way back to a box, as it comes."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import aiohttp
import structlog
from starlette.requests import Request
from starlette.types import Send

from app.gateway.git.requests import ANSWERED, NotServed
from app.gateway.whole import NotWhole, whole
from loops.accounts.box_secrets import CannotPrepare

log = structlog.get_logger(__name__)

MOVED = (301, 302, 303, 307, 308)
HOPS = 3
"""Redirects that are followed to an object of Git LFS."""


@dataclass(frozen=True)
class Origin:
    """Where GitHub has a repository now, and the header that lets us read it."""

    url: str
    authorization: str


class Origins(Protocol):
    """Knows where repositories are."""

    async def origin(self, installation_id: int, repository_id: int, *, afresh: bool = False) -> Origin:
        """Of the repository with that id; `afresh` asks GitHub again. Raises CannotPrepare."""
        ...


@dataclass(frozen=True)
class Place:
    """One repository of one installation."""

    origins: Origins
    installation: int
    repository: int

    async def now(self, *, afresh: bool = False) -> Origin:
        """Raises NotServed."""
        try:
            return await self.origins.origin(self.installation, self.repository, afresh=afresh)
        except CannotPrepare as error:
            raise NotServed(502, str(error)) from None


class Upstream:
    """Asks GitHub about one repository. An answer other than success is a refusal in words."""

    def __init__(self, session: aiohttp.ClientSession, place: Place) -> None:
        self._session = session
        self._place = place

    @contextlib.asynccontextmanager
    async def at_github(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer at `path` of the repository. Raises NotServed.

        A repository that moved is asked for under its new name, and a token that GitHub does not take is made anew,
        once: a box sees neither.
        """
        for afresh in (False, True):
            origin = await self._place.now(afresh=afresh)
            sent = {**headers, "authorization": origin.authorization}
            async with self._asked(method, f"{origin.url}/{path}", sent, body) as answer:
                if answer.status in (*MOVED, 401) and not afresh:
                    continue
                _refuse(answer)
                yield answer
                return

    @contextlib.asynccontextmanager
    async def elsewhere(self, href: str, headers: Mapping[str, str]) -> AsyncIterator[aiohttp.ClientResponse]:
        """The object of Git LFS at `href`, which GitHub named. Raises NotServed."""
        async with self._asked("GET", href, headers, b"", redirects=HOPS) as answer:
            _refuse(answer)
            yield answer

    @contextlib.asynccontextmanager
    async def _asked(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, redirects: int = 0
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        try:
            answer = await self._session.request(
                method,
                url,
                headers=headers,
                data=body or None,
                allow_redirects=redirects > 0,
                max_redirects=redirects or 1,
            )
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            log.warning("git.unreachable", repository=self._place.repository, error=type(error).__name__)
            raise NotServed(502, f"GitHub could not be reached: {type(error).__name__}.") from None
        try:
            yield answer
        finally:
            answer.close()


def _refuse(answer: aiohttp.ClientResponse) -> None:
    """Raises NotServed for all but success. GitHub's own words are not passed on: they may quote what it was sent."""
    status = answer.status
    if status in (200, 206):
        return
    if status in (*MOVED, 401):
        raise NotServed(502, "GitHub sends elsewhere, or does not take the App's token.")
    if status in (403, 404, 410, 416, 422, 429):
        raise NotServed(status, f"GitHub answers {status}: is the App still installed on this repository?")
    raise NotServed(502, f"GitHub answers {status}.")


async def pass_on(answer: aiohttp.ClientResponse, request: Request, send: Send) -> None:
    """Pass the answer on as it comes. One that is cut is not ended, so that the server cuts the box's as well."""
    kept = [(name.lower().encode(), value.encode("latin-1")) for name, value in answer.headers.items()]
    fields = [(name, value) for name, value in kept if name.decode() in ANSWERED]
    await send({"type": "http.response.start", "status": answer.status, "headers": fields})
    gone = asyncio.ensure_future(request.receive())
    try:
        while piece := await answer.content.readany():
            if gone.done():
                return
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        log.warning("git.cut", error=type(error).__name__)
        return
    finally:
        gone.cancel()
    await send({"type": "http.response.body", "body": b""})


async def document(answer: aiohttp.ClientResponse, most: int) -> Any:
    """The JSON of the answer. Raises NotServed for one that is none, or longer than `most` bytes."""
    try:
        return json.loads(await whole(answer, most))
    except (NotWhole, ValueError) as error:
        why = str(error) if isinstance(error, NotWhole) else "it is no JSON"
        raise NotServed(502, f"GitHub's answer cannot be read: {why}.") from None

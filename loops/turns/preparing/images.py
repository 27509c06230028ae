"""The images of an issue, for agents that can show them to a model. The service fetches them: boxes reach nothing."""

import asyncio
import zlib
from dataclasses import dataclass

import structlog
from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncSession

from github.client.errors import GitHubError
from github.client.repository import RepositoryHandle
from github.threads import images
from k8s.native.image_types import LARGEST_IMAGE, MOST_IMAGES, media_type
from loops.sessions.ask import Ask, ThreadText
from loops.store.tables import Log, Turn

SECONDS = 15.0
"""That all images of a turn may take; those that are not here by then are left out."""
_NAME = "image-"

log = structlog.get_logger()


@dataclass(frozen=True)
class Image:
    """A file among those that the box fetches."""

    name: str
    content: bytes

    @property
    def path(self) -> str:
        """Where it is in the box."""
        return f"{{turn_dir}}/logs/{self.name}"


async def images_of(repository: RepositoryHandle, ask: Ask) -> tuple[Image, ...]:
    """Those of the issue or pull request as it was when it was asked about: of GitHub's own hosts, of kinds that models
    take, none too large. What cannot be had is left out.
    """
    about = ask.about
    if not isinstance(about, ThreadText) or not about.number or ("](" not in about.body and "<img" not in about.body):
        return ()
    found: list[bytes] = []
    try:
        async with asyncio.timeout(SECONDS):
            for address in await images.addresses_of(repository, about.number, about.body, MOST_IMAGES):
                found.append(await _content(repository, address))
    except (GitHubError, TimeoutError) as error:
        log.warning("turn.images_left_out", issue=about.number, error=str(error) or "it took too long")
    shown = (content for content in found if media_type(content))
    return tuple(Image(f"{_NAME}{number}", content) for number, content in enumerate(shown, start=1))


async def _content(repository: RepositoryHandle, address: str) -> bytes:
    try:
        return await images.content_of(repository, address, LARGEST_IMAGE)
    except GitHubError as error:
        log.warning("turn.image_left_out", error=str(error))
        return b""


async def give(tx: AsyncSession, turn: Turn, found: tuple[Image, ...]) -> None:
    """Put them among the files that the turn's box fetches, in place of what was there."""
    await tx.execute(delete(Log).where(Log.turn_id == turn.id, Log.name.startswith(_NAME)))
    tx.add_all(Log(turn_id=turn.id, name=each.name, content=zlib.compress(each.content, 1)) for each in found)

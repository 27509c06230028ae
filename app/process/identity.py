"""Who the App is: asked of GitHub when a process starts, and kept for starts at which GitHub does not answer."""

import dataclasses
import time

import structlog

from github.client.app import GitHubApp, Identity
from github.client.errors import RateLimited, ServerFault, Unreachable, UnreadableAnswer
from loops.store.database import Database
from loops.store.service_state import remember, remembered

log = structlog.get_logger(__name__)

KEY = "identity"
PASSING = (Unreachable, ServerFault, RateLimited, UnreadableAnswer)
"""What GitHub answers on bad days: it says nothing about us, and passes."""


async def identity_of(github: GitHubApp, database: Database) -> Identity:
    """The App's identity, by what GitHub told an earlier process where it does not answer now.

    Raises what GitHub says of a wrong id or key, and one of `PASSING` where nobody was ever told who we are.
    """
    try:
        identity = await github.identity()
    except PASSING as error:
        known = await _known(database, github.app_id)
        if known is None:
            raise
        log.warning("github.identity_kept", slug=known.slug, error=str(error))
        github.adopt(known)
        return known
    await remember(database, KEY, dataclasses.asdict(identity), now=time.time())
    return identity


async def _known(database: Database, app_id: int) -> Identity | None:
    async with database.read() as tx:
        kept = await remembered(tx, KEY)
    if kept is None or kept["app_id"] != app_id:
        return None
    return Identity(**{**kept, "events": tuple(kept["events"])})

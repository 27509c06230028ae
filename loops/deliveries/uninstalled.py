"""An installation that GitHub does not know any more: its webhook about that got lost, or its database is older."""

import re

from github.client.errors import NotFound
from github.webhooks.outcomes import Change, LifecycleEvent
from loops.context import Loop
from loops.deliveries.lifecycle_events import take_lifecycle_event

UNINSTALLED_TRIES = 3  # a new installation may not be known everywhere for a moment
_INSTALLATION = re.compile(r"/app/installations/\d+(?:/access_tokens)?\Z")


def is_uninstalled(error: Exception) -> bool:
    """Whether GitHub answered 404 for the installation itself."""
    return isinstance(error, NotFound) and error.status == 404 and _INSTALLATION.search(error.request) is not None


async def uninstalled(loop: Loop, installation_id: int) -> None:
    """Take it as GitHub's own word that the App was uninstalled: its sessions end as with that webhook."""
    await take_lifecycle_event(loop, LifecycleEvent(Change.UNINSTALLED, installation_id))

"""What every step of the loop works with, wired once when a process starts."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from github.client.app import GitHubApp
from github.client.repository import RepositoryHandle
from github.webhooks.identity import Me
from k8s.boxes import Boxes
from loops.offload import Offload
from loops.options import LoopOptions
from loops.secrets.vault import Vault
from loops.store.bus import Bus
from loops.store.database import Database
from loops.store.leases import Leases
from loops.store.tables import Repository
from loops.store.waiting import Waiting

Clock = Callable[[], float]
"""UNIX seconds now."""


@dataclass(frozen=True)
class Loop:
    """The loop's surroundings. `box_key` is the secret from which the tokens of boxes are derived.

    `on_box_lost` hears the state of each box that was lost with a turn in it, for whoever counts them.
    `suspects` is held while something is handled over which a process has died: one at a time.
    """

    options: LoopOptions
    database: Database
    bus: Bus
    leases: Leases
    github: GitHubApp
    me: Me
    boxes: Boxes
    vault: Vault
    instance: str
    service_url: str
    web_url: str
    box_key: bytes
    clock: Clock = time.time
    offload: Offload = field(default_factory=Offload)
    suspects: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: Waiting = field(default_factory=Waiting)
    on_box_lost: Callable[[str], None] = field(default=lambda state: None)

    @property
    def web_urls(self) -> tuple[str, str]:
        """The addresses that may stand in public: GitHub's and our pages'."""
        return self.web_url, self.options.public_url

    def handle(self, repository: Repository) -> RepositoryHandle:
        """GitHub's side of a repository row."""
        return RepositoryHandle(self.github, repository.installation_id, repository.id, repository.full_name)

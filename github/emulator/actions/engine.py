"""The CI engine."""

from typing import TYPE_CHECKING

from github.emulator.actions.shelf import LogShelf
from github.emulator.acts import checks
from github.emulator.git.policy import Update
from github.emulator.store.pulls import Pull
from github.emulator.store.repositories import Repository
from github.emulator.store.users import User

if TYPE_CHECKING:
    from github.emulator.hub import Hub


class Engine:
    """Reacts to pushes and pull requests."""

    def __init__(self, hub: "Hub") -> None:
        self._hub = hub
        self.logs = LogShelf(hub)

    def push(self, repository: Repository, update: Update, by: User) -> None:
        """A branch or tag was created or moved."""
        if update.ref.startswith("refs/heads/"):
            branch = update.ref.removeprefix("refs/heads/")
            checks.suites_requested(self._hub, repository, update.new, branch, update.old, by)

    def pull_request(self, pull: Pull, action: str, by: User) -> None:
        """A pull request was opened or its head moved."""

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    @property
    def busy(self) -> bool:
        return False

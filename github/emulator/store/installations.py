"""Installations of Apps on accounts, and the tokens they mint."""

from dataclasses import dataclass
from datetime import datetime

from github.emulator.store.apps import App
from github.emulator.store.users import User


@dataclass(eq=False)
class Installation:
    """An App on an account. `selected` lists repository ids, or None for all of the account's repositories."""

    id: int
    app: App
    account: User
    permissions: dict[str, str]
    events: list[str]
    created_at: datetime
    updated_at: datetime
    selected: set[int] | None = None
    suspended_at: datetime | None = None
    suspended_by: User | None = None
    deleted: bool = False

    @property
    def repository_selection(self) -> str:
        return "all" if self.selected is None else "selected"


@dataclass(eq=False)
class InstallationToken:
    """A token of an installation: `repositories` None means every repository of the installation."""

    token: str
    installation: Installation
    permissions: dict[str, str]
    repositories: set[int] | None
    expires_at: datetime
    calls: int = 0
    revoked: bool = False

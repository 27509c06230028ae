"""Issues; a pull request is an issue with a `pull`."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from github.emulator.store.apps import App
from github.emulator.store.reactions import Reaction
from github.emulator.store.repositories import Label, Repository
from github.emulator.store.users import User

if TYPE_CHECKING:
    from github.emulator.store.pulls import Pull


@dataclass(eq=False)
class Issue:
    """An issue. `user` None is a deleted account."""

    id: int
    repository: Repository
    number: int
    title: str
    body: str | None
    user: User | None
    created_at: datetime
    updated_at: datetime
    state: str = "open"
    state_reason: str | None = None
    locked: bool = False
    closed_at: datetime | None = None
    closed_by: User | None = None
    labels: list[Label] = field(default_factory=list)
    assignees: list[User] = field(default_factory=list)
    reactions: list[Reaction] = field(default_factory=list)
    via_app: App | None = None
    pull: "Pull | None" = None
    deleted: bool = False

"""Who moved which branch, as the repository's activity lists it."""

from dataclasses import dataclass
from datetime import datetime

from github.emulator.store.repositories import Repository
from github.emulator.store.users import User


@dataclass(eq=False)
class Activity:
    """A move of a branch; `kind` is GitHub's `activity_type`, `actor` who was authenticated as its pusher."""

    id: int
    repository: Repository
    ref: str
    before: str
    after: str
    kind: str
    actor: User
    at: datetime

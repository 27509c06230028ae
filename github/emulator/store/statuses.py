"""Commit statuses: the older kind of check."""

from dataclasses import dataclass
from datetime import datetime

from github.emulator.store.repositories import Repository
from github.emulator.store.users import User


@dataclass(eq=False)
class Status:
    """A status. `state` is error, failure, pending or success; the newest of a context counts."""

    id: int
    repository: Repository
    sha: str
    state: str
    context: str
    creator: User
    created_at: datetime
    description: str | None = None
    target_url: str | None = None

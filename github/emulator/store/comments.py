"""Comments on issues and pull requests (not on lines: those are in `reviews`)."""

from dataclasses import dataclass, field
from datetime import datetime

from github.emulator.store.apps import App
from github.emulator.store.issues import Issue
from github.emulator.store.reactions import Reaction
from github.emulator.store.users import User


@dataclass(eq=False)
class Comment:
    id: int
    issue: Issue
    body: str
    user: User | None
    created_at: datetime
    updated_at: datetime
    via_app: App | None = None
    reactions: list[Reaction] = field(default_factory=list)
    minimized: str | None = None

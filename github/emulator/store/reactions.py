"""Reactions on issues and comments."""

from dataclasses import dataclass
from datetime import datetime

from github.emulator.store.users import User

CONTENTS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")


@dataclass(eq=False)
class Reaction:
    id: int
    user: User
    content: str
    created_at: datetime

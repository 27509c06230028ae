"""What people are told of."""

from dataclasses import dataclass
from datetime import datetime

from github.emulator.store.users import User


@dataclass(eq=False)
class Notification:
    """`url` is the page of the text that notified; `reason` as of GitHub's API."""

    id: int
    user: User
    reason: str
    url: str
    at: datetime

"""Accounts: people, organisations, and the bot of each App."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(eq=False)
class User:
    """An account. `type` is User, Organization or Bot. `token` is the person's classic token (`ghp_…`)."""

    id: int
    login: str
    type: str
    created_at: datetime
    name: str | None = None
    email: str | None = None
    site_admin: bool = False
    token: str = ""

    @property
    def noreply(self) -> str:
        return f"{self.id}+{self.login}@users.noreply.github.com"

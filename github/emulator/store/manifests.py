"""Apps on their way into being by a manifest."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from github.emulator.store.users import User


@dataclass(eq=False)
class PendingApp:
    """What a person agreed to; the code that fetches the App works once, within an hour."""

    code: str
    owner: User
    manifest: dict[str, Any]
    created_at: datetime

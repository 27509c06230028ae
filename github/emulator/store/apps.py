"""GitHub Apps, their keys and their one webhook; and Apps on their way into being by a manifest."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from github.emulator.store.users import User

# the id of GitHub Actions as an App on github.com
ACTIONS_ID = 15368


@dataclass
class HookConfig:
    """Where an App's webhooks go. `insecure_ssl` is "0" or "1", as GitHub spells it."""

    id: int
    url: str = ""
    secret: str = ""
    content_type: str = "json"
    insecure_ssl: str = "0"
    active: bool = True


@dataclass(eq=False)
class App:
    """An App: its public key verifies its JWTs; its bot `slug[bot]` is who it acts as."""

    id: int
    slug: str
    name: str
    client_id: str
    client_secret: str
    owner: User
    bot: User
    permissions: dict[str, str]
    events: list[str]
    private_key: str
    public_key: str
    hook: HookConfig
    created_at: datetime
    updated_at: datetime
    description: str = ""
    external_url: str = "https://example.com"
    setup_url: str = ""
    callback_urls: list[str] = field(default_factory=list)
    key_file: Path | None = None

    @property
    def webhook_secret(self) -> str:
        return self.hook.secret


@dataclass(eq=False)
class PendingApp:
    """What a person agreed to; the code that fetches the App works once, within an hour."""

    code: str
    owner: User
    manifest: dict[str, Any]
    created_at: datetime

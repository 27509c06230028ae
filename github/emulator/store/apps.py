"""GitHub Apps, their keys and their one webhook."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from github.emulator.store.users import User


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

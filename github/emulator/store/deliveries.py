"""The log of webhook deliveries that an App can read and repeat."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from github.emulator.store.apps import App


@dataclass(eq=False)
class Delivery:
    """One attempt to deliver. All attempts of an event share its `guid`. `status_code` 0: no answer came."""

    id: int
    app: App
    guid: str
    event: str
    action: str | None
    payload: dict[str, Any]
    body: bytes
    headers: dict[str, str]
    url: str
    delivered_at: datetime
    installation_id: int | None
    repository_id: int | None
    redelivery: bool = False
    duration: float = 0.0
    status: str = "pending"
    status_code: int = 0
    response_headers: dict[str, str] | None = None
    response_body: str | None = None

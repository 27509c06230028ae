"""Making the GitHub App by its manifest: a form in the browser, then one exchange for its id, key and secret."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx

from github.client.addresses import Addresses
from github.client.clock import Clock
from github.client.errors import GitHubError
from github.client.http.transport import Transport

PERMISSIONS: Mapping[str, str] = {
    "actions": "write",
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
    "statuses": "read",
}
EVENTS = (
    "check_run",
    "check_suite",
    "issue_comment",
    "issues",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "push",
    "repository",
    "status",
    "workflow_run",
)


@dataclass(frozen=True, slots=True)
class NewApp:
    """What GitHub tells once about a new App. The secrets are left out of repr."""

    app_id: int
    slug: str
    name: str
    html_url: str
    client_id: str
    client_secret: str = field(repr=False)
    webhook_secret: str = field(repr=False)
    private_key: str = field(repr=False)

    @property
    def install_url(self) -> str:
        """Where to install it."""
        return f"{self.html_url}/installations/new"


def manifest(
    service_url: str,
    *,
    name: str = "Greenloop",
    redirect_url: str,
    callback_path: str = "/signin/callback",
    webhook_path: str = "/webhooks/github",
    workflows: bool = False,
) -> dict[str, Any]:
    """The manifest of an App for the service at `service_url` (https, as GitHub and people reach it).

    GitHub sends the browser to `redirect_url` with the code for `convert`; it may be on the person's own machine.
    `workflows` asks to change workflow files too. Raises ValueError for a URL that GitHub would refuse.
    """
    base = service_url.rstrip("/")
    if not re.match(r"https?://[^/\s]+", base):
        raise ValueError(f"{service_url!r} is no http(s) URL: give the address under which GitHub reaches this service")
    if not 1 <= len(name) <= 34:
        raise ValueError(f"an App's name has 1 to 34 characters, {name!r} has {len(name)}")
    return {
        "name": name,
        "url": base,
        "hook_attributes": {"url": base + webhook_path, "active": True},
        "redirect_url": redirect_url,
        "callback_urls": [base + callback_path],
        "public": False,
        "default_permissions": {**PERMISSIONS, **({"workflows": "write"} if workflows else {})},
        "default_events": list(EVENTS),
    }


def form_url(addresses: Addresses, *, state: str, organisation: str | None = None) -> str:
    """Where the browser posts the manifest (form field `manifest`). `state` comes back with the code: check it."""
    path = f"organizations/{quote(organisation, safe='')}/settings" if organisation else "settings"
    return f"{addresses.web}/{path}/apps/new?state={quote(state, safe='')}"


async def convert(
    addresses: Addresses, code: str, *, http: httpx.AsyncClient | None = None, api_version: str = "2022-11-28"
) -> NewApp:
    """Exchange the `code` of the redirect for the App. It works once, within an hour. Raises NotFound after that."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,128}", code):
        raise GitHubError("the code in the redirect is malformed: start the set-up again")
    transport = Transport(addresses, api_version=api_version, clock=Clock(), http=http)
    try:
        url = transport.url(f"app-manifests/{code}/conversions")
        found = (await transport.send("POST", url)).json()
    finally:
        await transport.aclose()
    return NewApp(
        app_id=int(found["id"]),
        slug=str(found.get("slug") or ""),
        name=str(found.get("name") or ""),
        html_url=str(found.get("html_url") or ""),
        client_id=str(found.get("client_id") or ""),
        client_secret=str(found.get("client_secret") or ""),
        webhook_secret=str(found.get("webhook_secret") or ""),
        private_key=str(found.get("pem") or ""),
    )

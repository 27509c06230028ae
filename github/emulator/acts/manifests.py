"""An App made by its manifest: agreed to on a page, fetched once with a code."""

import re
import secrets
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from github.emulator.acts import accounts
from github.emulator.store.apps import App
from github.emulator.store.manifests import PendingApp
from github.emulator.store.users import User
from github.emulator.views import apps as views

if TYPE_CHECKING:
    from github.emulator.hub import Hub

LIFETIME = timedelta(hours=1)
_LEVELS = ("read", "write", "admin")


class BadManifest(ValueError):
    """The manifest would make no App; the text is for the person who sent it."""


def checked(manifest: Any) -> dict[str, Any]:
    """The manifest, if GitHub would take it. Raises `BadManifest`."""
    if not isinstance(manifest, dict):
        raise BadManifest("the manifest is no JSON object")
    hook = manifest.get("hook_attributes")
    if hook is not None and not (isinstance(hook, dict) and _is_url(hook.get("url"))):
        raise BadManifest('"hook_attributes" must have a "url"')
    for key in ("url", "redirect_url"):
        if not _is_url(manifest.get(key)):
            raise BadManifest(f'"{key}" must be a URL')
    permissions = manifest.get("default_permissions") or {}
    for name, level in permissions.items():
        if level not in _LEVELS:
            raise BadManifest(f'"default_permissions": {name} must be one of {", ".join(_LEVELS)}')
    return manifest


def _is_url(value: object) -> bool:
    return isinstance(value, str) and re.match(r"https?://[^/\s]+", value) is not None


def agreed(hub: "Hub", owner: User, manifest: dict[str, Any]) -> PendingApp:
    """A person agreed: here is the code for the redirect."""
    pending = PendingApp(secrets.token_hex(20), owner, checked(manifest), hub.clock.now())
    hub.manifests[pending.code] = pending
    return pending


def converted(hub: "Hub", code: str) -> App | None:
    """The App, made now. None for a code that is unknown, used or older than an hour."""
    pending = hub.manifests.pop(code, None)
    if pending is None or pending.created_at + LIFETIME < hub.clock.now():
        return None
    manifest, owner = pending.manifest, pending.owner
    name = str(manifest.get("name") or "app")
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "app"
    taken = {app.slug for app in hub.store.apps}
    while slug in taken:
        slug += "-1"
    hook = manifest.get("hook_attributes") or {}
    app = accounts.app_added(
        hub,
        slug,
        owner,
        dict(manifest.get("default_permissions") or {}),
        list(manifest.get("default_events") or []),
        str(hook.get("url") or ""),
        name=name,
    )
    app.hook.active = bool(hook) and bool(hook.get("active", True))
    app.external_url = manifest["url"]
    app.description = str(manifest.get("description") or "")
    app.setup_url = str(manifest.get("setup_url") or "")
    app.callback_urls = [str(url) for url in manifest.get("callback_urls") or []]
    ping(hub, app)
    return app


def ping(hub: "Hub", app: App) -> None:
    """The first webhook of a new hook; it belongs to no installation."""
    hook = app.hook
    payload = {
        "zen": "Keep it logically awesome.",
        "hook_id": hook.id,
        "hook": {
            "type": "App",
            "id": hook.id,
            "name": "web",
            "active": hook.active,
            "events": list(app.events),
            "config": views.hook_config(hook),
            "updated_at": app.updated_at.isoformat(timespec="seconds"),
            "created_at": app.created_at.isoformat(timespec="seconds"),
            "app_id": app.id,
            "deliveries_url": f"{hub.api_url}/app/hook/deliveries",
        },
    }
    hub.hooks.send(app, "ping", None, payload, None, None)

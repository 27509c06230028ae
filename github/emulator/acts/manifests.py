"""An App made by its manifest: agreed to on a page, fetched once with a code."""

import re
import secrets
from datetime import timedelta
from typing import Any

from github.emulator.acts import accounts
from github.emulator.forge import Forge
from github.emulator.store.apps import App, PendingApp
from github.emulator.store.users import User
from github.emulator.views import apps as views

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


def agreed(forge: Forge, owner: User, manifest: dict[str, Any]) -> PendingApp:
    """A person agreed: here is the code for the redirect."""
    pending = PendingApp(secrets.token_hex(20), owner, checked(manifest), forge.now())
    forge.store.manifests[pending.code] = pending
    return pending


def converted(forge: Forge, code: str) -> App | None:
    """The App, made now. None for a code that is unknown, used or older than an hour."""
    pending = forge.store.manifests.pop(code, None)
    if pending is None or pending.created_at + LIFETIME < forge.now():
        return None
    manifest, owner = pending.manifest, pending.owner
    name = str(manifest.get("name") or "app")
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "app"
    taken = {app.slug for app in forge.store.apps}
    while slug in taken:
        slug += "-1"
    hook = manifest.get("hook_attributes") or {}
    app = accounts.app_added(
        forge,
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
    ping(forge, app)
    return app


def ping(forge: Forge, app: App) -> None:
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
            "deliveries_url": f"{forge.store.origins.api}/app/hook/deliveries",
        },
    }
    forge.send(app, "ping", payload)

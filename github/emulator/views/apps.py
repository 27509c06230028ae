"""Apps, installations and their tokens."""

from typing import Any

from github.emulator.clock import iso, iso_or_none
from github.emulator.store.apps import App, HookConfig
from github.emulator.store.installations import Installation
from github.emulator.store.store import Store
from github.emulator.store.table import node_id
from github.emulator.views import users

Json = dict[str, Any]


def app(store: Store, row: App) -> Json:
    """`integration`."""
    return {
        "id": row.id,
        "slug": row.slug,
        "client_id": row.client_id,
        "node_id": node_id("A", row.id),
        "owner": users.simple(store, row.owner),
        "name": row.name,
        "description": row.description,
        "external_url": row.external_url,
        "html_url": f"{store.origins.web}/apps/{row.slug}",
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "permissions": dict(row.permissions),
        "events": list(row.events),
    }


def app_or_none(store: Store, row: App | None) -> Json | None:
    return None if row is None else app(store, row)


def installation(store: Store, row: Installation) -> Json:
    """`installation`."""
    url = f"{store.origins.api}/app/installations/{row.id}"
    place = f"organizations/{row.account.login}/settings" if row.account.type == "Organization" else "settings"
    return {
        "id": row.id,
        "client_id": row.app.client_id,
        "account": users.simple(store, row.account),
        "repository_selection": row.repository_selection,
        "access_tokens_url": f"{url}/access_tokens",
        "repositories_url": f"{store.origins.api}/installation/repositories",
        "html_url": f"{store.origins.web}/{place}/installations/{row.id}",
        "app_id": row.app.id,
        "app_slug": row.app.slug,
        "target_id": row.account.id,
        "target_type": row.account.type,
        "permissions": dict(row.permissions),
        "events": list(row.events),
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": users.simple_or_none(store, row.suspended_by),
        "suspended_at": iso_or_none(row.suspended_at),
    }


def brief_installation(row: Installation) -> Json:
    """What webhooks carry."""
    return {"id": row.id, "node_id": node_id("IN", row.id)}


def hook_config(row: HookConfig) -> Json:
    """`webhook-config`; the secret is masked."""
    return {
        "content_type": row.content_type,
        "insecure_ssl": row.insecure_ssl,
        "url": row.url,
        **({"secret": "********"} if row.secret else {}),
    }

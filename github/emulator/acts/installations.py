"""The life of an installation, and the tokens it mints."""

from typing import TYPE_CHECKING

from github.emulator.hooks.emit import emit_installation
from github.emulator.store.apps import App
from github.emulator.store.installations import Installation, InstallationToken
from github.emulator.store.repositories import Repository
from github.emulator.store.users import User
from github.emulator.tokens import LIFETIME
from github.emulator.views import repositories as views

if TYPE_CHECKING:
    from github.emulator.hub import Hub


def installed(
    hub: "Hub",
    app: App,
    account: User,
    by: User,
    selected: list[Repository] | None = None,
    permissions: dict[str, str] | None = None,
    events: list[str] | None = None,
) -> Installation:
    """Install the App on an account: on some repositories, or (None) on all there are and will be."""
    now = hub.clock.now()
    row = Installation(
        id=hub.store.installations.new_id(),
        app=app,
        account=account,
        permissions=dict(app.permissions if permissions is None else {"metadata": "read"} | permissions),
        events=list(app.events if events is None else events),
        created_at=now,
        updated_at=now,
        selected=None if selected is None else {repository.id for repository in selected},
    )
    hub.store.installations.add(row)
    _tell(hub, row, "created", by)
    return row


def _tell(hub: "Hub", row: Installation, action: str, by: User) -> None:
    extra: dict[str, object] = {}
    if action in ("created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"):
        extra["repositories"] = [views.brief(repository) for repository in hub.store.repositories_of(row)]
    if action == "created":
        extra["requester"] = None
    emit_installation(hub, "installation", action, row, extra, by)


def deleted(hub: "Hub", row: Installation, by: User) -> None:
    """Uninstall: its tokens are worthless at once."""
    _tell(hub, row, "deleted", by)
    row.deleted = True
    hub.store.installations.remove(row)


def suspended(hub: "Hub", row: Installation, by: User) -> None:
    """Blocks the API and the webhooks; `suspend` itself is still told."""
    row.suspended_at, row.suspended_by = hub.clock.now(), by
    _tell(hub, row, "suspend", by)


def unsuspended(hub: "Hub", row: Installation, by: User) -> None:
    row.suspended_at = row.suspended_by = None
    _tell(hub, row, "unsuspend", by)


def permissions_accepted(hub: "Hub", row: Installation, permissions: dict[str, str], by: User) -> None:
    """The account's owner takes the permissions that the App asks for now."""
    row.permissions = {"metadata": "read"} | permissions
    row.updated_at = hub.clock.now()
    _tell(hub, row, "new_permissions_accepted", by)


def repository_lost(hub: "Hub", row: Installation, repository: Repository, by: User) -> None:
    """The installation does not include the repository any more."""
    chosen = {each.id for each in hub.store.repositories_of(row)} if row.selected is None else row.selected
    row.selected, row.updated_at = chosen - {repository.id}, hub.clock.now()
    extra = {
        "repository_selection": row.repository_selection,
        "repositories_added": [],
        "repositories_removed": [views.brief(repository)],
        "requester": None,
    }
    emit_installation(hub, "installation_repositories", "removed", row, extra, by)


def token_minted(
    hub: "Hub",
    row: Installation,
    permissions: dict[str, str],
    repositories: set[int] | None,
    stateless: bool,
) -> InstallationToken:
    """A token that lives an hour."""
    expires = hub.clock.now() + LIFETIME
    token = hub.mint.token(row.app, expires, stateless)
    made = InstallationToken(token, row, permissions, repositories, expires)
    hub.store.tokens[token] = made
    return made

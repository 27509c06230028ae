"""The life of an installation, and the tokens it mints."""

from github.emulator.forge import Forge
from github.emulator.store.apps import App
from github.emulator.store.installations import Installation, InstallationToken
from github.emulator.store.repositories import Repository
from github.emulator.store.users import User
from github.emulator.tokens import LIFETIME, Mint
from github.emulator.views import repositories as views


def installed(
    forge: Forge,
    app: App,
    account: User,
    by: User,
    selected: list[Repository] | None = None,
    permissions: dict[str, str] | None = None,
    events: list[str] | None = None,
) -> Installation:
    """Install the App on an account: on some repositories, or (None) on all there are and will be."""
    now = forge.now()
    row = Installation(
        id=forge.store.installations.new_id(),
        app=app,
        account=account,
        permissions=dict(app.permissions if permissions is None else {"metadata": "read"} | permissions),
        events=list(app.events if events is None else events),
        created_at=now,
        updated_at=now,
        selected=None if selected is None else {repository.id for repository in selected},
    )
    forge.store.installations.add(row)
    _tell(forge, row, "created", by)
    return row


def _tell(forge: Forge, row: Installation, action: str, by: User) -> None:
    extra: dict[str, object] = {}
    if action in ("created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"):
        extra["repositories"] = [views.brief(repository) for repository in forge.store.repositories_of(row)]
    if action == "created":
        extra["requester"] = None
    forge.emit_installation("installation", action, row, extra, by)


def deleted(forge: Forge, row: Installation, by: User) -> None:
    """Uninstall: its tokens are worthless at once."""
    _tell(forge, row, "deleted", by)
    row.deleted = True
    forge.store.installations.remove(row)


def suspended(forge: Forge, row: Installation, by: User) -> None:
    """Blocks the API and the webhooks; `suspend` itself is still told."""
    row.suspended_at, row.suspended_by = forge.now(), by
    _tell(forge, row, "suspend", by)


def unsuspended(forge: Forge, row: Installation, by: User) -> None:
    row.suspended_at = row.suspended_by = None
    _tell(forge, row, "unsuspend", by)


def permissions_accepted(forge: Forge, row: Installation, permissions: dict[str, str], by: User) -> None:
    """The account's owner takes the permissions that the App asks for now."""
    row.permissions = {"metadata": "read"} | permissions
    row.updated_at = forge.now()
    _tell(forge, row, "new_permissions_accepted", by)


def repository_lost(forge: Forge, row: Installation, repository: Repository, by: User) -> None:
    """The installation does not include the repository any more."""
    chosen = {each.id for each in forge.store.repositories_of(row)} if row.selected is None else row.selected
    row.selected, row.updated_at = chosen - {repository.id}, forge.now()
    extra = {
        "repository_selection": row.repository_selection,
        "repositories_added": [],
        "repositories_removed": [views.brief(repository)],
        "requester": None,
    }
    forge.emit_installation("installation_repositories", "removed", row, extra, by)


def token_minted(
    forge: Forge,
    row: Installation,
    mint: Mint,
    permissions: dict[str, str],
    repositories: set[int] | None,
    stateless: bool,
) -> InstallationToken:
    """A token that lives an hour."""
    expires = forge.now() + LIFETIME
    token = mint.token(row.app, expires, stateless)
    made = InstallationToken(token, row, permissions, repositories, expires)
    forge.store.tokens[token] = made
    return made

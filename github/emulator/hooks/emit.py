"""From an event to the Apps that get it."""

from typing import TYPE_CHECKING, Any

from github.emulator.store.apps import App
from github.emulator.store.installations import Installation
from github.emulator.store.repositories import Repository
from github.emulator.store.users import User
from github.emulator.views import apps, repositories, users

if TYPE_CHECKING:
    from github.emulator.hub import Hub

Json = dict[str, Any]

# the permission an App needs to receive an event; events not listed go to every installation
PERMISSION = {
    "issues": "issues",
    "issue_comment": "issues",
    "label": "issues",
    "pull_request": "pull_requests",
    "pull_request_review": "pull_requests",
    "pull_request_review_comment": "pull_requests",
    "pull_request_review_thread": "pull_requests",
    "push": "contents",
    "create": "contents",
    "delete": "contents",
    "fork": "contents",
    "check_run": "checks",
    "check_suite": "checks",
    "workflow_run": "actions",
    "workflow_job": "actions",
    "status": "statuses",
    "repository": "metadata",
}


def receives(installation: Installation, event: str) -> bool:
    """Whether the installation is alive, may read the event's matter, and subscribed to it."""
    if installation.suspended_at is not None or installation.deleted:
        return False
    need = PERMISSION.get(event)
    return event in installation.events and (need is None or need == "metadata" or need in installation.permissions)


def emit(
    hub: "Hub",
    event: str,
    action: str | None,
    payload: Json,
    repository: Repository,
    sender: User,
    only_app: App | None = None,
) -> None:
    """Tell every App installed on the repository (or only one) what happened. `payload` is the event's own part."""
    shown = repositories.repository(hub, repository) | dict(payload.pop("repository", {}))
    for app in hub.store.apps:
        if only_app is not None and app is not only_app:
            continue
        installation = hub.store.installation_on(app, repository)
        if installation is None or not receives(installation, event):
            continue
        body: Json = {} if action is None else {"action": action}
        body |= payload
        body["repository"] = shown
        if repository.owner.type == "Organization":
            body["organization"] = users.organization(hub, repository.owner)
        body["sender"] = users.simple(hub, sender)
        body["installation"] = apps.brief_installation(installation)
        hub.hooks.send(app, event, action, body, installation.id, repository.id)


def emit_installation(hub: "Hub", event: str, action: str, installation: Installation, extra: Json, by: User) -> None:
    """`installation` and `installation_repositories`: always sent, with the whole installation."""
    body = {"action": action, "installation": apps.installation(hub, installation)} | extra
    body["sender"] = users.simple(hub, by)
    hub.hooks.send(installation.app, event, action, body, installation.id, None)

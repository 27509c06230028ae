"""The store, and the events that its changes cause: webhooks to Apps, and whoever else follows."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from github.emulator.store.apps import App
from github.emulator.store.installations import Installation
from github.emulator.store.repositories import Repository
from github.emulator.store.store import Store
from github.emulator.store.users import User
from github.emulator.views import apps, repositories, users
from github.emulator.webhooks import HookEngine

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
    "merge_group": "merge_queues",
}


@dataclass(frozen=True)
class Event:
    """Something happened in a repository. `payload` is the event's own part of the webhook."""

    name: str
    action: str | None
    payload: Json
    repository: Repository
    sender: User


def receives(installation: Installation, event: str) -> bool:
    """Whether the installation is alive, may read the event's matter, and subscribed to it."""
    if installation.suspended_at is not None or installation.deleted:
        return False
    need = PERMISSION.get(event)
    return event in installation.events and (need is None or need == "metadata" or need in installation.permissions)


class Forge:
    """What acts work with. `followers` hear of every event of a repository after its webhooks are on their way."""

    def __init__(self, store: Store, hooks: HookEngine) -> None:
        self.store = store
        self.followers: list[Callable[[Event], None]] = []
        self._hooks = hooks

    def now(self) -> datetime:
        return self.store.now()

    def send(self, app: App, event: str, payload: Json) -> None:
        """Tell one App something that is of no installation."""
        self._hooks.send(app, event, None, payload, None, None)

    def emit(
        self,
        event: str,
        action: str | None,
        payload: Json,
        repository: Repository,
        sender: User,
        only_app: App | None = None,
    ) -> None:
        """Tell every App installed on the repository (or only one) what happened."""
        store = self.store
        shown = repositories.repository(store, repository) | dict(payload.pop("repository", {}))
        for app in store.apps:
            if only_app is not None and app is not only_app:
                continue
            installation = store.installation_on(app, repository)
            if installation is None or not receives(installation, event):
                continue
            body: Json = {} if action is None else {"action": action}
            body |= payload
            body["repository"] = shown
            if repository.owner.type == "Organization":
                body["organization"] = users.organization(store, repository.owner)
            body["sender"] = users.simple(store, sender)
            body["installation"] = apps.brief_installation(installation)
            self._hooks.send(app, event, action, body, installation.id, repository.id)
        for follow in self.followers:
            follow(Event(event, action, payload, repository, sender))

    def emit_installation(self, event: str, action: str, installation: Installation, extra: Json, by: User) -> None:
        """`installation` and `installation_repositories`: always sent, with the whole installation."""
        body = {"action": action, "installation": apps.installation(self.store, installation)} | extra
        body["sender"] = users.simple(self.store, by)
        self._hooks.send(installation.app, event, action, body, installation.id, None)

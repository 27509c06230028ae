"""Issues: opened, edited, closed, labelled, assigned."""

from typing import Any

from github.emulator.forge import Forge
from github.emulator.store.apps import App
from github.emulator.store.issues import Issue
from github.emulator.store.repositories import Label, Repository
from github.emulator.store.users import User
from github.emulator.views import issues as views
from github.emulator.views import pulls as pull_views
from github.emulator.views import repositories, users

Json = dict[str, Any]


def tell(forge: Forge, issue: Issue, action: str, sender: User, **extra: Any) -> None:
    """The `issues` event, or `pull_request` where the issue is one."""
    if issue.pull is None:
        payload: Json = {"issue": views.full(forge.store, issue)} | extra
        forge.emit("issues", action, payload, issue.repository, sender)
    else:
        payload = {"number": issue.number, "pull_request": pull_views.full(forge.store, issue.pull)} | extra
        forge.emit("pull_request", action, payload, issue.repository, sender)


def opened(
    forge: Forge,
    repository: Repository,
    by: User,
    title: str,
    body: str | None,
    labels: list[str] | None = None,
    assignees: list[User] | None = None,
    via_app: App | None = None,
) -> Issue:
    """Open an issue. As on GitHub, `opened` comes first and each label and assignee then has its own event."""
    now = forge.now()
    issue = Issue(
        id=forge.store.issues.new_id(),
        repository=repository,
        number=repository.next_number(),
        title=title,
        body=body,
        user=by,
        created_at=now,
        updated_at=now,
        via_app=via_app,
    )
    forge.store.issues.add(issue)
    issue.labels = [label_of(forge, repository, name) for name in labels or []]
    issue.assignees = list(assignees or [])
    tell(forge, issue, "opened", by)
    for label in issue.labels:
        tell(forge, issue, "labeled", by, label=repositories.label(forge.store, repository, label))
    for user in issue.assignees:
        tell(forge, issue, "assigned", by, assignee=users.simple(forge.store, user))
    return issue


def edited(forge: Forge, issue: Issue, by: User, title: str | None, body: str | None, body_given: bool) -> None:
    """Change title or body, with `changes` saying what they were."""
    changes: Json = {}
    if title is not None and title != issue.title:
        changes["title"] = {"from": issue.title}
        issue.title = title
    if body_given and body != issue.body:
        changes["body"] = {"from": issue.body or ""}
        issue.body = body
    if changes:
        issue.updated_at = forge.now()
        tell(forge, issue, "edited", by, changes=changes)


def closed(forge: Forge, issue: Issue, by: User, reason: str | None = "completed") -> None:
    if issue.state == "closed":
        return
    issue.state = "closed"
    issue.state_reason = None if issue.pull else reason
    issue.closed_at = issue.updated_at = forge.now()
    issue.closed_by = by
    tell(forge, issue, "closed", by)


def reopened(forge: Forge, issue: Issue, by: User) -> None:
    if issue.state == "open":
        return
    issue.state = "open"
    issue.state_reason = None if issue.pull else "reopened"
    issue.closed_at = issue.closed_by = None
    issue.updated_at = forge.now()
    tell(forge, issue, "reopened", by)


def locked(forge: Forge, issue: Issue, by: User, reason: str | None) -> None:
    """Only people with write access may comment and react from now on; Apps may not, whatever they hold."""
    if not issue.locked:
        issue.locked, issue.lock_reason, issue.updated_at = True, reason, forge.now()
        tell(forge, issue, "locked", by)


def unlocked(forge: Forge, issue: Issue, by: User) -> None:
    if issue.locked:
        issue.locked, issue.lock_reason, issue.updated_at = False, None, forge.now()
        tell(forge, issue, "unlocked", by)


def deleted(forge: Forge, issue: Issue, by: User) -> None:
    issue.deleted = True
    tell(forge, issue, "deleted", by)


def label_of(forge: Forge, repository: Repository, name: str) -> Label:
    """The repository's label of that name, made if there is none."""
    key = name.lower()
    if key not in repository.labels:
        repository.labels[key] = Label(forge.store.labels.new_id(), name)
    return repository.labels[key]


def labelled(forge: Forge, issue: Issue, names: list[str], by: User) -> None:
    for name in names:
        label = label_of(forge, issue.repository, name)
        if label not in issue.labels:
            issue.labels.append(label)
            issue.updated_at = forge.now()
            tell(forge, issue, "labeled", by, label=repositories.label(forge.store, issue.repository, label))


def unlabelled(forge: Forge, issue: Issue, label: Label, by: User) -> None:
    issue.labels.remove(label)
    issue.updated_at = forge.now()
    tell(forge, issue, "unlabeled", by, label=repositories.label(forge.store, issue.repository, label))


def assigned(forge: Forge, issue: Issue, people: list[User], by: User) -> None:
    for user in people:
        if user not in issue.assignees:
            issue.assignees.append(user)
            issue.updated_at = forge.now()
            tell(forge, issue, "assigned", by, assignee=users.simple(forge.store, user))


def unassigned(forge: Forge, issue: Issue, people: list[User], by: User) -> None:
    for user in people:
        if user in issue.assignees:
            issue.assignees.remove(user)
            issue.updated_at = forge.now()
            tell(forge, issue, "unassigned", by, assignee=users.simple(forge.store, user))

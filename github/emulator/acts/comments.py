"""Comments on issues and pull requests, and reactions to anything."""

from typing import TYPE_CHECKING

from github.emulator.hooks.emit import emit
from github.emulator.store.apps import App
from github.emulator.store.comments import Comment
from github.emulator.store.issues import Issue
from github.emulator.store.reactions import Reaction
from github.emulator.store.users import User
from github.emulator.views import issues as views

if TYPE_CHECKING:
    from github.emulator.hub import Hub


def _tell(hub: "Hub", comment: Comment, action: str, by: User, **extra: object) -> None:
    payload = {"issue": views.issue(hub, comment.issue), "comment": views.comment(hub, comment)} | extra
    emit(hub, "issue_comment", action, payload, comment.issue.repository, by)


def created(hub: "Hub", issue: Issue, by: User, body: str, via_app: App | None = None) -> Comment:
    now = hub.clock.now()
    row = Comment(hub.store.comments.new_id(), issue, body, by, now, now, via_app)
    hub.store.comments.add(row)
    issue.updated_at = now
    _tell(hub, row, "created", by)
    return row


def edited(hub: "Hub", comment: Comment, by: User, body: str) -> None:
    if body == comment.body:
        return
    before, comment.body = comment.body, body
    comment.updated_at = hub.clock.now()
    _tell(hub, comment, "edited", by, changes={"body": {"from": before}})


def deleted(hub: "Hub", comment: Comment, by: User) -> None:
    _tell(hub, comment, "deleted", by)
    hub.store.comments.remove(comment)


def reacted(hub: "Hub", rows: list[Reaction], by: User, content: str) -> tuple[Reaction, bool]:
    """The person's reaction of that kind, and whether it is new. Reactions send no webhook."""
    for row in rows:
        if row.user is by and row.content == content:
            return row, False
    row = Reaction(hub.store.reactions.new_id(), by, content, hub.clock.now())
    hub.store.reactions.add(row)
    rows.append(row)
    return row, True

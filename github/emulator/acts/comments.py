"""Comments on issues and pull requests, and reactions to anything."""

from github.emulator.forge import Forge
from github.emulator.store.apps import App
from github.emulator.store.comments import Comment
from github.emulator.store.issues import Issue
from github.emulator.store.reactions import Reaction
from github.emulator.store.users import User
from github.emulator.views import issues as views


def _tell(forge: Forge, comment: Comment, action: str, by: User, **extra: object) -> None:
    payload = {"issue": views.issue(forge.store, comment.issue), "comment": views.comment(forge.store, comment)} | extra
    forge.emit("issue_comment", action, payload, comment.issue.repository, by)


def created(forge: Forge, issue: Issue, by: User, body: str, via_app: App | None = None) -> Comment:
    now = forge.now()
    row = Comment(forge.store.comments.new_id(), issue, body, by, now, now, via_app)
    forge.store.comments.add(row)
    issue.updated_at = now
    _tell(forge, row, "created", by)
    return row


def by_mail(forge: Forge, issue: Issue, by: User, text: str, header: str | None = None) -> Comment:
    """A comment that came as the answer to a notification: the mail program quotes the last word and GitHub's footer.

    `header` is the line over the quote, in the mail program's language. GitHub masks addresses in what comes by mail.
    """
    store = forge.store
    last = store.comments_of(issue)[-1] if store.comments_of(issue) else None
    said, author = (last.body, last.user) if last is not None else (issue.body or "", issue.user)
    page = views.html_url(store, issue) + (f"#issuecomment-{last.id}" if last is not None else "")
    when = forge.now().strftime("%a, %b %d, %Y at %H:%M")
    over = header or f"On {when}, {author.login if author else 'ghost'} ***@***.***> wrote:"
    web, name = store.origins.web, f"{issue.repository.full_name}/issues/{issue.number}"
    footer = (
        "—",
        f"Reply to this email directly, view it on GitHub <{page}>, or unsubscribe",
        f"<{web}/notifications/unsubscribe-auth/ABC>.",
        f"You are receiving this because you were mentioned.Message ID: <{name}/{last.id if last else 0}@github.com>",
    )
    quoted = "\n".join(f"> {line}".rstrip() for line in [*said.split("\n"), "", *footer])
    return created(forge, issue, by, f"{text}\n\n{over}\n\n{quoted}\n")


def edited(forge: Forge, comment: Comment, by: User, body: str) -> None:
    if body == comment.body:
        return
    before, comment.body = comment.body, body
    comment.updated_at = forge.now()
    _tell(forge, comment, "edited", by, changes={"body": {"from": before}})


def deleted(forge: Forge, comment: Comment, by: User) -> None:
    _tell(forge, comment, "deleted", by)
    forge.store.comments.remove(comment)


def reacted(forge: Forge, rows: list[Reaction], by: User, content: str) -> tuple[Reaction, bool]:
    """The person's reaction of that kind, and whether it is new. Reactions send no webhook."""
    for row in rows:
        if row.user is by and row.content == content:
            return row, False
    row = Reaction(forge.store.reactions.new_id(), by, content, forge.now())
    forge.store.reactions.add(row)
    rows.append(row)
    return row, True

"""Comments on issues and pull requests, and reactions."""

from datetime import datetime

from github.emulator.acts import comments as acts
from github.emulator.api.call import Answer, Call, Listing
from github.emulator.api.route import Route
from github.emulator.errors import Refusal, invalid, not_found
from github.emulator.rest.threads import issues
from github.emulator.store.comments import Comment
from github.emulator.store.issues import Issue
from github.emulator.store.reactions import CONTENTS, Reaction
from github.emulator.views import issues as views

COMMENTS = f"{issues.ISSUE}/comments"
COMMENT = f"{issues.REPO}/issues/comments/{{comment_id}}"


def find(call: Call) -> Comment:
    row = call.store.comments.get(call.number("comment_id"))
    if row is None or row.issue.repository is not call.repository:
        raise not_found()
    return row


def listed(call: Call) -> Listing:
    rows = [
        row for row in call.store.comments_of(issues.find(call)) if not call.lags("comments", row.id, row.created_at)
    ]
    if "since" in call.query:
        try:
            since = datetime.fromisoformat(call.query["since"])
        except ValueError:
            raise invalid("IssueComment", "since", value=call.query["since"]) from None
        rows = [row for row in rows if row.updated_at.replace(microsecond=0) >= since]
    return Listing(rows, lambda row: views.comment(call.store, row))


def create(call: Call) -> Answer:
    issue = issues.find(call)
    body = call.checked_body("IssueComment", call.get("body")) or ""
    issues.refuse_locked(call, issue)
    row = acts.created(call.forge, issue, call.user, body, call.actor.via_app)
    shown = views.comment(call.store, row)
    return Answer(201, shown, {"location": shown["url"]})


def get(call: Call) -> Answer:
    return Answer(200, views.comment(call.store, find(call)))


def update(call: Call) -> Answer:
    row = _mine(call)
    acts.edited(call.forge, row, call.user, call.checked_body("IssueComment", call.get("body")) or "")
    return Answer(200, views.comment(call.store, row))


def delete(call: Call) -> Answer:
    acts.deleted(call.forge, _mine(call), call.user)
    return Answer(204, empty=True)


def _mine(call: Call) -> Comment:
    """A comment may be changed by its author, and by whoever may write to the repository."""
    row = find(call)
    if row.user is not call.user and not (call.actor.token or call.repository.allows(call.actor.user, "write")):
        raise Refusal(403, "Must have admin rights to Repository.")
    return row


def react(call: Call, issue: Issue, rows: list[Reaction]) -> Answer:
    """201 for a new reaction, 200 for one that was there."""
    issues.refuse_locked(call, issue, "reaction")
    content = call.get("content")
    if content not in CONTENTS:
        raise invalid("Reaction", "content", value=content)
    row, new = acts.reacted(call.forge, rows, call.user, content)
    return Answer(201 if new else 200, views.reaction(call.store, row))


def react_to_comment(call: Call) -> Answer:
    return react(call, find(call).issue, find(call).reactions)


def react_to_issue(call: Call) -> Answer:
    return react(call, issues.find(call), issues.find(call).reactions)


def unreact(call: Call, rows: list[Reaction]) -> Answer:
    row = next((r for r in rows if r.id == call.number("reaction_id")), None)
    if row is None or row.user is not call.user:
        raise not_found()
    rows.remove(row)
    return Answer(204, empty=True)


def show_reactions(call: Call, rows: list[Reaction]) -> Listing:
    wanted = call.query.get("content")
    return Listing([r for r in rows if wanted in (None, r.content)], lambda r: views.reaction(call.store, r))


ROUTES = [
    Route("GET", COMMENTS, listed, issues.READ),
    Route("POST", COMMENTS, create, issues.WRITE, "read"),
    Route("GET", COMMENT, get, issues.READ),
    Route("PATCH", COMMENT, update, issues.WRITE, "read"),
    Route("DELETE", COMMENT, delete, issues.WRITE, "read"),
    Route("GET", f"{COMMENT}/reactions", lambda call: show_reactions(call, find(call).reactions), issues.READ),
    Route(
        "POST",
        f"{COMMENT}/reactions",
        react_to_comment,
        "issues:write",
        "read",
    ),
    Route(
        "DELETE",
        f"{COMMENT}/reactions/{{reaction_id}}",
        lambda call: unreact(call, find(call).reactions),
        "issues:write",
        "read",
    ),
    Route("GET", f"{issues.ISSUE}/reactions", lambda c: show_reactions(c, issues.find(c).reactions), "issues:read"),
    Route(
        "POST",
        f"{issues.ISSUE}/reactions",
        react_to_issue,
        "issues:write",
        "read",
    ),
    Route(
        "DELETE",
        f"{issues.ISSUE}/reactions/{{reaction_id}}",
        lambda c: unreact(c, issues.find(c).reactions),
        "issues:write",
        "read",
    ),
]

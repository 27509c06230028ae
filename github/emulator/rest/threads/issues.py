"""Issues with their labels and assignees. A pull request is an issue here too."""

from typing import Any

from github.emulator import attachments
from github.emulator.acts import issues as acts
from github.emulator.api.call import Answer, Call, Listing
from github.emulator.api.route import Route
from github.emulator.errors import Refusal, invalid, not_found
from github.emulator.store.issues import Issue
from github.emulator.store.users import User
from github.emulator.views import issues as views
from github.emulator.views import repositories

REPO = "/repos/{owner}/{repo}"
ISSUE = f"{REPO}/issues/{{issue_number}}"
READ = "issues:read|pull_requests:read"
WRITE = "issues:write|pull_requests:write"


def find(call: Call) -> Issue:
    """The issue of the path; 404, or 410 when it was deleted or issues are switched off."""
    issue = call.store.issue(call.repository, call.number("issue_number"))
    if issue is None:
        raise not_found()
    if issue.deleted:
        raise Refusal(410, "This issue was deleted")
    if not call.repository.has_issues and issue.pull is None:
        raise Refusal(410, "Issues are disabled for this repo")
    return issue


def may_triage(call: Call) -> bool:
    return call.actor.token is not None or call.repository.allows(call.actor.user, "triage")


LOCK_REASONS = ("off-topic", "too heated", "resolved", "spam")


def refuse_locked(call: Call, issue: Issue, what: str = "comment") -> None:
    """403 for whoever may not speak in a locked conversation: everybody but people with write access.

    An App's comment is refused whatever its permissions (renovatebot/renovate#6215).
    """
    person = call.actor.user if call.actor.token is None else None
    if issue.locked and not (person and call.repository.allows(person, "write")):
        raise Refusal(403, f"Unable to create {what} because issue is locked.")


def lock(call: Call) -> Answer:
    issue, reason = find(call), call.get("lock_reason")
    if reason is not None and reason not in LOCK_REASONS:
        raise invalid("Issue", "lock_reason", value=reason)
    acts.locked(call.forge, issue, call.user, reason)
    return Answer(204, empty=True)


def unlock(call: Call) -> Answer:
    acts.unlocked(call.forge, find(call), call.user)
    return Answer(204, empty=True)


def listed(call: Call) -> Listing:
    state, wanted = call.query.get("state", "open"), call.query.get("labels", "")
    names = {name.lower() for name in wanted.split(",") if name}
    rows = [
        issue
        for issue in reversed(call.store.issues_of(call.repository))
        if state in ("all", issue.state) and names <= {label.name.lower() for label in issue.labels}
    ]
    return Listing(rows, lambda issue: views.issue(call.store, issue))


def get(call: Call) -> Answer:
    row, accept = find(call), call.headers.get("accept", "")
    shown = views.full(call.store, row)
    if "html+json" in accept or "full+json" in accept:
        shown["body_html"] = attachments.html_of(call.hub, row.body)
        if "html+json" in accept:
            del shown["body"]
    return Answer(200, shown)


def create(call: Call) -> Answer:
    if not call.repository.has_issues:
        raise Refusal(410, "Issues are disabled for this repo")
    title = call.title("Issue")
    body = call.checked_body("Issue", call.get("body"), required=False)
    triage = may_triage(call)
    issue = acts.opened(
        call.forge,
        call.repository,
        call.user,
        title,
        body,
        labels=_names(call.get("labels")) if triage else [],
        assignees=_assignable(call, call.get("assignees")) if triage else [],
        via_app=call.actor.via_app,
    )
    shown = views.full(call.store, issue)
    return Answer(201, shown, {"location": shown["url"]})


def update(call: Call) -> Answer:
    issue, hub, user = find(call), call.hub, call.user
    if not may_triage(call) and issue.user is not user:
        raise Refusal(403, "Must have admin rights to Repository.")
    body_given = "body" in call.body
    body = call.checked_body("Issue", call.get("body"), required=False)
    state = call.get("state")
    if state not in (None, "open", "closed"):
        raise invalid("Issue", "state", value=state)
    if call.get("title") is not None:
        call.title("Issue")
    acts.edited(hub.forge, issue, user, call.get("title"), body, body_given)
    if call.get("labels") is not None:
        _set_labels(call, issue, _names(call.get("labels")))
    if call.get("assignees") is not None:
        wanted = _assignable(call, call.get("assignees"))
        acts.unassigned(hub.forge, issue, [u for u in issue.assignees if u not in wanted], user)
        acts.assigned(hub.forge, issue, wanted, user)
    if state == "closed":
        acts.closed(hub.forge, issue, user, call.get("state_reason") or "completed")
    if state == "open":
        acts.reopened(hub.forge, issue, user)
    return Answer(200, views.full(hub.store, issue))


def _names(value: Any) -> list[str]:
    """Labels come as names or as objects with a name."""
    rows = value if isinstance(value, list) else []
    names = [row.get("name") if isinstance(row, dict) else row for row in rows]
    good = [name for name in names if isinstance(name, str) and name]
    if len(good) != len(names):
        raise invalid("Label", "name", value=value)
    return good


def _assignable(call: Call, value: Any) -> list[User]:
    """People who may be assigned: others are left out without a word, as on GitHub."""
    rows = [value] if isinstance(value, str) else value or []
    found = [call.store.user(name) for name in rows if isinstance(name, str)]
    if call.hub.faults.unassignable_bots and any(user is not None and user.type == "Bot" for user in found):
        raise Refusal(403, "Forbidden")
    return [
        u for u in found if u is not None and (u.type == "Bot" or call.repository.roles.get(u.id) or _owns(call, u))
    ]


def _owns(call: Call, user: User) -> bool:
    return user.id == call.repository.owner.id


def labels(call: Call) -> Listing:
    issue = find(call)
    return Listing(list(issue.labels), lambda label: repositories.label(call.store, call.repository, label))


def add_labels(call: Call) -> Answer:
    issue = find(call)
    value = call.body if isinstance(call.body, list) else call.get("labels")
    acts.labelled(call.forge, issue, _names(value), call.user)
    return _labels_now(call, issue)


def set_labels(call: Call) -> Answer:
    issue = find(call)
    value = call.body if isinstance(call.body, list) else call.get("labels")
    _set_labels(call, issue, _names(value))
    return _labels_now(call, issue)


def _set_labels(call: Call, issue: Issue, names: list[str]) -> None:
    wanted = {name.lower() for name in names}
    for label in [label for label in issue.labels if label.name.lower() not in wanted]:
        acts.unlabelled(call.forge, issue, label, call.user)
    acts.labelled(call.forge, issue, names, call.user)


def remove_label(call: Call) -> Answer:
    issue = find(call)
    name = call.params["name"].lower()
    found = next((label for label in issue.labels if label.name.lower() == name), None)
    if found is None:
        raise Refusal(404, "Label does not exist")
    acts.unlabelled(call.forge, issue, found, call.user)
    return _labels_now(call, issue)


def _labels_now(call: Call, issue: Issue) -> Answer:
    return Answer(200, [repositories.label(call.store, call.repository, label) for label in issue.labels])


def assign(call: Call) -> Answer:
    issue = find(call)
    acts.assigned(call.forge, issue, _assignable(call, call.get("assignees")), call.user)
    return Answer(201, views.full(call.store, issue))


def unassign(call: Call) -> Answer:
    issue = find(call)
    acts.unassigned(call.forge, issue, _assignable(call, call.get("assignees")), call.user)
    return Answer(200, views.full(call.store, issue))


ROUTES = [
    Route("GET", f"{REPO}/issues", listed, READ),
    Route("POST", f"{REPO}/issues", create, "issues:write", "read"),
    Route("GET", ISSUE, get, READ),
    Route("PATCH", ISSUE, update, WRITE, "read"),
    Route("GET", f"{ISSUE}/labels", labels, READ),
    Route("POST", f"{ISSUE}/labels", add_labels, WRITE, "triage"),
    Route("PUT", f"{ISSUE}/labels", set_labels, WRITE, "triage"),
    Route("DELETE", f"{ISSUE}/labels/{{name}}", remove_label, WRITE, "triage"),
    Route("PUT", f"{ISSUE}/lock", lock, WRITE),
    Route("DELETE", f"{ISSUE}/lock", unlock, WRITE),
    Route("POST", f"{ISSUE}/assignees", assign, WRITE, "triage"),
    Route("DELETE", f"{ISSUE}/assignees", unassign, WRITE, "triage"),
]

"""Repositories: the object itself, who may do what, labels, forks."""

from github.emulator.acts import repositories as acts
from github.emulator.api.call import Answer, Call, Listing
from github.emulator.api.route import Route
from github.emulator.errors import Refusal, invalid, not_found
from github.emulator.store.repositories import Label
from github.emulator.store.users import User
from github.emulator.views import repositories as views
from github.emulator.views import users

REPO = "/repos/{owner}/{repo}"


def get(call: Call) -> Answer:
    repository, actor = call.repository, call.actor
    if actor.token is not None:
        push = actor.token.permissions.get("contents") == "write"
        rights = {"admin": False, "maintain": False, "push": push, "triage": push, "pull": True}
    else:
        rights = views.permissions(repository, actor.user)
    return Answer(200, views.full(call.store, repository, rights, rights["push"]))


def update(call: Call) -> Answer:
    """Rename, archive, change the default branch: for people with admin rights."""
    acts.changed(call.forge, call.repository, call.user, call.body)
    return get(call)


def permission(call: Call) -> Answer:
    """Roles in between are mapped down: maintain shows as write, triage as read."""
    user, repository = _user(call), call.repository
    if user.type == "Bot":
        raise Refusal(404, f"{user.login} is not a user")
    role = repository.role_of(user)
    shown = {"maintain": "write", "triage": "read"}.get(role, role)
    body = users.simple(call.store, user) | {
        "permissions": views.permissions(repository, user),
        "role_name": repository.custom_roles.get(user.id, role),
    }
    return Answer(200, {"permission": shown, "role_name": body["role_name"], "user": body})


def is_collaborator(call: Call) -> Answer:
    user = _user(call)
    explicit = user.id == call.repository.owner.id or user.id in call.repository.roles
    if not explicit or call.repository.role_of(user) == "none":
        raise not_found()
    return Answer(204, empty=True)


def collaborators(call: Call) -> Listing:
    repository = call.repository
    known = [u for u in call.store.users if u.id == repository.owner.id or repository.roles.get(u.id)]

    def show(user: User) -> dict[str, object]:
        rights = {"permissions": views.permissions(repository, user), "role_name": repository.role_of(user)}
        return users.simple(call.store, user) | rights

    return Listing(known, show)


def _user(call: Call) -> User:
    found = call.store.user(call.params["username"])
    if found is None:
        raise not_found()
    return found


def labels(call: Call) -> Listing:
    rows = sorted(call.repository.labels.values(), key=lambda label: label.name.lower())
    return Listing(rows, lambda label: views.label(call.store, call.repository, label))


def label(call: Call) -> Answer:
    return Answer(200, views.label(call.store, call.repository, _label(call)))


def create_label(call: Call) -> Answer:
    name = call.text("name", "Label")
    if name.lower() in call.repository.labels:
        raise invalid("Label", "name", "already_exists")
    color = str(call.get("color") or "ededed")
    row = Label(call.store.labels.new_id(), name, color, call.get("description"))
    call.repository.labels[name.lower()] = row
    body = views.label(call.store, call.repository, row)
    return Answer(201, body, {"location": body["url"]})


def delete_label(call: Call) -> Answer:
    row = _label(call)
    del call.repository.labels[row.name.lower()]
    for issue in call.store.issues_of(call.repository):
        issue.labels = [label for label in issue.labels if label is not row]
    return Answer(204, empty=True)


def _label(call: Call) -> Label:
    found = call.repository.labels.get(call.params["name"].lower())
    if found is None:
        raise not_found()
    return found


def fork(call: Call) -> Answer:
    if call.actor.token is not None:
        raise Refusal(403, "Resource not accessible by integration")
    row = acts.forked(call.forge, call.repository, call.user, call.get("name"))
    return Answer(202, views.full(call.store, row, views.permissions(row, call.user), True))


ROUTES = [
    Route("GET", REPO, get, "metadata:read"),
    Route("PATCH", REPO, update, "administration:write", "admin"),
    Route("GET", f"{REPO}/collaborators", collaborators, "metadata:read"),
    Route("GET", f"{REPO}/collaborators/{{username}}", is_collaborator, "metadata:read"),
    Route("GET", f"{REPO}/collaborators/{{username}}/permission", permission, "metadata:read"),
    Route("GET", f"{REPO}/labels", labels, "issues:read|pull_requests:read"),
    Route("POST", f"{REPO}/labels", create_label, "issues:write|pull_requests:write"),
    Route("GET", f"{REPO}/labels/{{name}}", label, "issues:read|pull_requests:read"),
    Route("DELETE", f"{REPO}/labels/{{name}}", delete_label, "issues:write|pull_requests:write"),
    Route("POST", f"{REPO}/forks", fork, "administration:write", "read"),
]

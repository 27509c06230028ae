"""Accounts, and the caller."""

from github.emulator.api.call import Answer, Call
from github.emulator.api.route import Route
from github.emulator.errors import not_found
from github.emulator.views import users as views


def by_login(call: Call) -> Answer:
    user = call.store.user(call.params["username"])
    if user is None:
        raise not_found()
    return Answer(200, views.public(call.store, user))


def by_id(call: Call) -> Answer:
    user = call.store.users.get(call.number("account_id"))
    if user is None:
        raise not_found()
    return Answer(200, views.public(call.store, user))


def rate_limit(call: Call) -> Answer:
    """Asking costs nothing."""
    names = ("core", "search", "graphql", "integration_manifest")
    resources = {name: call.hub.limits.budget(call.actor, name).shown() for name in names}
    return Answer(200, {"resources": resources, "rate": resources["core"]})


def meta(call: Call) -> Answer:
    body: dict[str, object] = {"verifiable_password_authentication": False}
    if call.hub.options.enterprise:
        body |= {"installed_version": "3.20.0"}
    return Answer(200, body)


ROUTES = [
    Route("GET", "/users/{username}", by_login, "none"),
    Route("GET", "/user/{account_id}", by_id, "none"),
    Route("GET", "/rate_limit", rate_limit, "none"),
    Route("GET", "/meta", meta, "none"),
]

"""What a person's own token reaches: themselves, and the installations and repositories they share with the App."""

from github.emulator.api.call import Answer, Call, Listing
from github.emulator.api.route import Route
from github.emulator.errors import Refusal, invalid, not_found
from github.emulator.store.apps import App
from github.emulator.store.installations import Installation
from github.emulator.store.repositories import Repository
from github.emulator.views import apps as views
from github.emulator.views import repositories, users


def me(call: Call) -> Answer:
    if call.actor.kind != "user":
        raise Refusal(403, "Resource not accessible by integration")
    return Answer(200, users.public(call.store, call.user))


def _app(call: Call) -> App:
    if call.actor.kind != "user" or call.actor.app is None:
        message = "You must authenticate with an access token authorized to a GitHub App in order to list installations"
        raise Refusal(403, message)
    return call.actor.app


def _reached(call: Call, row: Installation) -> list[Repository]:
    """Only by a role of their own: that a repository is public does not count."""
    user = call.user
    return [
        found
        for found in call.store.repositories_of(row)
        if not found.deleted and (found.owner is user or found.roles.get(user.id, "none") != "none")
    ]


def installations(call: Call) -> Listing:
    app = _app(call)
    rows = [
        row
        for row in call.store.installations
        if row.app is app and not row.deleted and (row.account is call.user or _reached(call, row))
    ]
    return Listing(rows, lambda row: views.installation(call.store, row), "installations")


def installation_repositories(call: Call) -> Listing:
    app = _app(call)
    row = call.store.installations.get(call.number("installation_id"))
    if row is None or row.app is not app or row.deleted or not (row.account is call.user or _reached(call, row)):
        raise not_found()
    if row.suspended_at is not None:
        raise Refusal(403, "This installation has been suspended")
    return Listing(_reached(call, row), lambda found: repositories.repository(call.store, found), "repositories")


def end_token(call: Call) -> Answer:
    """An App ends a person's token: it says who it is by client id and secret."""
    app = call.actor.app
    if call.actor.kind != "client" or app is None or app.client_id != call.params["client_id"]:
        raise not_found()
    token = call.store.user_tokens.get(call.text("access_token", "OauthAccess"))
    if token is None or token.app is not app or token.revoked:
        raise invalid("OauthAccess", "access_token", "invalid")
    token.revoked = True
    return Answer(204, empty=True)


ROUTES = [
    Route("GET", "/user", me, "any"),
    Route("GET", "/user/installations", installations, "any"),
    Route("GET", "/user/installations/{installation_id}/repositories", installation_repositories, "any"),
    Route("DELETE", "/applications/{client_id}/token", end_token, "none"),
]

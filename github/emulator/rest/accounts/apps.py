"""The App itself: who it is, where it is installed, its tokens."""

from typing import Any

from github.emulator.acts import installations as acts
from github.emulator.api.call import Answer, Call, Listing
from github.emulator.api.route import Route
from github.emulator.clock import iso
from github.emulator.errors import Refusal, not_found
from github.emulator.store.apps import App
from github.emulator.store.installations import Installation, InstallationToken
from github.emulator.store.repositories import Repository
from github.emulator.store.users import User
from github.emulator.views import apps as views
from github.emulator.views import repositories

_LEVELS = {"read": 1, "write": 2, "admin": 3}
MAX_REPOSITORIES = 500
INSTALLATION = "/app/installations/{installation_id}"


def the_app(call: Call) -> App:
    """The App that calls; routes of permission `app` let nobody else in."""
    if call.actor.app is None:
        raise not_found()
    return call.actor.app


def get(call: Call) -> Answer:
    app = the_app(call)
    count = sum(1 for row in call.store.installations if row.app is app)
    return Answer(200, views.app(call.store, app) | {"installations_count": count})


def by_slug(call: Call) -> Answer:
    app = next((a for a in call.store.apps if a.slug == call.params["app_slug"]), None)
    if app is None:
        raise not_found()
    return Answer(200, views.app(call.store, app))


def installations(call: Call) -> Listing:
    rows = [row for row in call.store.installations if row.app is the_app(call)]
    return Listing(rows, lambda row: views.installation(call.store, row))


def installation(call: Call) -> Answer:
    return Answer(200, views.installation(call.store, _own(call)))


def _own(call: Call) -> Installation:
    row = call.store.installations.get(call.number("installation_id"))
    if row is None or row.app is not the_app(call):
        raise not_found()
    return row


def on_repository(call: Call) -> Answer:
    row = call.store.installation_on(the_app(call), call.repository)
    if row is None:
        raise not_found()
    return Answer(200, views.installation(call.store, row))


def on_account(call: Call) -> Answer:
    wanted = (call.params.get("org") or call.params["username"]).lower()
    for row in call.store.installations:
        if row.app is the_app(call) and row.account.login.lower() == wanted:
            return Answer(200, views.installation(call.store, row))
    raise not_found()


def _owner(call: Call) -> User:
    return the_app(call).owner


def suspend(call: Call) -> Answer:
    acts.suspended(call.forge, _own(call), _owner(call))
    return Answer(204, empty=True)


def unsuspend(call: Call) -> Answer:
    acts.unsuspended(call.forge, _own(call), _owner(call))
    return Answer(204, empty=True)


def uninstall(call: Call) -> Answer:
    acts.deleted(call.forge, _own(call), _owner(call))
    return Answer(204 if call.version == "2022-11-28" else 202, empty=True)


def create_token(call: Call) -> Answer:
    """Mint a token. Repositories and permissions may only narrow what the installation has."""
    hub, row = call.hub, _own(call)
    if row.suspended_at is not None:
        raise Refusal(403, "This installation has been suspended")
    permissions = _narrowed(row, call.get("permissions"))
    chosen = _chosen(call, row)
    stateless = hub.options.stateless_tokens and not hub.options.enterprise
    wish = call.headers.get("x-github-stateless-s2s-token", "")
    if not hub.options.enterprise and wish in ("enabled", "disabled"):
        stateless = wish == "enabled"
    ids = None if chosen is None else {repository.id for repository in chosen}
    token = acts.token_minted(hub.forge, row, hub.mint, permissions, ids, stateless)
    body: dict[str, Any] = {
        "token": token.token,
        "expires_at": iso(token.expires_at),
        "permissions": permissions,
        "repository_selection": "selected" if chosen is not None else row.repository_selection,
    }
    if chosen is not None:
        body["repositories"] = [repositories.repository(hub.store, repository) for repository in chosen]
    return Answer(201, body)


def _narrowed(row: Installation, wanted: object) -> dict[str, str]:
    if wanted is None or wanted == {}:
        return dict(row.permissions)
    if not isinstance(wanted, dict):
        raise Refusal(422, "Invalid request.\n\nFor 'properties/permissions', it is not an object.")
    for name, level in wanted.items():
        if level not in _LEVELS:
            raise Refusal(
                422,
                f"Invalid request.\n\nFor 'properties/{name}', {level} is not a possible value. Must be one of the"
                " following: read, write.",
            )
        if _LEVELS[level] > _LEVELS.get(row.permissions.get(name, ""), 0):
            raise Refusal(422, "The permissions requested are not granted to this installation.")
    return {"metadata": "read"} | wanted


def _chosen(call: Call, row: Installation) -> list[Repository] | None:
    names, ids = call.get("repositories"), call.get("repository_ids")
    if names is None and ids is None:
        return None
    wanted = [*(names or []), *(ids or [])]
    if len(wanted) > MAX_REPOSITORIES:
        raise Refusal(422, f"A maximum of {MAX_REPOSITORIES} repositories can be requested.")
    reachable = call.store.repositories_of(row)
    found = []
    for want in wanted:
        match = next((r for r in reachable if r.id == want or r.name.lower() == str(want).lower()), None)
        if match is None:
            raise Refusal(
                422,
                "There is at least one repository that does not exist or is not accessible to the parent installation.",
            )
        if match not in found:
            found.append(match)
    return found


def _token(call: Call) -> InstallationToken:
    if call.actor.token is None:
        raise not_found()
    return call.actor.token


def revoke_token(call: Call) -> Answer:
    _token(call).revoked = True
    return Answer(204, empty=True)


def token_repositories(call: Call) -> Listing:
    token = _token(call)
    rows = [
        r
        for r in call.store.repositories_of(token.installation)
        if token.repositories is None or r.id in token.repositories
    ]
    selection = "selected" if token.repositories is not None else token.installation.repository_selection
    return Listing(
        rows,
        lambda row: repositories.repository(call.store, row),
        "repositories",
        {"repository_selection": selection},
    )


ROUTES = [
    Route("GET", "/app", get, "app"),
    Route("GET", "/apps/{app_slug}", by_slug, "none"),
    Route("GET", "/app/installations", installations, "app"),
    Route("GET", INSTALLATION, installation, "app"),
    Route("DELETE", INSTALLATION, uninstall, "app"),
    Route("POST", f"{INSTALLATION}/access_tokens", create_token, "app"),
    Route("PUT", f"{INSTALLATION}/suspended", suspend, "app"),
    Route("DELETE", f"{INSTALLATION}/suspended", unsuspend, "app"),
    Route("GET", "/repos/{owner}/{repo}/installation", on_repository, "app"),
    Route("GET", "/orgs/{org}/installation", on_account, "app"),
    Route("GET", "/users/{username}/installation", on_account, "app"),
    Route("DELETE", "/installation/token", revoke_token, "installation"),
    Route("GET", "/installation/repositories", token_repositories, "installation"),
]

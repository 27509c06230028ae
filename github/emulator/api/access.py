"""Which repository a call is about, and whether the caller may do that there."""

from github.emulator.actor import Actor
from github.emulator.api.call import Call
from github.emulator.api.route import Route
from github.emulator.errors import Refusal, bad_credentials, no_permission, not_found
from github.emulator.store.repositories import Repository

_LEVELS = {"read": 1, "write": 2, "admin": 3}


def locate(call: Call) -> None:
    """Find the repository the path names, by name or by id. An old name answers 301, or 307 to a write."""
    if "repo" not in call.params:
        return
    store, owner, name = call.store, call.params["owner"], call.params["repo"]
    if owner == "-":
        call.found = store.repositories.get(int(name)) if name.isascii() and name.isdigit() else None
    else:
        call.found = store.repository(f"{owner}/{name}")
        moved = store.renames.get(f"{owner}/{name}".lower())
        if call.found is None and moved is not None:
            _redirect(call, moved)
    if call.found is None or call.found.deleted:
        raise not_found()


def _redirect(call: Call, moved: int) -> None:
    tail = "/".join(call.path.split("/")[4:])
    url = f"{call.store.origins.api}/repositories/{moved}" + (f"/{tail}" if tail else "")
    status = 301 if call.method in ("GET", "HEAD") else 307
    docs = "https://docs.github.com/v3/#http-redirects"
    extra = {"url": url, "documentation_url": docs}
    raise Refusal(status, "Moved Permanently", extra, {"location": url})


def sees(call_or_actor: Call | Actor, repository: Repository) -> bool:
    """Whether the repository exists for this caller: public, in the token's set, or one's own to read."""
    actor = call_or_actor.actor if isinstance(call_or_actor, Call) else call_or_actor
    return not repository.private or _inside(actor, repository)


def _inside(actor: Actor, repository: Repository) -> bool:
    token = actor.token
    if token is not None:
        installation = token.installation
        in_installation = installation.account is repository.owner and (
            installation.selected is None or repository.id in installation.selected
        )
        return in_installation and (token.repositories is None or repository.id in token.repositories)
    return actor.kind == "user" and repository.allows(actor.user, "read")


def holds(actor: Actor, name: str, level: str) -> bool:
    """Whether an installation token carries a permission at that level or above."""
    if actor.token is None:
        return False
    if name == "metadata":
        return level == "read"
    return _LEVELS.get(actor.token.permissions.get(name, ""), 0) >= _LEVELS[level]


def permit(call: Call, route: Route) -> None:
    """Raise 401, 403 or 404 unless the route's permission is held."""
    actor = call.actor
    if route.permission == "none":
        if call.found is not None and not sees(call, call.found):
            raise not_found()
        return
    if route.permission == "app":
        if actor.kind != "app":
            raise Refusal(401, "A JSON web token could not be decoded")
        return
    if actor.kind in ("app", "client"):
        raise bad_credentials()
    if route.permission == "installation":
        if actor.token is None:
            raise Refusal(403, "You must authenticate with an installation access token in order to do this.")
        return
    if route.permission == "any":
        if actor.kind == "anonymous":
            raise Refusal(401, "Requires authentication")
        return
    _permit_on_repository(call, route, call.repository)


def _permit_on_repository(call: Call, route: Route, repository: Repository) -> None:
    actor = call.actor
    if not sees(call, repository):
        raise not_found()
    reads = call.method in ("GET", "HEAD")
    if actor.kind == "anonymous" and not reads:
        raise Refusal(401, "Requires authentication")
    if actor.kind == "user" and actor.app is not None:
        # a person's token of an App is for the person's own routes here
        raise no_permission(route.accepted)
    if actor.kind == "user" and not repository.allows(actor.user, route.needed_role):
        raise not_found() if reads else Refusal(403, "Must have admin rights to Repository.")
    if actor.token is not None:
        held = any(holds(actor, name, level) for name, level in route.alternatives)
        inside = _inside(actor, repository)
        public_read = reads and not repository.private and not inside
        if not public_read and not (inside and held):
            raise no_permission(route.accepted)
    if repository.archived and not reads:
        raise Refusal(403, "Repository was archived so is read-only.")

"""Commit statuses."""

from github.emulator.acts import checks as acts
from github.emulator.api.call import Answer, Call, Listing
from github.emulator.api.route import Route
from github.emulator.errors import invalid, unprocessable
from github.emulator.rest.code.commits import resolve
from github.emulator.rest.code.objects import SHA
from github.emulator.rules import rollup
from github.emulator.views import checks as views
from github.emulator.views import repositories

REPO = "/repos/{owner}/{repo}"
STATES = ("error", "failure", "pending", "success")
MAX_DESCRIPTION = 140


def combined(call: Call) -> Listing:
    """Pending when there is none at all: only check runs tell more. The statuses come in pages too."""
    hub, repository = call.hub, call.repository
    sha = resolve(call, call.params["ref"])
    rows = rollup.latest_statuses(hub.store, repository, sha)
    base = repositories.url(hub.store, repository)
    extra = {
        "state": rollup.combined(rows),
        "sha": sha,
        "repository": repositories.minimal(hub.store, repository),
        "commit_url": f"{base}/commits/{sha}",
        "url": f"{base}/commits/{sha}/status",
    }
    return Listing(rows, lambda row: views.simple_status(hub.store, row), "statuses", extra)


def listed(call: Call) -> Listing:
    sha = resolve(call, call.params["ref"])
    return Listing(call.store.statuses_of(call.repository, sha), lambda row: views.status(call.store, row))


def create(call: Call) -> Answer:
    sha, state = call.params["sha"], call.get("state")
    if not SHA.fullmatch(sha) or call.repository.git.kind(sha) != "commit":
        raise unprocessable(f"No commit found for SHA: {sha}")
    if state not in STATES:
        raise invalid("Status", "state", value=state)
    description = call.get("description")
    if description is not None and len(str(description)) > MAX_DESCRIPTION:
        message = f"description is too long (maximum is {MAX_DESCRIPTION} characters)"
        raise invalid("Status", "description", "custom", message)
    context = call.get("context") or "default"
    row = acts.status_set(
        call.forge, call.repository, sha, call.user, state, context, description, call.get("target_url")
    )
    body = views.status(call.store, row)
    return Answer(201, body, {"location": body["url"]})


ROUTES = [
    Route("GET", f"{REPO}/commits/{{ref}}/status", combined, "statuses:read"),
    Route("GET", f"{REPO}/commits/{{ref}}/statuses", listed, "statuses:read"),
    Route("POST", f"{REPO}/statuses/{{sha}}", create, "statuses:write"),
]

"""Commit statuses."""

from github.emulator.acts import checks as acts
from github.emulator.api.call import Answer, Call, Listing
from github.emulator.api.errors import invalid, unprocessable
from github.emulator.api.route import Route
from github.emulator.rest.commits import resolve
from github.emulator.rest.objects import SHA
from github.emulator.views import checks as views
from github.emulator.views import repositories, rollup

REPO = "/repos/{owner}/{repo}"
STATES = ("error", "failure", "pending", "success")
MAX_DESCRIPTION = 140


def combined(call: Call) -> Listing:
    """Pending when there is none at all: only check runs tell more. The statuses come in pages too."""
    hub, repository = call.hub, call.repository
    sha = resolve(call, call.params["ref"])
    rows = rollup.latest_statuses(hub, repository, sha)
    base = repositories.url(hub, repository)
    extra = {
        "state": rollup.combined(rows),
        "sha": sha,
        "repository": repositories.minimal(hub, repository),
        "commit_url": f"{base}/commits/{sha}",
        "url": f"{base}/commits/{sha}/status",
    }
    return Listing(rows, lambda row: views.simple_status(hub, row), "statuses", extra)


def listed(call: Call) -> Listing:
    sha = resolve(call, call.params["ref"])
    return Listing(call.hub.store.statuses_of(call.repository, sha), lambda row: views.status(call.hub, row))


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
        call.hub, call.repository, sha, call.user, state, context, description, call.get("target_url")
    )
    body = views.status(call.hub, row)
    return Answer(201, body, {"location": body["url"]})


ROUTES = [
    Route("GET", f"{REPO}/commits/{{ref}}/status", combined, "statuses:read"),
    Route("GET", f"{REPO}/commits/{{ref}}/statuses", listed, "statuses:read"),
    Route("POST", f"{REPO}/statuses/{{sha}}", create, "statuses:write"),
]

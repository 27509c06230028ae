"""Workflows, their runs, and what starts runs by hand."""

from github.emulator.actions import planning
from github.emulator.actions.starter import CannotStart
from github.emulator.acts.runs import workflow_of
from github.emulator.api.call import Answer, Call, Listing
from github.emulator.api.route import Route
from github.emulator.errors import not_found, unprocessable
from github.emulator.rest.ci.runs import READ, REPO, WRITE, matching
from github.emulator.store.runs import Workflow
from github.emulator.views import runs as views

WORKFLOWS = f"{REPO}/actions/workflows"
WORKFLOW = f"{WORKFLOWS}/{{workflow_id}}"


def known(call: Call) -> list[Workflow]:
    """Those of the default branch, and those of other branches that ever ran."""
    repository, git = call.repository, call.repository.git
    if not git.empty and (head := git.resolve(repository.default_branch)):
        for one in planning.workflows(git, head):
            workflow_of(call.forge, repository, one.path, one.spec.name if one.spec else one.path)
    return [row for row in call.store.workflows if row.repository is repository]


def find(call: Call) -> Workflow:
    """By its id or the name of its file."""
    wanted = call.params["workflow_id"]
    for row in known(call):
        if wanted in (str(row.id), row.path.rsplit("/", 1)[-1]):
            return row
    raise not_found()


def listed(call: Call) -> Listing:
    return Listing(known(call), lambda row: views.workflow(call.store, row), "workflows")


def get(call: Call) -> Answer:
    return Answer(200, views.workflow(call.store, find(call)))


def runs(call: Call) -> Listing:
    workflow = find(call)
    return matching(call, [row for row in call.store.runs if row.workflow is workflow])


def dispatch(call: Call) -> Answer:
    """204; since 2026-03-10 200 with the run."""
    inputs = call.get("inputs") or {}
    if not isinstance(inputs, dict):
        raise unprocessable("inputs must be an object")
    try:
        run = call.hub.ci.dispatch(find(call), call.text("ref", "Run"), inputs, call.user)
    except CannotStart as error:
        raise unprocessable(str(error)) from error
    if call.version == "2022-11-28":
        return Answer(204, empty=True)
    shown = views.run(call.store, run)
    return Answer(200, {"workflow_run_id": run.id, "run_url": shown["url"], "html_url": shown["html_url"]})


def repository_dispatch(call: Call) -> Answer:
    kind, payload = call.text("event_type", "RepositoryDispatch"), call.get("client_payload") or {}
    body = {"branch": call.repository.default_branch, "client_payload": payload}
    call.forge.emit("repository_dispatch", kind, body, call.repository, call.user)
    return Answer(204, empty=True)


ROUTES = [
    Route("GET", WORKFLOWS, listed, READ),
    Route("GET", WORKFLOW, get, READ),
    Route("GET", f"{WORKFLOW}/runs", runs, READ),
    Route("POST", f"{WORKFLOW}/dispatches", dispatch, WRITE),
    Route("POST", f"{REPO}/dispatches", repository_dispatch, "contents:write"),
]

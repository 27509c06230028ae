"""What jobs left: listed by run or repository, and fetched as a zip."""

from github.emulator.api.call import Answer, Call, Listing
from github.emulator.api.route import Route
from github.emulator.errors import not_found
from github.emulator.rest.ci import runs
from github.emulator.rest.ci.runs import READ, REPO, WRITE
from github.emulator.store.runs import Artifact
from github.emulator.views import runs as views

ARTIFACTS = f"{REPO}/actions/artifacts"
ARTIFACT = f"{ARTIFACTS}/{{artifact_id}}"


def find(call: Call) -> Artifact:
    row = call.store.artifacts.get(call.number("artifact_id"))
    if row is None or row.run.repository is not call.repository:
        raise not_found()
    return row


def _listing(call: Call, rows: list[Artifact]) -> Listing:
    named = [row for row in rows if call.query.get("name") in (None, row.name)]
    return Listing(named, lambda row: views.artifact(call.store, row), "artifacts")


def of_run(call: Call) -> Listing:
    run = runs.find(call)
    return _listing(call, [row for row in call.store.artifacts if row.run is run])


def of_repository(call: Call) -> Listing:
    """Newest first."""
    return _listing(call, [row for row in call.store.artifacts if row.run.repository is call.repository][::-1])


def get(call: Call) -> Answer:
    return Answer(200, views.artifact(call.store, find(call)))


def delete(call: Call) -> Answer:
    call.store.artifacts.remove(find(call))
    return Answer(204, empty=True)


def archive(call: Call) -> Answer:
    row = find(call)
    if call.params["archive_format"] != "zip":
        raise not_found()
    return runs.elsewhere(call, f"/artifacts/{row.id}.zip")


ROUTES = [
    Route("GET", f"{runs.RUN}/artifacts", of_run, READ),
    Route("GET", ARTIFACTS, of_repository, READ),
    Route("GET", ARTIFACT, get, READ),
    Route("DELETE", ARTIFACT, delete, WRITE),
    Route("GET", f"{ARTIFACT}/{{archive_format}}", archive, READ),
]

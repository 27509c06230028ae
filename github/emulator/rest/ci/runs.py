"""Workflow runs, jobs and logs."""

from collections.abc import Callable

from github.emulator import blobs
from github.emulator.actions.shelf import job_path, run_path
from github.emulator.actions.starter import CannotStart
from github.emulator.api.call import Answer, Call, Listing
from github.emulator.api.route import Route
from github.emulator.errors import Refusal, invalid, not_found, unprocessable
from github.emulator.store.runs import Job, Run
from github.emulator.views import runs as views

REPO = "/repos/{owner}/{repo}"
RUNS = f"{REPO}/actions/runs"
RUN = f"{RUNS}/{{run_id}}"
JOB = f"{REPO}/actions/jobs/{{job_id}}"
READ, WRITE = "actions:read", "actions:write"


def find(call: Call) -> Run:
    row = call.store.runs.get(call.number("run_id"))
    if row is None or row.repository is not call.repository:
        raise not_found()
    return row


def find_job(call: Call) -> Job:
    row = call.store.jobs.get(call.number("job_id"))
    if row is None or row.run.repository is not call.repository:
        raise not_found()
    return row


def listed(call: Call) -> Listing:
    """Newest first; `status` takes a conclusion as well."""
    query = call.query
    rows = [
        row
        for row in call.store.runs
        if row.repository is call.repository and not call.lags("runs", row.id, row.created_at)
    ]
    wanted: dict[str, Callable[[Run], str | None]] = {
        "head_sha": lambda row: row.head_sha,
        "branch": lambda row: row.head_branch,
        "event": lambda row: row.event,
        "actor": lambda row: row.actor.login,
        "check_suite_id": lambda row: str(row.suite.id),
    }
    for name, of in wanted.items():
        if name in query:
            rows = [row for row in rows if of(row) == query[name]]
    if "status" in query:
        rows = [row for row in rows if query["status"] in (row.status, row.conclusion)]
    return Listing(rows[::-1], lambda row: views.run(call.store, row), "workflow_runs")


def get(call: Call) -> Answer:
    return Answer(200, views.run(call.store, find(call)))


def attempt(call: Call) -> Answer:
    row, number = find(call), call.number("attempt_number")
    if number != row.attempt:
        if number not in row.past:
            raise not_found()
        row = row.past[number]
    return Answer(200, views.run(call.store, row))


def jobs(call: Call) -> Listing:
    row = find(call)
    store = call.store
    found = store.jobs_of(row) if call.query.get("filter") == "all" else store.jobs_at(row, row.attempt)
    return Listing(found, lambda job: views.job(call.store, job), "jobs")


def jobs_of_attempt(call: Call) -> Listing:
    row, number = find(call), call.number("attempt_number")
    if not 1 <= number <= row.attempt:
        raise not_found()
    found = call.store.jobs_at(row, number)
    return Listing(found, lambda job: views.job(call.store, job), "jobs")


def job(call: Call) -> Answer:
    return Answer(200, views.job(call.store, find_job(call)))


def job_logs(call: Call) -> Answer:
    """The address of the log, whether or not there is one yet: the blob store answers for that."""
    return _found(call, job_path(find_job(call)))


def run_logs(call: Call) -> Answer:
    row = find(call)
    if row.status != "completed":
        raise not_found()
    return _found(call, run_path(row, row.attempt))


def attempt_logs(call: Call) -> Answer:
    return _found(call, run_path(find(call), call.number("attempt_number")))


def rerun(call: Call) -> Answer:
    return _began(call.hub.ci.rerun(find(call), call.user), "This workflow run is not completed, so it cannot be rerun")


def rerun_failed(call: Call) -> Answer:
    began = call.hub.ci.rerun_failed(find(call), call.user)
    return _began(began, "This workflow run cannot be retried")


def rerun_job(call: Call) -> Answer:
    return _began(call.hub.ci.rerun_job(find_job(call), call.user), "This job cannot be rerun")


def cancel(call: Call) -> Answer:
    if not call.hub.ci.cancel(find(call)):
        raise Refusal(409, "Cannot cancel a workflow run that is completed.")
    return Answer(202, {})


def approve(call: Call) -> Answer:
    """Only runs that wait for an approval can be approved."""
    if not call.hub.ci.approve(find(call)):
        raise Refusal(403, "This run is not from a fork pull request or is not waiting for approval")
    return Answer(201, {})


def dispatch(call: Call) -> Answer:
    """204; since 2026-03-10 200 with the run."""
    inputs = call.get("inputs") or {}
    if not isinstance(inputs, dict):
        raise unprocessable("inputs must be an object")
    try:
        workflow, ref = call.params["workflow_id"], call.text("ref", "Run")
        run = call.hub.ci.dispatch(call.repository, workflow, ref, inputs, call.user)
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


def pending_deployments(call: Call) -> Answer:
    """Approve or reject environments that jobs wait for; an environment's id is the place of its name here."""
    run, state = find(call), call.get("state")
    if state not in ("approved", "rejected"):
        raise invalid("Deployment", "state", value=state)
    names = sorted(call.repository.guarded_environments)
    wanted = [names[number] for number in call.get("environment_ids") or [] if 0 <= number < len(names)]
    answered = [call.hub.ci.review_environment(run, name, state == "approved") for name in wanted]
    if True not in answered:
        raise unprocessable("There are no pending deployment requests to approve or reject")
    return Answer(200, [])


def artifacts(call: Call) -> Listing:
    row = find(call)
    rows = [each for each in call.store.artifacts if each.run is row and call.query.get("name") in (None, each.name)]
    return Listing(rows, lambda each: views.artifact(call.store, each), "artifacts")


def artifact_zip(call: Call) -> Answer:
    row = call.store.artifacts.get(call.number("artifact_id"))
    if row is None or row.run.repository is not call.repository or call.params["archive_format"] != "zip":
        raise not_found()
    return _found(call, f"/artifacts/{row.id}.zip")


def workflows(call: Call) -> Listing:
    rows = [row for row in call.store.workflows if row.repository is call.repository]
    return Listing(rows, lambda row: views.workflow(call.store, row), "workflows")


def _found(call: Call, path: str) -> Answer:
    return Answer(302, None, {"location": blobs.signed_url(call.hub, path)}, empty=True)


def _began(began: bool, message: str) -> Answer:
    if not began:
        raise unprocessable(message)
    return Answer(201, {})


ROUTES = [
    Route("GET", RUNS, listed, READ),
    Route("GET", RUN, get, READ),
    Route("GET", f"{RUN}/attempts/{{attempt_number}}", attempt, READ),
    Route("GET", f"{RUN}/jobs", jobs, READ),
    Route("GET", f"{RUN}/attempts/{{attempt_number}}/jobs", jobs_of_attempt, READ),
    Route("GET", f"{RUN}/logs", run_logs, READ),
    Route("GET", f"{RUN}/attempts/{{attempt_number}}/logs", attempt_logs, READ),
    Route("POST", f"{RUN}/rerun", rerun, WRITE),
    Route("POST", f"{RUN}/rerun-failed-jobs", rerun_failed, WRITE),
    Route("POST", f"{RUN}/cancel", cancel, WRITE),
    Route("POST", f"{RUN}/approve", approve, WRITE),
    Route("GET", JOB, job, READ),
    Route("GET", f"{JOB}/logs", job_logs, READ),
    Route("POST", f"{JOB}/rerun", rerun_job, WRITE),
    Route("POST", f"{RUN}/pending_deployments", pending_deployments, "deployments:write"),
    Route("POST", f"{REPO}/actions/workflows/{{workflow_id}}/dispatches", dispatch, WRITE),
    Route("POST", f"{REPO}/dispatches", repository_dispatch, "contents:write"),
    Route("GET", f"{RUN}/artifacts", artifacts, READ),
    Route("GET", f"{REPO}/actions/artifacts/{{artifact_id}}/{{archive_format}}", artifact_zip, READ),
    Route("GET", f"{REPO}/actions/workflows", workflows, READ),
]

"""Workflow runs, jobs and logs."""

from collections.abc import Callable

from github.emulator import blobs
from github.emulator.actions.shelf import job_path, run_path
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
    return matching(call, [row for row in call.store.runs if row.repository is call.repository])


def matching(call: Call, rows: list[Run]) -> Listing:
    """Those of the runs that the query asks for, newest first; `status` takes a conclusion as well."""
    query = call.query
    rows = [row for row in rows if not call.lags("runs", row.id, row.created_at)]
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


def delete(call: Call) -> Answer:
    """The run with its attempts, jobs and logs; its checks stay."""
    row = find(call)
    if row.status != "completed":
        raise Refusal(403, "Could not delete the workflow run")
    call.store.forget_run(row)
    return Answer(204, empty=True)


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
    return elsewhere(call, job_path(find_job(call)))


def run_logs(call: Call) -> Answer:
    row = find(call)
    if row.status != "completed":
        raise not_found()
    return elsewhere(call, run_path(row, row.attempt))


def attempt_logs(call: Call) -> Answer:
    return elsewhere(call, run_path(find(call), call.number("attempt_number")))


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


def elsewhere(call: Call, path: str) -> Answer:
    """Where the blob at `path` can be had, for a minute."""
    return Answer(302, None, {"location": blobs.signed_url(call.hub, path)}, empty=True)


def _began(began: bool, message: str) -> Answer:
    if not began:
        raise unprocessable(message)
    return Answer(201, {})


ROUTES = [
    Route("GET", RUNS, listed, READ),
    Route("GET", RUN, get, READ),
    Route("DELETE", RUN, delete, WRITE),
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
]

"""Check runs and check suites."""

from typing import Any

from github.emulator.acts import checks as acts
from github.emulator.api.call import Answer, Call, Listing
from github.emulator.api.route import Route
from github.emulator.errors import Refusal, not_found, unprocessable
from github.emulator.rest.ci import checkfields as fields
from github.emulator.rest.code.commits import resolve
from github.emulator.rest.code.objects import SHA
from github.emulator.rules import rollup
from github.emulator.store.apps import App
from github.emulator.store.checks import CheckRun, CheckSuite
from github.emulator.views import checks as views
from github.emulator.views import repositories

REPO = "/repos/{owner}/{repo}"
RUN = f"{REPO}/check-runs/{{check_run_id}}"
SUITE = f"{REPO}/check-suites/{{check_suite_id}}"
READ, WRITE = "checks:read", "checks:write"
# a check name keeps at most this many runs on a commit
MAX_SAME_NAME = 1000


def find(call: Call) -> CheckRun:
    row = call.store.check_runs.get(call.number("check_run_id"))
    if row is None or row.suite.repository is not call.repository:
        raise not_found()
    return row


def find_suite(call: Call) -> CheckSuite:
    row = call.store.suites.get(call.number("check_suite_id"))
    if row is None or row.repository is not call.repository:
        raise not_found()
    return row


def the_app(call: Call) -> App:
    """Only Apps write checks."""
    app = call.actor.via_app
    if app is None:
        raise Refusal(403, "You must authenticate via a GitHub App.")
    return app


def get(call: Call) -> Answer:
    return Answer(200, views.run(call.store, find(call)))


def annotations(call: Call) -> Listing:
    row = find(call)
    return Listing(list(row.annotations), lambda item: views.annotation(call.store, row, item))


def _commit(call: Call) -> str:
    sha = call.text("head_sha", "CheckRun")
    if not SHA.fullmatch(sha) or call.repository.git.kind(sha) != "commit":
        raise unprocessable(f"No commit found for SHA: {sha}")
    return sha


def create(call: Call) -> Answer:
    """A run of the caller's own App, in its suite of that commit."""
    hub, app = call.hub, the_app(call)
    name, sha = call.text("name", "CheckRun"), _commit(call)
    wanted = fields.read(call, creates=True)
    suite = acts.suite_of(hub.forge, call.repository, app, sha)
    if suite is None:
        branches = views.branches_at(call.repository, sha, 1)
        suite = acts.suite_created(hub.forge, call.repository, app, sha, branches[0] if branches else None, None, sha)
    same = [run for run in hub.store.check_runs_of(suite) if run.name == name]
    if len(same) >= MAX_SAME_NAME:
        hub.store.check_runs.remove(same[0])
    row = acts.run_created(hub.forge, suite, name, call.user)
    fields.apply(row, wanted, hub.clock.now())
    acts.tell_run(hub.forge, row, "created", call.user)
    _after(call, row, completed_before=False)
    return Answer(201, views.run(hub.store, row))


def update(call: Call) -> Answer:
    row, app = find(call), the_app(call)
    if row.suite.app is not app:
        raise Refusal(
            403,
            "Invalid app_id `" + str(app.id) + "` - check run can only be modified by the GitHub App that created it.",
        )
    before = row.status == "completed"
    wanted = fields.read(call)
    if isinstance(call.get("name"), str):
        row.name = call.get("name")
    fields.apply(row, wanted, call.store.now())
    _after(call, row, before)
    return Answer(200, views.run(call.store, row))


def _after(call: Call, row: CheckRun, completed_before: bool) -> None:
    if row.status == "completed" and not completed_before:
        acts.tell_run(call.forge, row, "completed", call.user)
    acts.settled(call.forge, row.suite, call.user)


def rerequest(call: Call) -> Answer:
    """Ask the owning App to run again: it hears `rerequested`, and its suite is queued."""
    row = find(call)
    if call.actor.via_app is not None and row.suite.app is not call.actor.via_app:
        raise Refusal(403, "This check run is not rerequestable")
    if row.status != "completed":
        raise unprocessable("This check run is not rerequestable")
    _queue(call, row.suite)
    if row.suite.run_id is not None:
        call.hub.ci.rerun_of_check(row, call.user)
    else:
        acts.tell_run(call.forge, row, "rerequested", call.user, only_app=row.suite.app)
    return Answer(201, {})


def rerequest_suite(call: Call) -> Answer:
    row = find_suite(call)
    _queue(call, row)
    run = call.store.runs.get(row.run_id) if row.run_id is not None else None
    if run is not None:
        call.hub.ci.rerun(run, call.user)
    else:
        acts.tell_suite(call.forge, row, "rerequested", call.user, only_app=row.app)
    return Answer(201, {})


def _queue(call: Call, suite: CheckSuite) -> None:
    suite.status, suite.conclusion, suite.updated_at = "queued", None, call.store.now()


def _filtered(call: Call, rows: list[CheckRun]) -> Listing:
    query = call.query
    name, status, app = query.get("check_name"), query.get("status"), query.get("app_id")
    rows = [
        row
        for row in rows
        if not call.lags("checks", row.id, row.created_at)
        and name in (None, row.name)
        and status in (None, row.status)
        and app in (None, str(row.suite.app.id))
    ]
    rows.sort(key=lambda row: row.id, reverse=True)
    return Listing(rows, lambda row: views.run(call.store, row), "check_runs")


def of_commit(call: Call) -> Listing:
    """`filter=latest`, the default, shows the newest run of a name in each suite."""
    hub, sha = call.hub, resolve(call, call.params["ref"])
    if call.query.get("filter") == "all":
        suites = hub.store.suites_of(call.repository, sha)
        return _filtered(call, [run for suite in suites for run in hub.store.check_runs_of(suite)])
    return _filtered(call, rollup.latest_check_runs(hub.store, call.repository, sha))


def of_suite(call: Call) -> Listing:
    suite = find_suite(call)
    rows = call.store.check_runs_of(suite)
    if call.query.get("filter") != "all":
        newest = set(rollup.latest_check_runs(call.store, call.repository, suite.head_sha))
        rows = [row for row in rows if row in newest]
    return _filtered(call, rows)


def suites(call: Call) -> Listing:
    sha, app, name = resolve(call, call.params["ref"]), call.query.get("app_id"), call.query.get("check_name")
    store = call.store
    rows = [
        row
        for row in store.suites_of(call.repository, sha)
        if app in (None, str(row.app.id))
        and (name is None or any(run.name == name for run in store.check_runs_of(row)))
    ]
    return Listing(rows, lambda row: views.suite(call.store, row), "check_suites")


def suite(call: Call) -> Answer:
    return Answer(200, views.suite(call.store, find_suite(call)))


def create_suite(call: Call) -> Answer:
    app, sha = the_app(call), _commit(call)
    row = acts.suite_of(call.forge, call.repository, app, sha)
    if row is not None:
        return Answer(200, views.suite(call.store, row))
    branches = views.branches_at(call.repository, sha, 1)
    row = acts.suite_created(call.forge, call.repository, app, sha, branches[0] if branches else None, None, sha)
    return Answer(201, views.suite(call.store, row))


def preferences(call: Call) -> Answer:
    """Whether Apps get a suite on every push."""
    wanted: list[dict[str, Any]] = call.get("auto_trigger_checks") or []
    for item in wanted:
        call.repository.auto_suites[int(item["app_id"])] = bool(item.get("setting", True))
    shown = [{"app_id": app, "setting": on} for app, on in call.repository.auto_suites.items()]
    body = {
        "preferences": {"auto_trigger_checks": shown},
        "repository": repositories.minimal(call.store, call.repository),
    }
    return Answer(200, body)


ROUTES = [
    Route("POST", f"{REPO}/check-runs", create, WRITE),
    Route("GET", RUN, get, READ),
    Route("PATCH", RUN, update, WRITE),
    Route("GET", f"{RUN}/annotations", annotations, READ),
    Route("POST", f"{RUN}/rerequest", rerequest, WRITE),
    Route("GET", f"{REPO}/commits/{{ref}}/check-runs", of_commit, READ),
    Route("GET", f"{REPO}/commits/{{ref}}/check-suites", suites, READ),
    Route("POST", f"{REPO}/check-suites", create_suite, WRITE),
    Route("PATCH", f"{REPO}/check-suites/preferences", preferences, WRITE, "admin"),
    Route("GET", SUITE, suite, READ),
    Route("GET", f"{SUITE}/check-runs", of_suite, READ),
    Route("POST", f"{SUITE}/rerequest", rerequest_suite, WRITE),
]

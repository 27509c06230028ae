"""No state of a commit in which our verdict is greener than GitHub's own rollup of it, but for what is excused by name.

The oracle below is written from GitHub's documentation and not from our code: which check runs, runs and statuses are
in a rollup, which of them pass, and which of them a rule requires.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, cast

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from github.checks.model import Check
from github.checks.state import snapshot
from github.checks.verdict import HeadState, Verdict, settle
from github.client.errors import NotFound
from github.client.queries import QueryUnavailable
from github.client.repository import RepositoryHandle
from github.repositories.config import Checks

OWN, ACTIONS, OTHER = 1, 15368, 77
T0 = 1_700_000_000
PASS = ("success", "neutral", "skipped")
BAD = ("failure", "timed_out")
OFF_TOPIC = ("schedule", "issue_comment")
NAMES = st.sampled_from(["test", "lint", "ci / test"])
ENDS = st.sampled_from([*["success"] * 14, *PASS, *BAD, "cancelled", "cancelled", "action_required", "stale"])


@dataclass
class Job:
    name: str
    conclusion: str | None
    forgiven: bool
    id: int = 0


@dataclass
class WorkflowRun:
    workflow: int
    event: str
    branch: str
    open: bool
    attempts: list[list[Job]]
    forced: str | None
    id: int = 0

    @property
    def conclusion(self) -> str | None:
        if self.open:
            return None
        if self.forced:
            return self.forced
        ends = [job.conclusion for job in self.attempts[-1] if not job.forgiven]
        worst = (*BAD, "cancelled", "action_required", "stale")
        return next((end for end in worst if end in ends), "success")


@dataclass
class AppRun:
    name: str
    conclusion: str | None
    start: int
    length: int
    id: int = 0

    @property
    def end(self) -> int | None:
        return None if self.conclusion is None else self.start + self.length


@dataclass
class World:
    runs: list[WorkflowRun]
    app_runs: list[AppRun]
    statuses: list[tuple[str, str, int]]
    classic: list[tuple[str, int]]
    rules: list[tuple[str, int]]
    elapsed: int
    suite_says: str | None = None

    def number(self) -> "World":
        """Ids in the order in which things were made, one row for all, as GitHub counts check runs and jobs."""
        count = 100
        for run in self.runs:
            run.id = count = count + 1
        for attempt in range(2):
            for run in self.runs:
                for job in run.attempts[attempt] if attempt < len(run.attempts) else ():
                    job.id = count = count + 1
        for check in sorted(self.app_runs, key=lambda check: check.start):
            check.id = count = count + 1
        return self


@st.composite
def runs(draw: st.DrawFn) -> WorkflowRun:
    is_open = draw(st.integers(0, 3)) == 0
    ends = st.one_of(ENDS, st.none()) if is_open else ENDS
    job = st.builds(Job, NAMES, ends, st.booleans())
    closed = st.builds(Job, NAMES, ENDS, st.booleans())
    attempts = [draw(st.lists(job, max_size=3))]
    if draw(st.booleans()):
        attempts = [draw(st.lists(closed, max_size=3)), *attempts]
    forced = draw(st.sampled_from([*[None] * 12, "failure", "startup_failure", "cancelled", "action_required"]))
    event = draw(st.sampled_from(["push", "pull_request", "workflow_dispatch", *OFF_TOPIC]))
    return WorkflowRun(draw(st.integers(1, 2)), event, draw(st.sampled_from("ab")), is_open, attempts, forced)


APP_RUNS = st.builds(AppRun, NAMES, st.one_of(ENDS, st.none()), st.integers(0, 50), st.integers(0, 50))
STATES = st.sampled_from([*["success"] * 4, "failure", "error", "pending", "pending"])
STATUSES = st.tuples(NAMES, STATES, st.sampled_from([0, OTHER]))
REQUIRED = st.lists(st.tuples(NAMES, st.sampled_from([0, 0, ACTIONS, OTHER])), max_size=2)
WORLDS = st.builds(
    World,
    st.lists(runs(), max_size=3),
    st.lists(APP_RUNS, max_size=3),
    st.lists(STATUSES, max_size=3),
    REQUIRED,
    REQUIRED,
    st.sampled_from([120, 2000, 2000, 9000]),
    st.sampled_from([None, None, "failure"]),
).map(World.number)


def at(seconds: int | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(T0 + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class GitHub:
    """What GitHub answers about the world's one commit, by GraphQL too or by REST alone."""

    def __init__(self, world: World, *, by_query: bool) -> None:
        self.world, self.by_query = world, by_query

    async def query(self, _text: str, variables: dict[str, Any], **_: Any) -> Any:
        if not self.by_query:
            raise QueryUnavailable
        suites = [self._suite_node(each) for each in self._suites()]
        newest_of = {context: each for each in self._statuses() if (context := each["context"])}
        contexts = [
            {
                "context": context,
                "state": each["state"].upper(),
                "avatarUrl": each["avatar_url"],
                "createdAt": each["updated_at"],
            }
            for context, each in newest_of.items()
        ]
        commit = {
            "oid": variables["sha"],
            "status": {"contexts": contexts} if contexts else None,
            "checkSuites": {"nodes": suites, "pageInfo": {"hasNextPage": False}},
        }
        return {"object": commit}

    def _suite_node(self, suite: dict[str, Any]) -> dict[str, Any]:
        runs = [each for each in self._check_runs() if each["check_suite"]["id"] == suite["id"]]
        nodes = [
            {
                "databaseId": each["id"],
                "name": each["name"],
                "status": each["status"].upper(),
                "conclusion": _upper(each.get("conclusion")),
                "startedAt": each.get("started_at"),
                "completedAt": each.get("completed_at"),
                "detailsUrl": each.get("details_url"),
            }
            for each in runs
        ]
        app = suite["app"]
        return {
            "databaseId": suite["id"],
            "status": suite["status"].upper(),
            "conclusion": _upper(suite.get("conclusion")),
            "app": {"databaseId": app["id"], "slug": app["slug"], "name": app.get("name")},
            "latest": {"totalCount": suite["latest_check_runs_count"]},
            "checkRuns": {"nodes": nodes, "pageInfo": {"hasNextPage": False}},
        }

    async def get(self, path: str, **_: Any) -> Any:
        checks = [{"context": name, "app_id": app or None} for name, app in self.world.classic]
        assert path == "branches/main"
        if not checks:
            raise NotFound("no such branch")
        required = {"enforcement_level": "everyone", "contexts": [each["context"] for each in checks], "checks": checks}
        return {"name": "main", "commit": {"sha": "b" * 40}, "protection": {"required_status_checks": required}}

    async def pages(self, path: str, _key: str | None = None, **options: Any) -> AsyncIterator[Any]:
        answers = {
            "actions/runs": self._runs,
            "commits/sha/check-runs": self._check_runs,
            "commits/sha/check-suites": self._suites,
            "commits/sha/status": self._statuses,
            "rules/branches/main": self._rules,
        }
        if path in answers:
            assert path != "commits/sha/check-runs" or options["params"] == {"filter": "all"}
            found = answers[path]()
        else:
            (run,) = [run for run in self.world.runs if path == f"actions/runs/{run.id}/jobs"]
            found = [{"id": job.id, "check_run_url": f"https://x/check-runs/{job.id}"} for job in run.attempts[-1]]
        for each in found:
            yield each

    def _runs(self) -> list[dict[str, Any]]:
        return [
            {
                "id": run.id,
                "run_attempt": len(run.attempts),
                "workflow_id": run.workflow,
                "name": "CI",
                "path": f".github/workflows/{run.workflow}.yml",
                "event": run.event,
                "status": "in_progress" if run.open else "completed",
                "conclusion": run.conclusion,
                "check_suite_id": 1000 + run.id,
                "head_branch": run.branch,
                "updated_at": at(60),
            }
            for run in self.world.runs
        ]

    def _check_runs(self) -> list[dict[str, Any]]:
        jobs = [
            {
                "id": job.id,
                "name": job.name,
                "status": "completed" if job.conclusion else "in_progress",
                "conclusion": job.conclusion,
                "app": {"id": ACTIONS, "slug": "github-actions"},
                "check_suite": {"id": 1000 + run.id},
                "details_url": f"https://github.com/o/r/actions/runs/{run.id}/job/{job.id}",
                "started_at": at(number * 20),
                "completed_at": at(number * 20 + 10) if job.conclusion else None,
            }
            for run in self.world.runs
            for attempt in run.attempts
            for number, job in enumerate(attempt)
        ]
        others = [
            {
                "id": check.id,
                "name": check.name,
                "status": "completed" if check.conclusion else "in_progress",
                "conclusion": check.conclusion,
                "app": {"id": OTHER, "slug": "other-ci"},
                "check_suite": {"id": 999},
                "started_at": at(check.start),
                "completed_at": at(check.end),
            }
            for check in self.world.app_runs
        ]
        own = {"id": 1, "name": "Greenloop", "status": "in_progress", "app": {"id": OWN}, "check_suite": {"id": 998}}
        return [own, *jobs, *others]

    def _suites(self) -> list[dict[str, Any]]:
        actions = [
            {
                "id": 1000 + run.id,
                "status": "in_progress" if run.open else "completed",
                "conclusion": run.conclusion,
                "latest_check_runs_count": len(run.attempts[-1]),
                "app": {"id": ACTIONS, "slug": "github-actions"},
            }
            for run in self.world.runs
        ]
        empty = {"id": 997, "status": "queued", "latest_check_runs_count": 0, "app": {"id": 5, "slug": "idle"}}
        latest = newest(self.world)
        if not latest:
            return [*actions, empty]
        done = all(check.conclusion for check in latest)
        says = next((check.conclusion for check in latest if check.conclusion not in PASS), "success")
        other = {
            "id": 999,
            "status": "completed" if done else "in_progress",
            "conclusion": (self.world.suite_says or says) if done else None,
            "latest_check_runs_count": len(latest),
            "app": {"id": OTHER, "slug": "other-ci", "name": "Other CI"},
        }
        return [*actions, empty, other]

    def _statuses(self) -> list[dict[str, Any]]:
        return [
            {
                "id": 5000 + number,
                "context": context,
                "state": state,
                "avatar_url": f"https://avatars.githubusercontent.com/in/{app}?v=4" if app else "https://x/u/5?v=4",
                "updated_at": at(number),
            }
            for number, (context, state, app) in enumerate(self.world.statuses)
        ]

    def _rules(self) -> list[dict[str, Any]]:
        wanted = [{"context": name, "integration_id": app or None} for name, app in self.world.rules]
        parameters = {"required_status_checks": wanted}
        return [{"type": "required_status_checks", "parameters": parameters}] if wanted else []


# The oracle.


@dataclass(frozen=True)
class Context:
    """One line of the merge box."""

    kind: str
    id: int
    name: str
    app: int
    result: str  # "" while pending
    why: str = ""  # what excuses it by itself


def newest(world: World) -> list[AppRun]:
    """The newest check run of each name in the app's suite, which is what `filter=latest` is documented to give."""
    latest: dict[str, AppRun] = {}
    for check in sorted(world.app_runs, key=lambda check: check.id):
        latest[check.name] = check
    return list(latest.values())


def passed(run: WorkflowRun) -> bool:
    good = all(job.conclusion in PASS or job.forgiven for job in run.attempts[-1])
    return run.conclusion in PASS and good


def merge_box(world: World) -> list[Context]:
    box = []
    for run in world.runs:
        newer = [each for each in world.runs if each.id > run.id and each.workflow == run.workflow]
        overtaken = any(passed(each) and each.branch == run.branch for each in newer)
        lines = [("job", job.id, job.name, job.conclusion or "") for job in run.attempts[-1]]
        if run.conclusion not in PASS and not any(result not in PASS for *_, result in lines):
            lines.append(("workflow", run.id, "CI", run.conclusion or ""))
        for kind, id, name, result in lines:
            why = "forgiven" if run.conclusion in PASS else ""
            why = "off topic" if run.event in OFF_TOPIC else why
            why = "overtaken" if result == "cancelled" and overtaken and not why else why
            box.append(Context(kind, id, name, ACTIONS if kind == "job" else 0, result, why))
        if run.conclusion in BAD and not any(result in BAD for *_, result in lines):
            box.append(Context("workflow", run.id, "CI", 0, "failure", "off topic" if run.event in OFF_TOPIC else ""))
    latest = newest(world)
    box += [Context("check_run", check.id, check.name, OTHER, check.conclusion or "") for check in latest]
    if world.suite_says and world.app_runs and all(check.conclusion in PASS for check in world.app_runs):
        box.append(Context("suite", 999, "Other CI", OTHER, world.suite_says))
    contexts = {context: (number, state, app) for number, (context, state, app) in enumerate(world.statuses)}
    for name, (number, state, app) in contexts.items():
        box.append(Context("status", 5000 + number, name, app, "" if state == "pending" else state))
    return box


def look(world: World, rules: Checks, leave_optional: bool) -> HeadState:
    """The state, which is the same by whatever road GitHub was asked."""
    states = []
    for by_query in (True, False):
        github = cast(RepositoryHandle, GitHub(world, by_query=by_query))
        found = asyncio.run(snapshot(github, "sha", own_app_id=OWN, base="main"))
        states.append(settle(found, rules, now=T0 + world.elapsed, since=T0, leave_optional=leave_optional))
    by_graphql, by_rest = states
    assert in_order(by_graphql) == in_order(by_rest)
    return by_rest


def in_order(state: HeadState) -> HeadState:
    """The order in which GitHub lists things says nothing."""

    def key(check: Check) -> tuple[str, int, str]:
        return check.kind, check.id, check.name

    def ordered(checks: Sequence[Check]) -> tuple[Check, ...]:
        return tuple(sorted(checks, key=key))

    return replace(
        state,
        explanation="",
        red=ordered(state.red),
        running=ordered(state.running),
        green=ordered(state.green),
        awaiting=ordered(state.awaiting),
        cancelled=ordered(state.cancelled),
        excused=tuple(sorted(state.excused, key=lambda each: key(each.check))),
    )


def _upper(word: str | None) -> str | None:
    return word.upper() if word else None


def _identity(kind: str, id: int, name: str) -> tuple[str, int | str]:
    """A status is known by its context."""
    return kind, name if kind == "status" else id


OPTIONAL = st.sampled_from(["repair", "report", "ignore"])


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(WORLDS, OPTIONAL, st.booleans())
def test_a_green_verdict_names_every_line_of_the_merge_box_that_is_not(
    world: World, optional: str, leave_optional: bool
) -> None:
    state = look(world, Checks.model_validate({"optional": optional, "status_idle_minutes": 30}), leave_optional)
    if state.verdict not in (Verdict.GREEN, Verdict.NONE):
        return
    box = merge_box(world)
    wanted = [*world.classic, *world.rules]
    named = {_identity(str(each.check.kind), each.check.id, each.check.name) for each in state.excused}
    for name, app in wanted:
        answers = [
            line
            for line in box
            if line.name == name and app in (0, line.app) and line.kind not in ("workflow", "suite")
        ]
        assert answers, f"{name} of {app} is required and never reported"
        assert all(line.result in PASS for line in answers), answers
    for line in box:
        if line.result in PASS:
            continue
        assert _identity(line.kind, line.id, line.name) in named, f"{line} is not green, and nobody is told"
        required = any(line.name == name and app in (0, line.app) for name, app in wanted)
        required = required and line.kind not in ("workflow", "suite")
        assert not required
        nobody_waits = line.kind == "status" and line.result == "" and world.elapsed >= 1800
        red = line.result in (*BAD, "error", "startup_failure")
        optional_line = bool(wanted) and (not red or optional != "repair" or leave_optional)
        assert line.why or nobody_waits or optional_line, f"{line} has no excuse"


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(WORLDS)
def test_every_state_comes_to_an_end(world: World) -> None:
    world.elapsed = 8 * 3600
    state = look(world, Checks(), False)
    assert state.verdict is not Verdict.RUNNING
    assert state.explanation

"""Any state of one commit, and what GitHub answers about it: by GraphQL, or by REST alone."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from hypothesis import strategies as st

from github.client.clock import Clock
from github.client.errors import NotFound
from github.client.queries import QueryUnavailable
from github.client.told import Told

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


def newest(world: World) -> list[AppRun]:
    """The newest check run of each name in the app's suite, which is what `filter=latest` is documented to give."""
    latest: dict[str, AppRun] = {}
    for check in sorted(world.app_runs, key=lambda check: check.id):
        latest[check.name] = check
    return list(latest.values())


class GitHub:
    """What GitHub answers about the world's one commit, by GraphQL too or by REST alone."""

    def __init__(self, world: World, *, by_query: bool) -> None:
        self.world, self.by_query = world, by_query
        self.id, self.app = 7, SimpleNamespace(told=Told(Clock()))

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


def _upper(word: str | None) -> str | None:
    return word.upper() if word else None

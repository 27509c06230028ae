"""Where a job last passed, from a stand-in for the API."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from github.checks.logs import Job
from github.checks.model import Check, Kind
from github.checks.passing_jobs import PassingJob, passing_job
from github.client.app import GitHubApp
from github.client.repository import RepositoryHandle
from github.emulator.local import LocalGitHub
from tests.github.conftest import TestClock

RED = Job(900, "test (3.12)", "completed", "failure", (), 900)
THIS = 90
CHECK = Check(
    Kind.JOB,
    900,
    RED.name,
    15368,
    "github-actions",
    "failure",
    run_id=THIS,
    run_attempt=1,
    workflow_id=4,
    branch="topic",
)


def run(number: int, branch: str = "main", **fields: Any) -> dict[str, Any]:
    known = {"workflow_id": 4, "event": "push", "conclusion": "success", "head_repository": {"id": 7}}
    return {"id": number, "head_branch": branch, "head_sha": f"sha{number}", **known, **fields}


class Backend:
    """Runs, newest first, and which of them have the job with what conclusion."""

    def __init__(self) -> None:
        self.runs = [run(THIS, "topic", conclusion="failure")]
        self.jobs: dict[int, list[dict[str, Any]]] = {}
        self.asked: list[str] = []

    def add(self, number: int, *jobs: tuple[str, str], **fields: Any) -> None:
        self.runs.append(run(number, **fields))
        self.jobs[number] = [
            {"id": number * 10 + at, "name": name, "conclusion": conclusion, "check_run_url": ""}
            for at, (name, conclusion) in enumerate(jobs)
        ]

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        self.asked.append(path)
        if path.endswith("/access_tokens"):
            token = {"token": "ghs_x", "expires_at": "2999-01-01T00:00:00Z", "permissions": {"actions": "read"}}
            return httpx.Response(201, json=token)
        if path.startswith("/app/installations/"):
            return httpx.Response(200, json={"id": 5, "permissions": {"actions": "read"}})
        if path.endswith("/actions/runs"):
            assert request.url.params["status"] == "completed"
            found = [each for each in self.runs if each["head_branch"] == request.url.params["branch"]]
            return httpx.Response(200, json={"total_count": len(found), "workflow_runs": found})
        if path.endswith("/jobs"):
            jobs = self.jobs[int(path.split("/")[-2])]
            return httpx.Response(200, json={"total_count": len(jobs), "jobs": jobs})
        raise AssertionError(f"{path} needs not be asked")


@pytest.fixture
def backend() -> Backend:
    return Backend()


@pytest.fixture
async def remote(backend: Backend, shared_github: LocalGitHub) -> AsyncIterator[RepositoryHandle]:
    async with httpx.AsyncClient(transport=httpx.MockTransport(backend)) as http:
        app = GitHubApp(1, shared_github.app.private_key, http=http, clock=TestClock())
        yield RepositoryHandle(app, 5, 7, "octo/app")


async def found(remote: RepositoryHandle, *branches: str) -> PassingJob | None:
    return await passing_job(remote, RED, CHECK, branches or ("main", "topic"))


async def test_the_base_branch_comes_before_the_branch_s_own_earlier_runs(
    remote: RepositoryHandle, backend: Backend
) -> None:
    backend.add(89, ("test (3.12)", "success"), branch="topic")
    backend.add(70, ("lint", "success"), ("test (3.12)", "success"))
    assert await found(remote) == PassingJob(701, "sha70", "main", 4)
    assert await found(remote, "other", "topic") == PassingJob(890, "sha89", "topic", 4)
    assert await found(remote, "topic") == PassingJob(890, "sha89", "topic", 4)


async def test_a_job_that_passed_in_a_run_that_failed_counts(remote: RepositoryHandle, backend: Backend) -> None:
    backend.add(80, ("lint", "failure"), ("test (3.12)", "success"), conclusion="failure")
    assert await found(remote) == PassingJob(801, "sha80", "main", 4)


async def test_a_job_of_another_name_or_that_did_not_pass_does_not_count(
    remote: RepositoryHandle, backend: Backend
) -> None:
    backend.add(80, ("test (3.12)", "failure"), ("test (3.11)", "success"))
    backend.add(79, ("test (3.12)", "skipped"))
    backend.add(78, ("test (3.12)", "success"))
    assert await found(remote) == PassingJob(780, "sha78", "main", 4)


@pytest.mark.parametrize(
    "fields",
    [
        {"workflow_id": 5},
        {"head_repository": {"id": 8}},
        {"head_repository": None},
        {"event": "issue_comment"},
        {"conclusion": "cancelled"},
    ],
    ids=["another workflow", "a fork's", "a deleted fork's", "about no commit", "cancelled"],
)
async def test_a_run_that_cannot_be_compared_is_passed_over(
    remote: RepositoryHandle, backend: Backend, fields: dict[str, Any]
) -> None:
    backend.add(80, ("test (3.12)", "success"), **fields)
    assert await found(remote) is None


async def test_only_a_few_runs_are_asked_for_their_jobs(remote: RepositoryHandle, backend: Backend) -> None:
    for number in range(10, 60):
        backend.add(number, ("test (3.12)", "failure"))
    assert await found(remote) is None
    assert sum(path.endswith("/jobs") for path in backend.asked) == 3

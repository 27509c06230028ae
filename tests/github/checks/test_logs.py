"""Evidence of failing checks, from a stand-in for the API and for the storage behind it."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from github.checks.logs import evidence, open_log
from github.checks.model import Check, Kind
from github.client.app import GitHubApp
from github.client.errors import Gone, NotFound, PermissionMissing, Unreachable
from github.client.repository import RepositoryHandle
from github.emulator.local import LocalGitHub
from tests.github.conftest import TestClock

STEPS = [
    {"number": 1, "name": "Set up job", "conclusion": "success"},
    {"number": 2, "name": "Run tests", "conclusion": "failure"},
    {"number": 3, "name": "Upload", "conclusion": "skipped"},
    {"number": 4, "name": "Slow", "conclusion": "timed_out"},
]
JOB = {"id": 555, "name": "test", "conclusion": "failure", "check_run_url": "https://x/check-runs/40", "steps": STEPS}
Routes = dict[str, Callable[[httpx.Request], httpx.Response]]


class Backend:
    """An API and a storage on another host. The storage refuses `Authorization`, as Azure's does."""

    def __init__(self) -> None:
        self.blobs: list[httpx.Response] = [httpx.Response(200, content=b"line 1\nline 2\n")]
        self.addresses = 0
        self.logs: Callable[[], httpx.Response] = self.redirect
        self.jobs: list[dict[str, Any]] = [JOB]
        self.annotations: list[dict[str, Any]] = []

    def redirect(self) -> httpx.Response:
        self.addresses += 1
        return httpx.Response(302, headers={"location": f"https://blobs.example/log?sig={self.addresses}"})

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.host == "blobs.example":
            if "authorization" in request.headers:
                return httpx.Response(400, text="<Error><Code>InvalidAuthenticationInfo</Code></Error>")
            return self.blobs.pop(0) if len(self.blobs) > 1 else self.blobs[0]
        path = request.url.path
        if path.endswith("/access_tokens"):
            token = {"token": "ghs_x", "expires_at": "2999-01-01T00:00:00Z", "permissions": {"actions": "read"}}
            return httpx.Response(201, json=token)
        if path.startswith("/app/installations/"):
            return httpx.Response(200, json={"id": 5, "permissions": {"actions": "read"}})
        if path.endswith("/logs"):
            return self.logs()
        if path.endswith("/jobs"):
            return httpx.Response(200, json={"total_count": len(self.jobs), "jobs": self.jobs})
        if "/actions/jobs/" in path:
            found = [job for job in self.jobs if str(job["id"]) == path.rpartition("/")[2]]
            return httpx.Response(200, json=found[0]) if found else httpx.Response(404, json={"message": "Not Found"})
        if path.endswith("/annotations"):
            return httpx.Response(200, json=self.annotations)
        return httpx.Response(404, json={"message": "Not Found"})


@pytest.fixture
def backend() -> Backend:
    return Backend()


@pytest.fixture
async def remote(backend: Backend, shared_github: LocalGitHub) -> AsyncIterator[RepositoryHandle]:
    async with httpx.AsyncClient(transport=httpx.MockTransport(backend)) as http:
        app = GitHubApp(1, shared_github.app.private_key, http=http, clock=TestClock())
        yield RepositoryHandle(app, 5, 7, "octo/app")


async def read(repository: RepositoryHandle, job_id: int = 555) -> bytes:
    async with open_log(repository, job_id) as chunks:
        return b"".join([chunk async for chunk in chunks])


def check(kind: Kind, **fields: Any) -> Check:
    base = {"id": 40, "name": "test", "app_id": 2, "app": "github-actions", "conclusion": "failure", **fields}
    return Check(kind, **base)


async def test_a_log_is_read_from_its_signed_address_without_our_token(remote: RepositoryHandle) -> None:
    assert await read(remote) == b"line 1\nline 2\n"


async def test_a_log_that_is_not_there_yet_is_asked_for_again_with_a_new_address(
    remote: RepositoryHandle, backend: Backend
) -> None:
    missing = httpx.Response(404, text="<Error><Code>BlobNotFound</Code></Error>")
    backend.blobs = [missing, httpx.Response(403, text="expired"), httpx.Response(200, content=b"late")]
    assert await read(remote) == b"late"
    assert backend.addresses == 3
    assert isinstance(remote.app.clock, TestClock)
    assert remote.app.clock.slept == [1.0, 2.0]


async def test_a_log_that_never_comes_is_given_up_after_seconds(remote: RepositoryHandle, backend: Backend) -> None:
    backend.blobs = [httpx.Response(404, text="BlobNotFound")]
    with pytest.raises(NotFound):
        await read(remote)
    assert isinstance(remote.app.clock, TestClock)
    assert sum(remote.app.clock.slept) == 15


async def test_a_log_past_its_retention_is_gone_at_once(remote: RepositoryHandle, backend: Backend) -> None:
    backend.logs = lambda: httpx.Response(410, json={"message": "Gone"})
    with pytest.raises(Gone):
        await read(remote)
    assert isinstance(remote.app.clock, TestClock)
    assert remote.app.clock.slept == []


async def test_a_missing_permission_is_not_waited_for(remote: RepositoryHandle, backend: Backend) -> None:
    refused = {"message": "Resource not accessible by integration"}
    headers = {"x-accepted-github-permissions": "actions=write"}
    backend.logs = lambda: httpx.Response(403, json=refused, headers=headers)
    with pytest.raises(PermissionMissing):
        await read(remote)
    assert isinstance(remote.app.clock, TestClock)
    assert remote.app.clock.slept == []


async def test_a_log_that_breaks_off_says_so(remote: RepositoryHandle, backend: Backend) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"line 1\n"
        raise httpx.ReadError("reset")

    backend.blobs = [httpx.Response(200, content=broken())]
    with pytest.raises(Unreachable, match="broke off"):
        await read(remote)


async def test_a_large_log_comes_in_pieces(remote: RepositoryHandle, backend: Backend) -> None:
    backend.blobs = [httpx.Response(200, content=b"x" * 1_000_000)]
    async with open_log(remote, 555) as chunks:
        sizes = [len(chunk) async for chunk in chunks]
    assert sum(sizes) == 1_000_000
    assert max(sizes) <= 64 * 1024


async def test_a_failed_job_is_found_by_its_check_run_and_names_its_failed_steps(
    remote: RepositoryHandle, backend: Backend
) -> None:
    backend.jobs = [{**JOB, "id": 1, "check_run_url": "https://x/check-runs/39", "steps": []}, JOB]
    backend.annotations = [
        {
            "path": "a.py",
            "start_line": 3,
            "end_line": 3,
            "annotation_level": "failure",
            "message": "boom",
            "title": None,
        }
    ]
    found = await evidence(remote, check(Kind.JOB, run_id=9, annotations=1))
    assert found.job is not None
    assert found.job.id == 555
    assert found.failed_steps == ("Run tests", "Slow")
    assert found.annotations[0].message == "boom"
    assert found.log is not None
    async with found.log() as chunks:
        assert b"".join([chunk async for chunk in chunks]).startswith(b"line 1")


async def test_where_the_run_is_unknown_the_job_is_asked_for_by_the_check_runs_id(
    remote: RepositoryHandle, backend: Backend
) -> None:
    backend.jobs = [{**JOB, "id": 40, "check_run_url": None, "steps": None}]
    found = await evidence(remote, check(Kind.JOB))
    assert found.job is not None
    assert (found.job.id, found.failed_steps) == (40, ())


async def test_a_job_that_is_no_longer_listed_has_no_log_and_says_why(
    remote: RepositoryHandle, backend: Backend
) -> None:
    backend.jobs = []
    found = await evidence(remote, check(Kind.JOB, run_id=9))
    assert (found.log, found.log_missing) == (None, "its job is no longer listed")


async def test_another_apps_check_run_gives_its_output_once(remote: RepositoryHandle) -> None:
    output = {"title": "2 problems", "summary": "a.py:1 bad", "text": "a.py:1 bad"}
    found = await evidence(remote, check(Kind.CHECK_RUN, app="other", **output))
    assert found.details == "2 problems\n\na.py:1 bad"
    assert found.log is None
    assert "only the app" in found.log_missing


async def test_a_status_gives_its_description_and_a_broken_workflow_its_path(remote: RepositoryHandle) -> None:
    status = await evidence(remote, check(Kind.STATUS, title="build failed", url="https://ci/1"))
    assert (status.details, status.log) == ("build failed", None)
    broken = await evidence(
        remote, check(Kind.WORKFLOW, title=".github/workflows/ci.yml", conclusion="startup_failure")
    )
    assert ".github/workflows/ci.yml" in broken.details
    assert "startup_failure" in broken.details
    assert json.dumps(broken.failed_steps) == "[]"

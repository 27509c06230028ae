"""What a failing check left at GitHub: its job's log and failed steps, its output, its annotations.

A log is never held in memory here: `Evidence.log` opens a stream of its bytes.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from github.checks.model import Check, Kind
from github.client.errors import Forbidden, GitHubError, NotFound, PermissionMissing, Unreachable
from github.client.repository import RepositoryHandle

LogOpener = Callable[[], AbstractAsyncContextManager[AsyncIterator[bytes]]]

# A log's blob may lag behind its job by seconds. Its address holds for a minute only, so each try asks for a new one.
LOG_WAITS = (1.0, 2.0, 4.0, 8.0)
MAX_ANNOTATIONS = 200
MAX_LISTED = 50  # jobs of a run that are named


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a job. `conclusion` is success, failure, cancelled, skipped or ""."""

    number: int
    name: str
    conclusion: str


@dataclass(frozen=True, slots=True)
class Job:
    """A job of a workflow run, as one attempt ran it."""

    id: int
    name: str
    status: str
    conclusion: str
    steps: tuple[Step, ...]
    check_run_id: int

    @property
    def failed_steps(self) -> tuple[Step, ...]:
        """The steps that failed; empty where the runner was lost before any could."""
        return tuple(step for step in self.steps if step.conclusion in ("failure", "timed_out"))


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark on a line of a file. `level` is notice, warning or failure; lines count from 1."""

    path: str
    start_line: int
    end_line: int
    level: str
    title: str
    message: str


@dataclass(frozen=True, slots=True)
class Left:
    """What is known of a red check run beside itself; None is not known."""

    job: Job | None = None
    annotations: tuple[Annotation, ...] | None = None


@dataclass(frozen=True, slots=True)
class FailedCheckLogs:
    """Everything GitHub has about one failing check. `log` is None where there is none, and `log_missing` says why."""

    check: Check
    details: str = ""
    job: Job | None = None
    annotations: tuple[Annotation, ...] = ()
    log: LogOpener | None = None
    log_missing: str = ""

    @property
    def failed_steps(self) -> tuple[str, ...]:
        """The names of the steps that failed."""
        return tuple(step.name for step in self.job.failed_steps) if self.job else ()


async def evidence(repository: RepositoryHandle, check: Check, known: Left | None = None) -> FailedCheckLogs:
    """What `check` left behind, whatever kind it is; what is `known` of it is not asked for. Only Actions jobs have
    logs that an App may read."""
    known = known or Left()
    if check.kind is Kind.STATUS:
        return FailedCheckLogs(check, _details(check), log_missing="a commit status has no log at GitHub")
    if check.kind is Kind.WORKFLOW:
        return FailedCheckLogs(check, await _of_run(repository, check), log_missing="the run itself has no log")
    if check.kind is Kind.SUITE:
        said = f"The check suite of {check.name} ended as {check.conclusion}, though every check run in it passed."
        return FailedCheckLogs(check, said, log_missing="only the app itself has its log")
    notes = known.annotations
    if notes is None:
        notes = tuple([note async for note in annotations(repository, check.id)]) if check.annotations else ()
    if check.kind is Kind.CHECK_RUN:
        return FailedCheckLogs(check, _details(check), annotations=notes, log_missing="only the app itself has its log")
    job = known.job or await find_job(repository, check)
    if job is None:
        return FailedCheckLogs(check, _details(check), annotations=notes, log_missing="its job is no longer listed")
    return FailedCheckLogs(check, _details(check), job, notes, log=lambda: open_log(repository, job.id))


async def _of_run(repository: RepositoryHandle, check: Check) -> str:
    what = f"The workflow {check.title or check.name} ended as {check.conclusion}"
    try:
        listed = [f"- {job.name}: {job.conclusion or job.status}" async for job in jobs(repository, check.run_id)]
    except (NotFound, Forbidden):
        listed = []
    if not listed:
        return f"{what} before any job began."
    return "\n".join([f"{what}, which none of its jobs explains:", *listed[:MAX_LISTED]])


async def find_job(repository: RepositoryHandle, check: Check) -> Job | None:
    """The Actions job behind a check run: followed by `check_run_url`, since equal ids are only today's custom."""
    if check.run_id:
        async for job in jobs(repository, check.run_id):
            if check.id in (job.check_run_id, job.id):
                return job
    try:
        return _job(await repository.get(f"actions/jobs/{check.id}"))
    except (NotFound, Forbidden):
        return None


async def jobs(
    repository: RepositoryHandle, run_id: int, attempt: int | None = None, *, max_age: float = 0.0
) -> AsyncIterator[Job]:
    """The jobs of a run's `attempt`; without one, the newest of each. As they were within the last `max_age` seconds
    will do."""
    path = f"actions/runs/{run_id}" + (f"/attempts/{attempt}" if attempt else "")
    async for found in repository.pages(f"{path}/jobs", "jobs", max_age=max_age):
        yield _job(found)


async def annotations(repository: RepositoryHandle, check_run_id: int) -> AsyncIterator[Annotation]:
    """The annotations of a check run, at most 200."""
    async for each in repository.pages(f"check-runs/{check_run_id}/annotations", limit=MAX_ANNOTATIONS):
        yield Annotation(
            path=str(each.get("path") or ""),
            start_line=int(each.get("start_line") or 0),
            end_line=int(each.get("end_line") or 0),
            level=str(each.get("annotation_level") or "notice"),
            title=str(each.get("title") or ""),
            message=str(each.get("message") or ""),
        )


def open_log(repository: RepositoryHandle, job_id: int) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
    """The log of a job, as a stream of bytes. Raises Gone for a log that was deleted or is past its retention."""
    return open_download(repository, f"actions/jobs/{job_id}/logs")


@asynccontextmanager
async def open_download(repository: RepositoryHandle, path: str) -> AsyncIterator[AsyncIterator[bytes]]:
    """What GitHub keeps elsewhere, such as logs and artifacts, as a stream of bytes.

    GitHub redirects to a signed address at another host, where `Authorization` must not be sent. A blob that is not
    there yet is asked for again for some seconds. Raises Gone for what was deleted or is past its retention.
    """
    waits = list(LOG_WAITS)
    async with AsyncExitStack() as stack:
        while True:
            try:
                address = await _address(repository, path)
                response = await stack.enter_async_context(repository.app.transport.stream(address))
                break
            except PermissionMissing:
                raise
            except (NotFound, Forbidden, Unreachable):
                if not waits:
                    raise
            await repository.app.clock.sleep(waits.pop(0))
        yield _chunks(response)


async def _chunks(response: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for chunk in response.aiter_bytes(64 * 1024):
            yield chunk
    except httpx.HTTPError as error:
        raise Unreachable(f"the log broke off ({type(error).__name__}): ask for it again") from error


async def _address(repository: RepositoryHandle, path: str) -> str:
    answer = await repository.request("GET", path)
    location = answer.headers.get("location")
    if answer.status != 302 or not location:
        raise GitHubError(f"{path}: GitHub gave no address for it (status {answer.status})")
    return location


def _job(found: dict[str, Any]) -> Job:
    tail = str(found.get("check_run_url") or "").rpartition("/")[2]
    steps = tuple(
        Step(int(step.get("number") or 0), str(step.get("name") or ""), str(step.get("conclusion") or ""))
        for step in found.get("steps") or ()
    )
    return Job(
        id=int(found["id"]),
        name=str(found.get("name") or ""),
        status=str(found.get("status") or ""),
        conclusion=str(found.get("conclusion") or ""),
        steps=steps,
        check_run_id=int(tail) if tail.isdigit() else 0,
    )


def _details(check: Check) -> str:
    parts = (check.title, check.summary, check.text)
    return "\n\n".join(dict.fromkeys(part.strip() for part in parts if part.strip()))

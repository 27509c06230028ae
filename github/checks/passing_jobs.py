"""Where the job of a failing check last passed: on the base branch, else on an earlier commit of its own."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from github.checks.assemble import UNRELATED
from github.checks.logs import Job, jobs
from github.checks.model import Check
from github.client.repository import RepositoryHandle
from github.repositories.queries import STEP

RUNS = 60  # of a branch are looked through for those of the workflow
TRIES = 3  # runs whose jobs are asked for, a branch


@dataclass(frozen=True, slots=True)
class PassingJob:
    """A job that passed: its id, the commit that it ran on, and the branch of that."""

    id: int
    sha: str
    branch: str
    workflow_id: int


async def passing_job(repository: RepositoryHandle, job: Job, red: Check, branches: Sequence[str]) -> PassingJob | None:
    """The newest job of the same workflow and name as `job`, whose check is `red`, that passed on the first of the
    branches where one did.

    Runs of forks do not count, whose branches may have any name. Raises GitHubError where GitHub cannot be asked.
    """
    for branch in dict.fromkeys(branches):
        tried = 0
        async for earlier in _runs(repository, branch):
            if not _comparable(earlier, red, repository.id):
                continue
            async for found in jobs(repository, int(earlier["id"]), max_age=STEP):
                if found.name == job.name and found.conclusion == "success":
                    return PassingJob(found.id, str(earlier["head_sha"]), branch, red.workflow_id)
            tried += 1
            if tried == TRIES:
                break
    return None


def _runs(repository: RepositoryHandle, branch: str) -> AsyncIterator[dict[str, Any]]:
    params = {"branch": branch, "status": "completed", "exclude_pull_requests": "true"}
    return repository.pages("actions/runs", "workflow_runs", params=params, limit=RUNS, max_age=STEP)


def _comparable(earlier: dict[str, Any], red: Check, repository_id: int) -> bool:
    """Whether a run is another of the workflow of `red`, of this repository's own code, and some of its jobs may have
    passed."""
    return (
        earlier.get("workflow_id") == red.workflow_id
        and int(earlier["id"]) != red.run_id
        and earlier.get("event") not in UNRELATED - {"schedule"}
        and earlier.get("conclusion") in ("success", "failure", "timed_out")
        and int((earlier.get("head_repository") or {}).get("id") or 0) == repository_id
    )

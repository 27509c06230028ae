"""Running a check again where it is, without a new commit."""

from github.checks.model import Check, Kind
from github.client.errors import Conflict, Forbidden, Gone, Invalid, NotFound
from github.client.repository import RepositoryHandle
from github.client.scopes import Scope


async def rerun(repository: RepositoryHandle, check: Check) -> bool:
    """Have `check` run again; True if it does, or did so already since it was looked at.

    For Actions the failed jobs of its whole run are run again, as attempt n+1 of the same run, which GitHub allows for
    30 days; all jobs where it is the run that failed and none of them. Another app is asked to by a re-request. A
    commit status cannot be run again. False where GitHub refuses.
    """
    try:
        if check.kind in (Kind.JOB, Kind.WORKFLOW) and check.run_id:
            return await _rerun_run(repository, check)
        if check.kind is Kind.CHECK_RUN:
            await repository.request("POST", f"check-runs/{check.id}/rerequest", scope=Scope.RERUN)
            return True
        if check.kind is Kind.SUITE:
            await repository.request("POST", f"check-suites/{check.id}/rerequest", scope=Scope.RERUN)
            return True
    except (Conflict, Forbidden, Gone, Invalid, NotFound):
        return False
    return False


async def _rerun_run(repository: RepositoryHandle, check: Check) -> bool:
    path = f"actions/runs/{check.run_id}"
    run = await repository.get(path)
    if int(run.get("run_attempt") or 1) > check.run_attempt or run.get("status") != "completed":
        return True
    what = "rerun" if check.kind is Kind.WORKFLOW else "rerun-failed-jobs"
    await repository.request("POST", f"{path}/{what}", scope=Scope.RERUN)
    return True

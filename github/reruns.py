"""Running checks again without a new commit. A run keeps its id and gets another attempt, its jobs get new ids."""

from github.checks import Check, Kind
from github.errors import Conflict, Forbidden, Invalid, NotFound
from github.repository import Repository
from github.scopes import Scope


async def rerun(repository: Repository, check: Check) -> bool:
    """Run the failed check once more; False where GitHub cannot (another app's check, too old, running already)."""
    if check.kind is Kind.JOB and check.run_id:
        path = f"actions/runs/{check.run_id}/rerun-failed-jobs"
    elif check.kind is Kind.WORKFLOW:
        path = f"actions/runs/{check.id}/rerun"
    elif check.kind is Kind.CHECK_RUN:
        path = f"check-runs/{check.id}/rerequest"
    else:
        return False
    try:
        await repository.request("POST", path, scope=Scope.RERUN)
    except (Forbidden, Invalid, NotFound, Conflict):
        return False
    return True

"""What is known of a failing job from when it last passed: the templates of its log, and what changed since.

The templates are kept for each job, so that each passing log is fetched once. What cannot be had is left out: the
evidence is poorer then, and nothing is refused for it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import delete
from sqlalchemy.dialects import postgresql, sqlite

from github.checks.logs import FailedCheckLogs, open_log
from github.checks.passing_jobs import PassingJob, passing_job
from github.client.errors import GitHubError
from github.client.repository import RepositoryHandle
from github.repositories import queries
from loops.checks.distiller import distiller
from loops.checks.spool import spooled
from loops.context import Loop
from loops.evidence.passing.since import Since
from loops.evidence.passing.twin import Twin, load
from loops.offload import Withheld
from loops.store.service_tables import PassingLog

FORGOTTEN = 90 * 86_400.0  # seconds after which a log that nobody compared with is dropped
NAME = 300  # characters of a job's name


@dataclass(frozen=True)
class LastPassing:
    """Of one job; empty where it never passed, or nothing of that can be had."""

    twin: Twin | None = None
    since: Since | None = None


async def last_passing(
    loop: Loop, repo: RepositoryHandle, left: FailedCheckLogs, base: str | None, sha: str, *, first: bool = False
) -> LastPassing:
    """What to compare the failing job of `left` with, which ran on the commit `sha`; `base` is its base branch.
    `first`: no commit of the branch was there before."""
    if left.job is None or not left.check.run_id:
        return LastPassing()
    branches = [each for each in (base, None if first else left.check.branch) if each]
    try:
        passed = await passing_job(repo, left.job, left.check, branches)
    except GitHubError:
        return LastPassing()
    if passed is None:
        return LastPassing()
    return LastPassing(
        await _twin(loop, repo, passed, left.job.name[:NAME]),
        await _since(repo, passed, sha),
    )


async def _twin(loop: Loop, repo: RepositoryHandle, passed: PassingJob, name: str) -> Twin | None:
    async with loop.database.read() as tx:
        row = await tx.get(PassingLog, (repo.id, passed.workflow_id, name))
    known = load(row.templates) if row is not None else None
    if row is not None and row.job_id == passed.id:
        return known
    try:
        async with spooled(lambda: open_log(repo, passed.id)) as file:
            twin = await distiller(loop, repo).learned(Path(file.name))
    except (GitHubError, Withheld):  # past its retention, or no log to read: an older one is better than none
        return known
    if known is not None:
        twin = twin.and_(known)
    await _keep(loop, repo.id, passed, name, twin)
    return twin


async def _keep(loop: Loop, repository_id: int, passed: PassingJob, name: str, twin: Twin) -> None:
    now = loop.clock()
    values = {"job_id": passed.id, "templates": twin.dump(), "fetched_at": now}
    async with loop.database.write() as tx:
        insert = postgresql.insert if tx.get_bind().dialect.name == "postgresql" else sqlite.insert
        row = insert(PassingLog).values(
            repository_id=repository_id, workflow_id=passed.workflow_id, name=name, **values
        )
        key = ["repository_id", "workflow_id", "name"]
        await tx.execute(row.on_conflict_do_update(index_elements=key, set_=values))
        await tx.execute(delete(PassingLog).where(PassingLog.fetched_at < now - FORGOTTEN))


async def _since(repo: RepositoryHandle, passed: PassingJob, sha: str) -> Since | None:
    try:
        compared = await queries.compare(repo, passed.sha, sha)
    except GitHubError:
        return None
    commits = [
        f"{str(each.get('sha') or '')[:10]} {_subject(each.get('commit') or {})}"
        for each in compared.get("commits") or ()
    ]
    files = [str(each.get("filename") or "") for each in compared.get("files") or ()]
    return Since(passed.sha, passed.branch, tuple(commits), tuple(filter(None, files)))


def _subject(commit: dict[str, Any]) -> str:
    return str(commit.get("message") or "").partition("\n")[0]

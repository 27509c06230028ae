"""The check of a turn about red checks: the step that failed, read from its workflow."""

from dataclasses import dataclass
from typing import Any

from github.client.errors import GitHubError
from github.client.repository import RepositoryHandle
from github.repositories import queries
from loops.context import Loop
from loops.offload import Withheld
from loops.preparation.failed_step import FailedJob, check_of, lacking, planned
from loops.preparation.plan import Plan
from loops.preparation.run_steps import RunStep
from loops.sessions.ask import RedChecks
from loops.sessions.ask_columns import ask_of
from loops.sessions.snapshots import settings
from loops.store.tables import Session, Turn
from loops.turns.preparing.start import StartingPoint

READS, FILES = 6, 30
"""Times that files are read which those read before name, and files in all."""
LARGEST = 256 * 1024
TOLD = 3  # reasons that are named


@dataclass(frozen=True)
class StepCheck:
    """`check` in the shape of the runner's protocol, with what failed in the job (`named`: tests, places, exit code);
    None, with the reasons in `note`, where a box cannot try it."""

    check: dict[str, Any] | None = None
    note: str = ""


async def step_check(
    loop: Loop, repo: RepositoryHandle, session: Session, turn: Turn, start: StartingPoint
) -> StepCheck:
    """The first red check whose failed step a box can try; none where the settings have a check or want none. Of a fork
    nothing is read but the base."""
    about, config = ask_of(turn).about, settings(session.config)
    if not isinstance(about, RedChecks) or config.verify or not config.checks.reproduce:
        return StepCheck()
    sha = start.base_sha if session.approved_sha is not None else start.sha
    full_name = await repo.full_name()
    github = {"repository": full_name, "repository_owner": full_name.partition("/")[0], "sha": about.sha}
    github |= {"ref": f"refs/heads/{start.branch}", "ref_name": start.branch, "event_name": "push", "base_ref": ""}
    note = ""
    for check in about.checks:
        if not check.get("workflow") or not check.get("steps"):
            continue
        steps = tuple(RunStep(str(name), str(conclusion)) for name, conclusion in check["steps"])
        job = FailedJob(str(check["workflow"]), str(check["job"]), steps)
        plan = await _plan(loop, repo, session, sha, github, job)
        why = lacking(plan)
        if plan is not None and not why:
            named = {name: check.get(name) for name in ("tests", "places", "exit_code")}
            return StepCheck({**check_of(plan), "named": named})
        more = f" and {len(why) - TOLD} more" if len(why) > TOLD else ""
        note = note or f"`{job.name}` was not tried in the box, which lacks {'; '.join(why[:TOLD])}{more}."
    return StepCheck(note=note)


async def _plan(
    loop: Loop, repo: RepositoryHandle, session: Session, sha: str, github: dict[str, Any], job: FailedJob
) -> Plan | None:
    files: dict[str, str | None] = {}
    plan: Plan | None = None
    for _ in range(READS):
        try:
            plan, wanted = await loop.offload.run(session.installation_id, planned, files, github, job)
        except Withheld:
            return None
        if not wanted or len(files) + len(wanted) > FILES:
            break
        for path in sorted(wanted):
            files[path] = await _text(repo, path, sha)
    return plan


async def _text(repo: RepositoryHandle, path: str, sha: str) -> str | None:
    try:
        content = await queries.file_at(repo, path, sha)
    except GitHubError:
        return None
    return None if content is None or len(content) > LARGEST else content.decode("utf-8", "replace")

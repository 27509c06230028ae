"""What has still to come for a commit of which nothing is red, and whether it can come at all."""

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import select

from github.checks import verdict
from github.checks.expected import ACTIONS_BOT, by_a_workflow, late_workflows, workflows_at
from github.checks.model import Run, Snapshot
from github.checks.usual import Reporter, usual_reporters
from github.checks.verdict import HeadState, Verdict
from github.client.repository import RepositoryHandle
from github.repositories import queries
from github.repositories.pushes import pusher_of
from loops.context import Loop
from loops.sessions.snapshots import rules
from loops.store.database import Database
from loops.store.tables import Session, Turn

WELL = (Verdict.GREEN, Verdict.NONE)
STUCK = (*WELL, Verdict.AWAITING_APPROVAL, Verdict.MISSING_REQUIRED)
NAMED = 5
UNSTARTED = "A workflow pushed this commit with its own `GITHUB_TOKEN`, and GitHub starts no workflows for such a push"


async def all_begun(loop: Loop, repo: RepositoryHandle, session: Session, found: Snapshot, base: str | None) -> bool:
    """Whether nothing of this commit is under way, and nothing that has still to begin is to be expected."""
    if session.branch is None or found.open_suites or not all(check.completed for check in found.checks):
        return False
    paths = await workflows_at(repo, found.sha)
    if await late_workflows(repo, found.sha, found.runs, paths, branch=session.branch, base=base):
        return False
    if base is None:
        return True
    usual = await _usual(loop, repo, session, base)
    checks = rules(loop.options, session.config)
    seen = (*found.checks, *(each.check for each in found.excused))
    return all(each.reported(seen) or verdict.ignored(each.name, checks) for each in usual)


async def _usual(loop: Loop, repo: RepositoryHandle, session: Session, base: str) -> frozenset[Reporter]:
    return await usual_reporters(
        repo,
        branch=session.branch or "",
        base=base,
        earlier=await _earlier_head(loop.database, session),
        own_app_id=loop.me.app_id,
        max_age=queries.SOON,
    )


async def with_expected(
    loop: Loop,
    repo: RepositoryHandle,
    session: Session,
    found: Snapshot,
    state: HeadState,
    base: str | None,
    *,
    now: float,
) -> HeadState:
    """The state, as long as more is to be expected: workflows that the commit's own files promise, and checks that its
    like have always had. UNSTARTED where GitHub starts none. `base` is the base of its pull request.
    """
    waits_only = state.verdict is Verdict.RUNNING and bool(state.missing) and not state.running
    if session.branch is None or not (state.verdict in STUCK or waits_only):
        return state
    pushed_at = session.pushed_at or session.created_at
    ready_at = session.ready_at if (session.ready_at or 0.0) > pushed_at else None  # and this is the head since
    checks = rules(loop.options, session.config)
    late_seconds = checks.late_minutes * 60.0
    paths = await workflows_at(repo, found.sha)

    async def late(runs: Sequence[Run], pushed_to: str | None = session.branch) -> tuple[str, ...]:
        return await late_workflows(
            repo,
            found.sha,
            runs,
            paths,
            branch=pushed_to,
            base=base,
            ready_at=None if ready_at is None else ready_at + loop.github.transport.offset,
        )

    if paths and not any(_started(run) for run in found.runs):
        promised = await late([])
        if promised or state.missing:
            pusher = await pusher_of(repo, session.branch, found.sha)
            certain = pusher == ACTIONS_BOT
            if certain and state.verdict is Verdict.AWAITING_APPROVAL and not session.own_branch:
                return state  # approving is all that it takes, and nothing of ours is pushed there
            if certain or (pusher is None and await by_a_workflow(repo, found.sha)):
                quiet_until = pushed_at + (2.0 * checks.settle_seconds if certain else late_seconds)
                return _unstarted(state) if now >= quiet_until else _waiting(state, promised, quiet_until - now)
    if state.verdict not in WELL:
        return state
    left = max(pushed_at, ready_at or 0.0) + late_seconds - now
    if left > 0 and (promised := await late(found.runs)):
        if await pusher_of(repo, session.branch, found.sha) == ACTIONS_BOT:
            promised = await late(found.runs, None)  # its push starts nothing, its pull request does
        if promised:
            return _waiting(state, promised, left)
    left = pushed_at + late_seconds - now
    if base is None or found.required or left <= 0:
        return state  # where checks are required, those decide
    usual = await _usual(loop, repo, session, base)
    seen = (*found.checks, *(each.check for each in found.excused))
    absent = sorted(each.name for each in usual if not each.reported(seen) and not verdict.ignored(each.name, checks))
    return _waiting(state, absent, left) if absent else state


def _started(run: Run) -> bool:
    """Whether a run of the commit was let go; one that waits for a person says nothing yet."""
    return run.conclusion != "action_required" and run.event in ("push", "pull_request")


def _waiting(state: HeadState, names: Sequence[str], left: float) -> HeadState:
    listed = ", ".join(f"`{name}`" for name in names[:NAMED]) or "the checks"
    words = f"waiting for {listed}, which has to run and has not begun"
    return replace(state, verdict=Verdict.RUNNING, explanation=words, look_again=max(0.0, left), passing=False)


def _unstarted(state: HeadState) -> HeadState:
    return replace(state, verdict=Verdict.UNSTARTED, explanation=UNSTARTED, look_again=None)


async def _earlier_head(database: Database, session: Session) -> str | None:
    """The commit of ours that was the head before, if there was one."""
    ours = select(Turn.commit_sha).where(Turn.session_id == session.id, Turn.commit_sha.is_not(None))
    async with database.read() as tx:
        commits = list((await tx.execute(ours.order_by(Turn.number.desc()))).scalars())
    return next((sha for sha in commits if sha != session.head_sha), None)

"""Bringing one session as far as it will go now: picture, decision, step, and again until nothing is left to do."""

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import structlog
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from github.client import errors
from github.client.permanent_errors import LATE, PERMANENT, most_tries
from github.webhooks.outcomes import Change
from loops.boxes.box import look_at_box, stop_turn
from loops.boxes.capacity import call_queue
from loops.boxes.reaper import end_box_of
from loops.checks.attempt import repair
from loops.checks.look import leave_optional, look_at_checks
from loops.checks.start_checks import start_checks
from loops.comments.update_comment import update_comment
from loops.context import Loop
from loops.conversations.pull_state import ENDS, may_be_late
from loops.deliveries.uninstalled import UNINSTALLED_TRIES, is_uninstalled, uninstalled
from loops.sessions import decide
from loops.sessions.finish import finish, mark_ready
from loops.sessions.reasons import Reason
from loops.sessions.snapshots import snapshot, turns_of
from loops.store import leases
from loops.store.begun import begun, came_through
from loops.store.locking import locked
from loops.store.quarantine import put_aside
from loops.store.states import SessionStatus
from loops.store.tables import Installation, Repository, Session
from loops.turns.finishing.finish_turn import finish_turn
from loops.turns.finishing.lost_work import end_session
from loops.turns.preparing.prepare import prepare

log = structlog.get_logger(__name__)

ROUNDS = 50  # far more than any session takes in one go; an endless loop of decisions is a defect and shows as one
BACK_OFF_LIMIT = 300.0
UNTOLD_AFTER = 300  # failures in a row, about a day
MOST_DEATHS = 3
"""Processes that may end over one step of a session before it is put aside: the first may have had other reasons, and
two more end with nothing else that is suspected beside it."""
GIVE_UP_AFTER = 30  # failures in a row, about two hours of back-off

REASONS: Sequence[tuple[type[Exception] | tuple[type[Exception], ...], Reason]] = (
    (errors.InstallationSuspended, Reason.SUSPENDED),
    (errors.RepositoryArchived, Reason.ARCHIVED),
    (errors.PermissionMissing, Reason.PERMISSION_MISSING),
    ((errors.RuleViolation, errors.RefusedBranch), Reason.RULES),
    (errors.EmptyRepository, Reason.EMPTY_REPOSITORY),
    ((errors.NotFound, errors.Gone), Reason.GONE),
)

Step = Callable[[Loop, Session, Any], Awaitable[float | None]]

STEPS: Mapping[type, Step] = {
    decide.StopTurn: stop_turn,
    decide.Prepare: prepare,
    decide.LookAtBox: look_at_box,
    decide.FinishTurn: finish_turn,
    decide.LookAtChecks: look_at_checks,
    decide.RepairChecks: repair,
    decide.LeaveOptional: leave_optional,
    decide.StartChecks: start_checks,
    decide.MarkReady: mark_ready,
    decide.Finish: end_session,
}


async def advance(loop: Loop, session_id: int, *, claimed: bool = False) -> None:
    """Do all that the session needs now. Returns at once when another worker is at it; `claimed`: this one is."""
    async with begun(loop.leases, loop.suspects, Session, session_id, claimed=claimed) as deaths:
        if deaths is None:
            return
        while True:
            until = await _rounds_or_back_off(loop, session_id, deaths)
            deaths = 0
            if until is not None:
                async with loop.database.write() as tx:
                    await leases.make_due(tx, session_id, until)
            if await loop.leases.give_back(Session, session_id):
                break
            if not await loop.leases.again(Session, session_id):
                break
    loop.bus.notify(f"session:{session_id}")


async def _rounds_or_back_off(loop: Loop, session_id: int, deaths: int) -> float | None:
    try:
        if deaths >= MOST_DEATHS:
            await _set_aside(loop, session_id, deaths)
            until = None
        else:
            until = await _rounds(loop, session_id, deaths)
    except errors.RateLimited as error:
        log.warning("session.rate_limited", session=session_id, error=str(error))
        return max(float(error.retry_at), loop.clock() + 1)
    except Exception as error:
        return await _back_off(loop, session_id, error)
    async with loop.database.write() as tx:
        await tx.execute(update(Session).where(Session.id == session_id, Session.failures > 0).values(failures=0))
    return until


async def _set_aside(loop: Loop, session_id: int, deaths: int) -> None:
    """End a session over which processes end, in words, and show it to whoever runs the service."""
    async with loop.database.read() as tx:
        session = await tx.get_one(Session, session_id)
    why = f"the process ended {deaths} times over a step of it"
    await put_aside(loop.database, "session", session.public_id, why, now=loop.clock())
    await finish(loop, session, decide.Finish(SessionStatus.FAILED, reason=Reason.PUT_ASIDE))
    if deaths == MOST_DEATHS:  # else a process ended over these words, too
        await update_comment(loop, session_id)


async def _rounds(loop: Loop, session_id: int, deaths: int) -> float | None:
    for _ in range(ROUNDS):
        async with loop.database.read() as tx:
            session = await tx.get_one(Session, session_id)
            turns = await turns_of(tx, session_id)
            waits = session.status is SessionStatus.WAITING
            waiting = await loop.waiting.count(tx, session.installation_id, loop.clock()) if waits else 0
        action = decide.decide(snapshot(session, turns, loop.options, loop.clock(), waiting=waiting))
        if isinstance(action, decide.Sleep):
            later = await update_comment(loop, session_id)
            return min((at for at in (action.until, later) if at is not None), default=None)
        log.info("session.step", session=session.public_id, step=type(action).__name__)
        if isinstance(action, decide.FinishTurn):
            await call_queue(loop)  # the box is free from the report on
        until = await STEPS[type(action)](loop, session, action)
        if deaths:
            await came_through(loop.leases, Session, session_id)
        if isinstance(action, decide.Finish):
            await call_queue(loop)
            await end_box_of(loop, session)
        loop.bus.notify(f"session:{session_id}")
        if until is not None:
            await update_comment(loop, session_id)
            return until
    raise RuntimeError(f"session {session_id} did not come to rest in {ROUNDS} rounds")


def reason_of(error: Exception) -> str:
    """Why a session ends that `error` ended, with the error itself as the operator's detail."""
    for kinds, reason in REASONS:
        if isinstance(error, kinds):
            return f"{reason}: {type(error).__name__}: {error}"
    return f"{Reason.INTERNAL}: {type(error).__name__}: {error}"


async def _back_off(loop: Loop, session_id: int, error: Exception) -> float | None:
    """Record the failure and say when to try again; a failure that cannot pass, or lasts, ends the session in words."""
    async with loop.database.write() as tx:
        session = await locked(tx, Session, session_id)
        session.failures += 1
        failures = session.failures
        lost = await _is_lost(tx, session, error)
    gone = is_uninstalled(error)
    tries = 1 if lost else UNINSTALLED_TRIES if gone else most_tries(error, GIVE_UP_AFTER)
    # what fails in a row may fail of different things: just after our push none of it says that something is not there
    young = isinstance(error, LATE) and not lost and may_be_late(session, loop.clock())
    final = failures >= tries and not young
    log.warning("session.failed_step", session=session_id, failures=failures, final=final, exc_info=error)
    if not final:
        delay = min(BACK_OFF_LIMIT, 0.5 * 2 ** min(failures, 12))
        return float(loop.clock() + delay * random.uniform(0.8, 1.2))  # noqa: S311
    if gone:
        await uninstalled(loop, session.installation_id)
        await finish(loop, session, decide.Finish(SessionStatus.CANCELLED, reason=ENDS[Change.UNINSTALLED]))
        return None  # nobody can be told
    if session.cancel_by is not None:  # it was to end anyway, and that is why it ends
        await finish(loop, session, decide.Finish(SessionStatus.CANCELLED, reason=decide.cancelled(session.cancel_by)))
    else:
        await finish(loop, session, decide.Finish(SessionStatus.FAILED, reason=reason_of(error)))
    try:
        await update_comment(loop, session_id)
    except errors.GitHubError as untold:
        log.warning("session.untold", session=session_id, error=str(untold))
        # people are told when GitHub answers again, for as long as that may take on a bad day
        if failures < UNTOLD_AFTER and not isinstance(untold, (*PERMANENT, *LATE)):
            return loop.clock() + BACK_OFF_LIMIT
    return None


async def _is_lost(tx: AsyncSession, session: Session, error: Exception) -> bool:
    """Whether `error` says no more than GitHub has told: that the App may not work in the session's repository now."""
    installation = await tx.get(Installation, session.installation_id)
    if isinstance(error, errors.InstallationSuspended):
        return installation is not None and installation.suspended_at is not None
    repository = await tx.get_one(Repository, session.repository_id)
    gone = repository.removed_at is not None or (installation is not None and installation.removed_at is not None)
    return gone and isinstance(error, (*PERMANENT, *LATE))

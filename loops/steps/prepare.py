"""A queued turn becomes a ready one: its place in line, its runtime, its commit, its prompt, its box."""

import structlog
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from k8s.boxes import BoxesUnavailable, BoxState
from loops import decide, journal
from loops.context import Loop
from loops.steps.admission import admit
from loops.steps.box import ensure_box, name_of, running
from loops.steps.prompting import prompt_of
from loops.steps.runtime import CannotRun, limits_of, runtime_of, spec_of
from loops.steps.start import CannotStart, handle, start_of
from loops.tables import Repository, Session, Turn

log = structlog.get_logger(__name__)

LINE_SECONDS = 2.0
BOX_RETRY_SECONDS = 5.0
FULL_SECONDS = 15.0


async def prepare(loop: Loop, session: Session, action: decide.Prepare) -> float | None:
    """Make the turn ready for its box. The time to look again, when it has to wait for its place or for a box."""
    async with loop.database.read() as tx:
        turn = await tx.get_one(Turn, action.turn)
        repository = await tx.get_one(Repository, session.repository_id)
        if await running(tx, session.installation_id) >= loop.options.running_sessions:
            return loop.clock() + LINE_SECONDS
    repo = handle(loop, repository)
    try:
        await admit(loop, repo, session)
        start = await start_of(loop, repo, session, turn)
        chosen = await runtime_of(loop, session)
        prompt = await prompt_of(loop, repo, session, turn, start)
        spec = spec_of(loop, chosen, prompt, repository, start, session, turn)
    except (CannotStart, CannotRun) as error:
        await _refuse(loop, session, turn, error.reason, str(error))
        return None
    try:
        status = await ensure_box(loop, session)
    except BoxesUnavailable as error:
        log.warning("box.unavailable", session=session.public_id, error=str(error))
        return loop.clock() + BOX_RETRY_SECONDS
    if status.permanent:
        await _refuse(loop, session, turn, "box_lost", status.message)
        return None
    now = loop.clock()
    if status.state is BoxState.UNSCHEDULABLE:
        # Full for now: the turn keeps its place, and asks again.
        log.info("box.full", session=session.public_id, message=status.message)
        return now + FULL_SECONDS
    box = name_of(loop, session)
    async with loop.database.write() as tx:
        turn = await tx.get_one(Turn, action.turn)
        if turn.status != "queued":
            return None
        turn.runtime, turn.model = chosen.runtime.name, chosen.model
        turn.profile_id = chosen.profile.id if chosen.profile else None
        turn.spec = spec
        turn.limits = limits_of(loop, session)
        turn.base_sha = start.sha
        turn.box, turn.status, turn.started_at = box, "ready", now
        fresh = await tx.get_one(Session, session.id)
        fresh.status = "running"
        fresh.branch, fresh.base_branch = start.branch, start.base_branch
        fresh.started_at = fresh.started_at or now
        text = f"turn {turn.number}: {turn.runtime} on {start.sha[:12]}, in {box}"
        await journal.append(tx, session.id, [("status", {"text": text})], at=now, turn_id=turn.id)
    await loop.bus.notify(f"box:{box}")
    return None


async def _refuse(loop: Loop, session: Session, turn: Turn, reason: str, message: str) -> None:
    async with loop.database.write() as tx:
        row = await tx.get_one(Turn, turn.id)
        row.status, row.error, row.finished_at = "failed", reason, loop.clock()
        fresh = await tx.get_one(Session, session.id)
        if message and message not in fresh.notes:
            fresh.notes = [*fresh.notes, message]


async def place_in_line(tx: AsyncSession, session: Session, turn: Turn) -> int:
    """How many turns of the installation are to be started before this one, and itself."""
    found = await tx.execute(
        select(func.count())
        .select_from(Turn)
        .join(Session, Session.id == Turn.session_id)
        .where(Session.installation_id == session.installation_id, Turn.status == "queued", Turn.id <= turn.id)
    )
    return found.scalar_one()

"""A queued turn becomes a ready one: its place in line, its runtime, its commit, its prompt, its box."""

import random
from dataclasses import dataclass
from typing import Any

import structlog

from github.client.repository import RepositoryHandle
from github.repositories import queries
from github.threads import comments
from k8s.boxes import BoxesUnavailable, BoxState
from loops.accounts.choice import AccountLimited, CannotRun
from loops.boxes.box import ensure_box, make_room, stop_boxes
from loops.boxes.capacity import bounds, read_queue, take_slot
from loops.boxes.queue import Wait, words
from loops.context import Clock, Loop
from loops.conversations.withdrawing import withdraw
from loops.prompts.render import VERSION
from loops.sessions import decide
from loops.sessions.ask_columns import ask_of, source_of
from loops.sessions.caps import Caps
from loops.sessions.spending import spent_before
from loops.sessions.transitions import move_session, move_turn
from loops.store import journal
from loops.store.database import Database
from loops.store.locking import locked
from loops.store.states import SessionStatus, TurnStatus
from loops.store.tables import Box, Repository, Session, Turn
from loops.turns.finishing.lost_work import keep_lost_work
from loops.turns.preparing import images, unfinished_work
from loops.turns.preparing.admission import admit
from loops.turns.preparing.checking import verification_of
from loops.turns.preparing.env import env_of
from loops.turns.preparing.limits import limits_of
from loops.turns.preparing.ownership import is_still_theirs
from loops.turns.preparing.prompting import prompt_of
from loops.turns.preparing.runtime import in_box, runtime_of, spec_of
from loops.turns.preparing.start import CannotStart, start_of
from loops.turns.preparing.step_check import step_check
from loops.turns.try_again import clock

log = structlog.get_logger(__name__)

PLACE_SECONDS, LONGEST_WAIT = 15.0, 300.0
"""How often a turn in line looks by itself: for each place before it, at most. It is called when its time comes."""
BOX_RETRY_SECONDS = 5.0
FULL_SECONDS = 15.0
UNREACHABLE = "The place that holds the boxes does not answer."
NOTHING_LOST = "Nothing is lost: the turn begins once there are boxes again."
GOING = (BoxState.LOST, BoxState.EVICTED, BoxState.OOM_KILLED, BoxState.UNKNOWN)
"""What is there is a pod that has had its day and is not quite gone: on a node that is lost that takes minutes."""


async def prepare(loop: Loop, session: Session, action: decide.Prepare) -> float | None:
    """Make the turn ready for its box. The time to look again, when it has to wait for its place or for a box."""
    async with loop.database.read() as tx:
        turn = await tx.get_one(Turn, action.turn)
        repository = await tx.get_one(Repository, session.repository_id)
        if turn.retry_at is not None and turn.retry_at > loop.clock():
            return turn.retry_at
        verdict = None if turn.box else (await read_queue(tx, loop, turn_id=turn.id)).get(turn.id)
    if isinstance(verdict, Wait):
        return await _in_line(loop, turn, verdict)
    # one that has its place already asks for its box first: as a rule that is what it waits for
    placed = await _place(loop, session, turn) if turn.box else None
    if placed is not None and placed.box is None:
        return placed.again
    repo = loop.handle(repository)
    try:
        await admit(loop, repo, session, turn)
        start = await start_of(loop, repo, session, turn)
        if not await is_still_theirs(loop, repo, session, turn, start):
            return loop.clock()
        if not await _still_asked(repo, session, turn):
            await _withdraw(loop.clock, loop.database, session, turn)
            return None
        chosen = await runtime_of(loop, session, turn)
        wanted = await env_of(loop.database, session, start, repository.full_name)
        step = await step_check(loop, repo, session, turn, start)
        verification = verification_of(session, turn, step.check)
        await keep_lost_work(loop, session)
        told = await prompt_of(loop, repo, session, turn, start, wanted, chosen.runtime.name, verification)
        limits = await _limits(loop, session, turn)
        shown = await images.images_of(repo, ask_of(turn)) if chosen.runtime.shows_images else ()
        spec = spec_of(loop, chosen, told, repository, start, session, turn, wanted, limits, verification, shown)
    except (CannotStart, CannotRun) as error:
        await _refuse(loop, session, turn, error.reason, str(error))
        return None
    except AccountLimited as limited:
        return await _spare(loop, turn, limited)
    placed = placed or await _place(loop, session, turn)
    if placed.box is None:
        return placed.again
    now = loop.clock()
    async with loop.database.write() as tx:
        turn = await locked(tx, Turn, action.turn)
        if turn.status != TurnStatus.QUEUED:
            return None
        turn.runtime, turn.model = chosen.runtime.name, chosen.model
        turn.profile_id = chosen.profile.id if chosen.profile else None
        turn.spec = spec
        if told.left_work is not None:
            await unfinished_work.give(tx, turn, told.left_work)
        await images.give(tx, turn, shown)
        turn.limits = limits
        turn.base_sha = start.sha
        move_turn(turn, TurnStatus.READY)
        turn.started_at = now
        turn.waits = placed.message or None
        fresh = await locked(tx, Session, session.id)
        move_session(fresh, SessionStatus.RUNNING, now)
        fresh.branch, fresh.base_branch = start.branch, start.base_branch
        fresh.started_at = fresh.started_at or now
        notes = [chosen.warning or "", step.note, wanted.note(repository.full_name) if wanted else ""]
        fresh.notes = [*fresh.notes, *(note for note in notes if note and note not in fresh.notes)]
        text = f"turn {turn.number}: {turn.runtime} on {start.sha[:12]}, in {placed.box.name}, "
        text += f"told in {len(told.text):,} characters ({turn.kind.value} prompt, version {VERSION})"
        if chosen.profile is not None and in_box(chosen.profile, loop.options):
            text += f"; the login of the account {chosen.profile.name!r} is in this box (GREENLOOP_BOX_LOGINS)"
        await journal.append(tx, session.id, [("status", {"text": text})], at=now, turn_id=turn.id)
    loop.bus.notify(f"box:{placed.box.name}")
    return None


@dataclass(frozen=True)
class _Placed:
    """The turn's box, or when to look again (None: its fate is sealed). `message`: what the box still waits for."""

    box: Box | None = None
    again: float | None = None
    message: str = ""


async def _place(loop: Loop, session: Session, turn: Turn) -> _Placed:
    """Take a place for the turn and make its box."""
    slot = await take_slot(loop, session, turn.id)
    if isinstance(slot, Wait):
        return _Placed(again=await _in_line(loop, turn, slot))
    if slot is None:
        return _Placed()
    try:
        await stop_boxes(loop.boxes, *slot.ends)
        status = await ensure_box(loop, slot.box, idle=True)
    except BoxesUnavailable as error:
        log.warning("box.unavailable", session=session.public_id, error=str(error))
        await _say(loop.clock, loop.database, turn, f"{error.told or UNREACHABLE} {NOTHING_LOST}")
        return _Placed(again=loop.clock() + BOX_RETRY_SECONDS)
    if status.permanent:
        await _refuse(loop, session, turn, "box_failed", status.message)
        return _Placed()
    if status.state in GOING:
        log.info("box.going", session=session.public_id, message=status.message)
        return _Placed(again=loop.clock() + BOX_RETRY_SECONDS)
    if status.state is not BoxState.FULL:
        return _Placed(slot.box, message=status.message)
    # The cluster holds less than our own limits allow: the turn keeps its place, and asks again.
    log.info("box.full", session=session.public_id, message=status.message)
    await _say(loop.clock, loop.database, turn, status.message)
    made = await make_room(loop, slot.box.name)
    return _Placed(again=loop.clock() + (BOX_RETRY_SECONDS if made else FULL_SECONDS))


async def _in_line(loop: Loop, turn: Turn, wait: Wait) -> float:
    await _say(loop.clock, loop.database, turn, words(wait, bounds(loop.options)))
    pause = min(LONGEST_WAIT, PLACE_SECONDS * wait.place)
    return loop.clock() + pause * random.uniform(0.8, 1.2)  # noqa: S311  they must not all come at once


async def _spare(loop: Loop, turn: Turn, limited: AccountLimited) -> float:
    """Leave the account alone as long as its provider wants, with this turn too; when to look again."""
    at = limited.until + random.uniform(0, 2)  # noqa: S311  they must not all come at once
    await _say(loop.clock, loop.database, turn, f"{limited}: the turn begins at {clock(at, loop.clock())}.")
    async with loop.database.write() as tx:
        (await locked(tx, Turn, turn.id)).retry_at = at
    return at


async def _say(clock: Clock, database: Database, turn: Turn, text: str) -> None:
    """What the turn waits for, told once."""
    if turn.waits == text:
        return
    async with database.write() as tx:
        row = await locked(tx, Turn, turn.id)
        row.waits = text
        await journal.append(tx, row.session_id, [("status", {"text": text})], at=clock(), turn_id=row.id)


async def _still_asked(repo: RepositoryHandle, session: Session, turn: Turn) -> bool:
    """Whether the comment that asked is there: the webhook about its deletion may have come before its own, or not."""
    source = source_of(turn)
    if source is None or turn.handed_at is not None:
        return True
    return await comments.still_there(repo, session.subject_number or 0, source, max_age=queries.STEP)


async def _withdraw(clock: Clock, database: Database, session: Session, turn: Turn) -> None:
    async with database.write() as tx:
        await withdraw(tx, session.repository_id, int(turn.source["id"]), clock())


async def _limits(loop: Loop, session: Session, turn: Turn) -> dict[str, Any]:
    """The turn's caps. Raises CannotRun where its session has used one of them up."""
    async with loop.database.read() as tx:
        before = await spent_before(tx, turn)
    limits = limits_of(loop, session, ask_of(turn).options, before)
    if (over := Caps.of(limits).used_up(before)) is not None:
        raise CannotRun("", over.reason)
    return limits


async def _refuse(loop: Loop, session: Session, turn: Turn, reason: str, message: str) -> None:
    async with loop.database.write() as tx:
        row = await locked(tx, Turn, turn.id)
        move_turn(row, TurnStatus.FAILED)
        row.error, row.finished_at, row.waits = reason, loop.clock(), None
        fresh = await locked(tx, Session, session.id)
        if message and message not in fresh.notes:
            fresh.notes = [*fresh.notes, message]

"""The box of a turn: made before it, looked up when something is wrong with it, told to stop."""

from typing import Any

import structlog
from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from github.client.errors import GitHubError
from k8s.boxes import Boxes, BoxesUnavailable, BoxSpec, BoxState, BoxStatus
from loops.accounts.box_secrets import CannotPrepare
from loops.accounts.credentials import TurnCredentials
from loops.boxes.box_failure import BoxFailure, Held, Patience, failure_of, look_again
from loops.boxes.capacity import end_longest_idle
from loops.boxes.owners import SHARED
from loops.context import Loop
from loops.options import LoopOptions
from loops.protocol.tokens import token
from loops.sessions import decide
from loops.sessions.transitions import move_turn
from loops.store import journal
from loops.store.locking import lock_box, locked
from loops.store.states import TurnStatus
from loops.store.tables import Box, Person, Session, Turn

log = structlog.get_logger(__name__)

ONCE_MORE = "The turn is tried once more in a fresh box."
MENDABLE = (BoxState.IMAGE_ERROR, BoxState.UNSCHEDULABLE)
"""What a pod that has not begun may wait for, and what somebody may mend."""
UNSEEN_SECONDS = 5.0
"""How soon a box is looked up again after the place that holds it did not answer."""


async def ensure_box(loop: Loop, box: Box, *, idle: bool = False) -> BoxStatus:
    """Make the box or find it; `idle`: no turn runs in it. Raises BoxesUnavailable."""
    labels = {"instance": loop.instance}
    if box.installation_id is not None:
        labels |= {"installation": str(box.installation_id), "person": str(box.person_id or SHARED)}
    if box.repository_id is not None:
        labels["repository"] = str(box.repository_id)
    if box.session_id is not None:
        labels["session"] = str(box.session_id)
    if box.person_id is not None:
        async with loop.database.read() as tx:
            person = await tx.get(Person, box.person_id)
        labels["login"] = person.login if person else ""
    return await loop.boxes.ensure(
        BoxSpec(
            name=box.name,
            owner_key=box.owner_key or "",
            labels=labels,
            token=token(loop.box_key, box.name, box.generation),
            service_url=loop.service_url,
            idle=idle,
        )
    )


async def stop_boxes(boxes: Boxes, *names: str) -> None:
    """End the boxes. One that cannot be reached now is ended by the reaper, for its row says that it is stopped."""
    for name in names:
        try:
            await boxes.stop(name)
        except BoxesUnavailable as error:
            log.warning("box.unstopped", box=name, error=str(error))


async def make_room(loop: Loop, but: str) -> bool:
    """End the box that is idle longest, for the cluster has no room for the box `but`. Whether there was one."""
    victim = await end_longest_idle(loop.clock, loop.database, but)
    if victim is not None:
        log.info("box.makes_room", box=victim, room_for=but)
        await stop_boxes(loop.boxes, victim)
    return victim is not None


async def stop_turn(loop: Loop, session: Session, action: decide.StopTurn) -> None:
    """Leave word for the box: its runner reads it with the answer to its next report."""
    async with loop.database.write() as tx:
        await tx.execute(
            update(Turn).where(Turn.id == action.turn, Turn.stop_reason.is_(None)).values(stop_reason=action.reason)
        )


async def look_at_box(loop: Loop, session: Session, action: decide.LookAtBox) -> float | None:
    """A box in trouble, or silent: nothing is concluded from our not seeing it; a lost one costs one more try."""
    async with loop.database.read() as tx:
        turn = await tx.get_one(Turn, action.turn)
        name = turn.box or ""
        box = await tx.get(Box, name)
        held = _held(loop.options, turn, box, await _deaf(tx, loop, turn))
    try:
        status = await loop.boxes.status(name)
        if turn.handed_at is None and box is not None and status.state in MENDABLE and not status.permanent:
            # it may have been mended meanwhile: in the settings, or where its image comes from
            status = await ensure_box(loop, box, idle=True)
        failure = failure_of(status, held, _patience(loop), loop.clock())
        if failure.what != "wait" and status.state is not BoxState.ABSENT:
            # before its place is free: what still runs in it must not meet the next turn
            await loop.boxes.stop(name)
    except BoxesUnavailable as error:
        log.warning("box.unseen", box=name, error=str(error))
        return loop.clock() + UNSEEN_SECONDS
    if failure.what != "wait":
        log.warning(
            "box.lost", box=name, state=status.state.value, turn=turn.public_id, failure=failure.what, why=failure.text
        )
    async with loop.database.write() as tx:
        await lock_box(tx, name)
        fresh = await locked(tx, Turn, action.turn)
        if fresh.status not in (TurnStatus.READY, TurnStatus.RUNNING):
            return None
        if fresh.trouble_at == turn.trouble_at:
            fresh.trouble_at = None
        await _meet(tx, loop, fresh, failure)
    if failure.what != "wait":
        loop.on_box_lost(status.state.value)
        await _end_tokens(loop, fresh)
    if failure.what == "wait":
        if status.crowded:
            await make_room(loop, name)
        return loop.clock() + look_again(status, held, _patience(loop), loop.clock())
    return None


async def _end_tokens(loop: Loop, turn: Turn) -> None:
    """Revoke what a box that is lost had to fetch with."""
    credentials = TurnCredentials(loop.database, loop.vault)
    try:
        for token in await credentials.lent(turn):
            await loop.github.revoke(token)
            await credentials.returned(turn, token)
    except (CannotPrepare, GitHubError) as error:
        log.warning("box.token_left", turn=turn.public_id, error=str(error))  # it ends by itself within the hour


async def _meet(tx: AsyncSession, loop: Loop, turn: Turn, failure: BoxFailure) -> None:
    now = loop.clock()
    if failure.text and failure.text != turn.waits:
        await journal.append(tx, turn.session_id, [("status", {"text": failure.text})], at=now, turn_id=turn.id)
    if failure.what == "wait":
        turn.waits = (failure.text or None) if turn.handed_at is None else turn.waits
        return
    await tx.execute(update(Box).where(Box.name == turn.box).values(stopped_at=now))
    if failure.what == "again":
        restart_turn(turn, f"{failure.text} {ONCE_MORE}")
        return
    move_turn(turn, TurnStatus.FAILED)
    turn.error, turn.finished_at, turn.waits = failure.reason, now, None
    session = await locked(tx, Session, turn.session_id)
    if failure.text not in session.notes:
        session.notes = [*session.notes, failure.text]


async def why_stopped(boxes: Boxes, box: str) -> str:
    """What became of a box whose runner said that it was stopped, in words; empty when nobody knows."""
    try:
        status = await boxes.status(box)
    except BoxesUnavailable:
        return ""
    return "" if status.usable else status.message


def restart_turn(turn: Turn, why: str, *, retry_at: float | None = None) -> None:
    """Queue the turn once more, and tell `why`; under another marker, since the old processes may still live.

    `retry_at`: not before, and not because a box was lost.
    """
    if retry_at is None:
        turn.lost += 1
    else:
        turn.retries += 1
    _queue_again(turn, why, retry_at)


def next_round(turn: Turn, why: str, made: dict[str, Any]) -> None:
    """Have the turn's agent go on with what it has `made`, which did not pass its check."""
    turn.rounds = [*turn.rounds, made]
    _queue_again(turn, why, None)


def _queue_again(turn: Turn, why: str, retry_at: float | None) -> None:
    turn.retry_at, turn.refused_until = retry_at, None
    move_turn(turn, TurnStatus.QUEUED)
    turn.box, turn.result, turn.handed_at, turn.heartbeat_at = None, None, None, None
    turn.token_hash = None
    turn.changed_files, turn.plan = [], None
    turn.output_offset, turn.parser_state, turn.trouble_at, turn.begun_at = 0, {}, None, None
    turn.marker = f"{turn.marker.partition('_')[0]}_{turn.lost + turn.retries + len(turn.rounds)}"
    turn.waits = why or None


def _checked(turn: Turn) -> float:
    """Seconds that setting the box up and running its check may take, before the agent and after it."""
    wanted = (turn.spec or {}).get("verification") or {}
    return 2 * (float(wanted.get("setup_seconds") or 0) + float(wanted.get("seconds") or 0))


def _held(options: LoopOptions, turn: Turn, box: Box | None, deaf: bool) -> Held:
    return Held(
        lost=turn.lost,
        since=turn.started_at or turn.created_at,
        handed_at=turn.handed_at,
        heard_at=turn.heartbeat_at,
        seconds=float(turn.limits.get("seconds") or options.turn_seconds) + _checked(turn),
        deaf=deaf,
        forgotten=box is not None and box.stopped_at is not None,
    )


def _patience(loop: Loop) -> Patience:
    options = loop.options
    return Patience(options.box_silence, options.box_start_seconds, options.box_room_minutes * 60)


async def _deaf(tx: AsyncSession, loop: Loop, turn: Turn) -> bool:
    """Whether other turns run and none of them was heard of lately either: then it is the service that was away."""
    others = select(func.count(), func.max(Turn.heartbeat_at)).where(
        Turn.status == TurnStatus.RUNNING, Turn.id != turn.id
    )
    count, heard = (await tx.execute(others)).one()
    return bool(count) and (heard or 0.0) < loop.clock() - loop.options.box_silence

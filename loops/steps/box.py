"""The box of a turn: made before it, looked up when it falls silent, told to stop."""

import base64
import hashlib
import hmac

import structlog
from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from k8s.boxes import BoxesUnavailable, BoxSpec, BoxState, BoxStatus, box_name
from loops import decide, journal
from loops.context import Loop
from loops.tables import Box, Session, Turn

log = structlog.get_logger(__name__)

LOST_LIMIT = 1  # a turn is tried once more on a fresh box, then given up
SHARED = 0  # the person of a box that belongs to the installation itself


def name_of(loop: Loop, session: Session) -> str:
    """The name of the box that this session's turns run in."""
    return box_name(loop.instance, session.installation_id, session.owner_id or SHARED)


def token(key: bytes, name: str, generation: int) -> str:
    """The box's token: derived, so that any worker can make it again and only its hash is stored."""
    digest = hmac.digest(key, f"box:{name}:{generation}".encode(), "sha256")
    return "glb_" + base64.urlsafe_b64encode(digest).decode().rstrip("=")


async def ensure_box(loop: Loop, session: Session) -> BoxStatus:
    """Make the session's box or find it. Raises BoxesUnavailable."""
    name = name_of(loop, session)
    now = loop.clock()
    async with loop.database.write() as tx:
        box = await tx.get(Box, name)
        if box is None:
            box = Box(
                name=name,
                installation_id=session.installation_id,
                person_id=session.owner_id,
                token_hash=_hash(token(loop.box_key, name, 1)),
                generation=1,
                used_at=now,
                created_at=now,
            )
            tx.add(box)
        elif box.token_hash != _hash(token(loop.box_key, name, box.generation)):
            box.generation += 1  # the key was rotated: the old token cannot be made again
            box.token_hash = _hash(token(loop.box_key, name, box.generation))
        box.used_at, box.stopped_at = now, None
        generation = box.generation
    return await loop.boxes.ensure(
        BoxSpec(
            name=name,
            owner_key=str(session.owner_id or SHARED),
            labels={
                "instance": loop.instance,
                "installation": str(session.installation_id),
                "person": str(session.owner_id or SHARED),
            },
            token=token(loop.box_key, name, generation),
            service_url=loop.service_url,
        )
    )


async def stop_turn(loop: Loop, session: Session, action: decide.Stop) -> None:
    """Leave word for the box: its runner reads it with the answer to its next report."""
    async with loop.database.write() as tx:
        await tx.execute(
            update(Turn).where(Turn.id == action.turn, Turn.stop_reason.is_(None)).values(stop_reason=action.reason)
        )


async def look_at_box(loop: Loop, session: Session, action: decide.LookAtBox) -> float | None:
    """A silent box: nothing is concluded from our not seeing it; a lost one costs the turn one more try."""
    async with loop.database.read() as tx:
        turn = await tx.get_one(Turn, action.turn)
    again = loop.clock() + loop.options.box_silence
    try:
        status = await loop.boxes.status(turn.box or name_of(loop, session))
    except BoxesUnavailable as error:
        log.warning("box.unseen", box=turn.box, error=str(error))
        return again
    if status.state is BoxState.UNKNOWN:
        return again
    if status.may_come and not _overdue(loop, turn):
        if status.message:
            async with loop.database.write() as tx:
                await journal.append(
                    tx, session.id, [("status", {"text": status.message})], at=loop.clock(), turn_id=turn.id
                )
        return again
    log.warning("box.lost", box=turn.box, state=status.state.value, turn=turn.public_id, message=status.message)
    what = status.message or f"the box is {status.state.value}"
    async with loop.database.write() as tx:
        turn = await tx.get_one(Turn, action.turn)
        if turn.status not in ("ready", "running"):
            return None
        if turn.lost >= LOST_LIMIT or status.permanent:
            turn.status, turn.error, turn.finished_at = "failed", "box_lost", loop.clock()
            await _note(tx, session.id, f"The box was lost: {what}.")
        else:
            await restart_turn(tx, turn)
        await journal.append(tx, session.id, [("status", {"text": what})], at=loop.clock(), turn_id=turn.id)
    if status.state is not BoxState.ABSENT:
        await loop.boxes.stop(status.name)
    return None


async def restart_turn(tx: AsyncSession, turn: Turn) -> None:
    """Queue the turn once more, on a fresh box; under another marker, since the old processes may still live."""
    turn.lost += 1
    turn.status, turn.result, turn.handed_at, turn.heartbeat_at = "queued", None, None, None
    turn.output_offset, turn.parser_state = 0, {}
    turn.marker = f"{turn.marker.partition('_')[0]}_{turn.lost}"


async def running(tx: AsyncSession, installation_id: int) -> int:
    """Turns of the installation that have, or are about to have, a box at work."""
    found = await tx.execute(
        select(func.count())
        .select_from(Turn)
        .join(Session, Session.id == Turn.session_id)
        .where(Session.installation_id == installation_id, Turn.status.in_(("ready", "running")))
    )
    return found.scalar_one()


def _overdue(loop: Loop, turn: Turn) -> bool:
    """Whether even a box that looks well has had its time: the runner ends turns by itself well before this."""
    seconds = float(turn.limits.get("seconds") or loop.options.turn_seconds)
    begun = turn.handed_at or turn.started_at or turn.created_at
    if turn.handed_at is None:
        return loop.clock() > begun + 3 * loop.options.box_start_seconds
    silent = loop.clock() - (turn.heartbeat_at or begun)
    return silent > 5 * loop.options.box_silence or loop.clock() > begun + 2 * seconds + 600


async def _note(tx: AsyncSession, session_id: int, text: str) -> None:
    session = await tx.get_one(Session, session_id)
    if text not in session.notes:
        session.notes = [*session.notes, text]


def _hash(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()

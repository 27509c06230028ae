"""Which turn a box gets. At most one runs in a box; it may be handed out any number of times until its agent starts."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy import or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from loops.protocol.tokens import turn_token
from loops.secrets.token_hash import token_hash
from loops.sessions.transitions import move_turn
from loops.store.leases import make_due
from loops.store.locking import locked
from loops.store.states import TurnStatus
from loops.store.tables import Box, Turn

log = structlog.get_logger(__name__)

FORGOTTEN_AFTER = 30.0
"""Seconds without a sign of life after which a runner that does not know its turn is believed to have lost it."""


@dataclass(frozen=True)
class Assignment:
    """`turn`: to be started now, with `token`, which is its own."""

    turn: Turn
    token: str


async def is_waiting(tx: AsyncSession, box: str) -> bool:
    """Whether the box has a turn to start or to go on with: cheap, for polling."""
    found = await tx.execute(
        select(Turn.id)
        .where(Turn.box == box, or_(Turn.status == TurnStatus.READY, Turn.status == TurnStatus.RUNNING))
        .limit(1)
    )
    return found.first() is not None


async def take(
    tx: AsyncSession, box: str, shown: str, key: bytes, *, holding: str | None, now: float
) -> Assignment | None:
    """What the runner of `box`, which has shown the box's token and holds the turn `holding` (public id) or none,
    should start. `key`: tokens are derived from it.

    A running turn is handed out again until its agent starts, so that an answer lost on its way costs nothing; then
    neither it nor another is, since whoever asks may be an agent that learned its box's token. A runner that knows
    nothing of its turn for `FORGOTTEN_AFTER` looks just like that: its box is given up, and ends before anything else
    is handed out in its place.
    """
    # also makes two requests of one box queue up behind each other; while one waited the box may have been given up
    own = or_(Box.token_hash == token_hash(shown), Box.former_hash == token_hash(shown))
    asks = update(Box).where(Box.name == box, Box.stopped_at.is_(None), own).values(seen_at=now)
    if (await tx.execute(asks.returning(Box.name))).scalar_one_or_none() is None:
        return None
    turn = await _oldest(tx, box, TurnStatus.RUNNING)
    if turn is not None:
        if holding == turn.public_id:
            return None
        if turn.begun_at is None:
            return _with_token(turn, key)
        if now - (turn.heartbeat_at or turn.handed_at or 0.0) > FORGOTTEN_AFTER:
            log.warning("box.forgot_its_turn", box=box, turn=turn.public_id)
            await tx.execute(update(Box).where(Box.name == box).values(stopped_at=now))
            turn.trouble_at = now
            await make_due(tx, turn.session_id, now)
        return None
    ready = await _oldest(tx, box, TurnStatus.READY)
    turn = await locked(tx, Turn, ready.id) if ready is not None else None
    if turn is None or turn.status is not TurnStatus.READY or turn.box != box:
        return None
    move_turn(turn, TurnStatus.RUNNING)
    turn.waits = None
    await make_due(tx, turn.session_id, now)  # the comment still says that it waits
    turn.handed_at = turn.heartbeat_at = now
    turn.started_at = turn.started_at or now
    log.info("turn.handed_out", turn=turn.public_id, box=box)
    return _with_token(turn, key)


def _with_token(turn: Turn, key: bytes) -> Assignment:
    token = turn_token(key, turn)
    turn.token_hash = token_hash(token)
    return Assignment(turn, token)


async def forget_former_token(tx: AsyncSession, box: str) -> None:
    """The box knows its new token."""
    await tx.execute(update(Box).where(Box.name == box).values(former_hash=None))


async def _oldest(tx: AsyncSession, box: str, status: str) -> Turn | None:
    found = await tx.execute(select(Turn).where(Turn.box == box, Turn.status == status).order_by(Turn.id).limit(1))
    return found.scalars().first()


def as_told(given: Assignment, env: Mapping[str, str], files: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The turn as the runner is told it: its `spec` with the secrets, which are added here and nowhere else."""
    turn = given.turn
    told: dict[str, Any] = copy.deepcopy(turn.spec or {})
    for ours in ("request", "env_file", "prompt_version"):
        told.pop(ours, None)  # what secrets are made from at hand-out: the service's own
    told["turn"], told["token"] = turn.public_id, given.token
    told["marker"] = turn.marker
    told["env"] = {**told.get("env", {}), **env}
    told["files"] = [*told.get("files", []), *files]
    told["limits"] = {**told.get("limits", {}), **turn.limits}
    return told

"""Which turn a box gets. At most one runs in a box; handing one out may happen any number of times."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy import or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from loops.runtimes import registry
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
    """`turn`: to be started now. `forgotten`: the box's running turn, of which its runner knows nothing any more."""

    turn: Turn | None = None
    forgotten: Turn | None = None


async def is_waiting(tx: AsyncSession, box: str) -> bool:
    """Whether the box has a turn to start or to go on with: cheap, for polling."""
    found = await tx.execute(
        select(Turn.id)
        .where(Turn.box == box, or_(Turn.status == TurnStatus.READY, Turn.status == TurnStatus.RUNNING))
        .limit(1)
    )
    return found.first() is not None


async def take(tx: AsyncSession, box: str, *, holding: str | None, now: float) -> Assignment:
    """What the runner of `box`, which holds the turn `holding` (public id) or none, should do.

    A running turn is handed out again until its agent starts, so that an answer lost on its way costs nothing; then no
    more, since an agent that learned its box's token must not get another clone token with it.
    """
    # also makes two requests of one box queue up behind each other
    await tx.execute(update(Box).where(Box.name == box).values(seen_at=now))
    turn = await _oldest(tx, box, TurnStatus.RUNNING)
    if turn is not None:
        if holding == turn.public_id:
            return Assignment()
        if turn.begun_at is None:
            return Assignment(turn=turn)
        forgotten = now - (turn.heartbeat_at or turn.handed_at or 0.0) > FORGOTTEN_AFTER
        return Assignment(forgotten=turn if forgotten else None)
    ready = await _oldest(tx, box, TurnStatus.READY)
    turn = await locked(tx, Turn, ready.id) if ready is not None else None
    if turn is None or turn.status is not TurnStatus.READY or turn.box != box:
        return Assignment()
    move_turn(turn, TurnStatus.RUNNING)
    turn.waits = None
    await make_due(tx, turn.session_id, now)  # the comment still says that it waits
    turn.handed_at = turn.heartbeat_at = now
    turn.started_at = turn.started_at or now
    await tx.flush()
    log.info("turn.handed_out", turn=turn.public_id, box=box)
    return Assignment(turn=turn)


async def forget_former_token(tx: AsyncSession, box: str) -> None:
    """The box knows its new token."""
    await tx.execute(update(Box).where(Box.name == box).values(former_hash=None))


async def _oldest(tx: AsyncSession, box: str, status: str) -> Turn | None:
    found = await tx.execute(select(Turn).where(Turn.box == box, Turn.status == status).order_by(Turn.id).limit(1))
    return found.scalars().first()


def as_told(turn: Turn, env: Mapping[str, str], files: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The turn as the runner is told it: its `spec` with the secrets, which are added here and nowhere else."""
    told: dict[str, Any] = copy.deepcopy(turn.spec or {})
    for ours in ("request", "env_file", "prompt_version"):
        told.pop(ours, None)  # what secrets are made from at hand-out: the service's own
    told["turn"] = turn.public_id
    told["marker"] = turn.marker
    told["agent_homes"] = list(registry.homes())
    told["env"] = {**told.get("env", {}), **env}
    told["files"] = [*told.get("files", []), *files]
    told["limits"] = {**told.get("limits", {}), **turn.limits}
    return told

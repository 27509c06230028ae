"""Output of an agent into events, exactly once: offset, parser and events change in one transaction."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from k8s.runner.protocol import FETCHING, Output, OutputAnswer
from loops import journal
from loops.caps import Caps, Spent, passed
from loops.database import Database
from loops.digest import Digest, Usage, digest
from loops.redact import Redactor
from loops.runtimes.registry import get
from loops.tables import Box, Turn

IN_A_THREAD = 32 * 1024
"""Bytes from which parsing would hold up the other requests of this process."""


class TurnOver(Exception):
    """The turn has ended: nothing more is taken for it."""


@dataclass(frozen=True)
class Taken:
    """The answer to the box, and whether there is something new to see."""

    answer: OutputAnswer
    events: int


async def ingest(
    database: Database, turn: Turn, output: Output, data: bytes, redactor: Redactor, *, now: float
) -> Taken:
    """Store what is new in `data`, which begins at `output.offset`. Raises TurnOver.

    A chunk that comes again, or overlaps what is stored, adds only what is new; one that would leave a gap adds
    nothing, and the answer says where to go on.
    """
    if turn.status != "running":
        raise TurnOver(f"turn {turn.public_id} is {turn.status}")
    overlaps = output.offset <= turn.output_offset
    fresh = data[turn.output_offset - output.offset :] if overlaps else b""
    new = await _digest(turn, fresh, redactor, end=output.end and overlaps)
    begins = turn.begun_at is None and output.state != FETCHING
    async with database.write() as tx:
        if not await _store(tx, turn, new, now, begins=begins):
            current = await tx.get_one(Turn, turn.id)
            if current.status != "running":
                raise TurnOver(f"turn {current.public_id} is {current.status}")
            return Taken(OutputAnswer(current.output_offset, current.stop_reason), 0)
        stop = (await tx.execute(select(Turn.stop_reason).where(Turn.id == turn.id))).scalar_one()
    return Taken(OutputAnswer(turn.output_offset + new.taken, stop), len(new.entries))


async def _digest(turn: Turn, data: bytes, redactor: Redactor, *, end: bool) -> Digest:
    if not data:
        return Digest(0, turn.parser_state)
    work = partial(
        digest, get(turn.runtime or "command"), turn.parser_state, data, redactor, end=end, totals=resumed_totals(turn)
    )
    return work() if len(data) < IN_A_THREAD else await asyncio.to_thread(work)


def resumed_totals(turn: Turn) -> Mapping[str, float] | None:
    """What the CLI's own counters said at the end of the conversation's last turn, from the turn's stored request."""
    request = (turn.spec or {}).get("request") or {}
    totals = (request.get("resume") or {}).get("totals")
    return totals if isinstance(totals, dict) else None


async def _store(tx: AsyncSession, turn: Turn, new: Digest, now: float, *, begins: bool) -> bool:
    """False if somebody else stored output of this turn meanwhile, or ended it."""
    values: dict[str, Any] = {"heartbeat_at": now, **spent(new.usage)}
    if new.taken:
        values |= {"output_offset": turn.output_offset + new.taken, "parser_state": new.state}
    if begins:
        values["begun_at"] = now
    done = await tx.execute(
        update(Turn)
        .where(Turn.id == turn.id, Turn.status == "running", Turn.output_offset == turn.output_offset)
        .values(**values)
    )
    if rows(done) != 1:
        return False
    await tx.execute(update(Box).where(Box.name == turn.box).values(seen_at=now, used_at=now))
    if new.usage != Usage():
        await _apply_caps(tx, turn)
    await journal.append(tx, turn.session_id, new.entries, at=now, turn_id=turn.id)
    return True


async def _apply_caps(tx: AsyncSession, turn: Turn) -> None:
    """Have the turn stopped once it, or its session, used more steps, tokens or money than its `limits` allow."""
    found = await tx.execute(
        select(Turn.id, Turn.steps, Turn.input_tokens + Turn.output_tokens, Turn.cost).where(
            Turn.session_id == turn.session_id
        )
    )
    own, before = Spent(), Spent()
    for turn_id, steps, tokens, cost in found:
        used = Spent(steps, tokens, cost)
        if turn_id == turn.id:
            own = used
        else:
            before += used
    limits = turn.limits
    caps = Caps(
        turn_steps=limits.get("steps"),
        turn_tokens=limits.get("tokens"),
        session_tokens=limits.get("session_tokens"),
        turn_cost=limits.get("cost"),
        session_cost=limits.get("session_cost"),
    )
    over = passed(caps, own, before)
    if over is not None:
        reason = f"limit_exceeded: {over.message.removeprefix('Stopped: ')}"
        await tx.execute(update(Turn).where(Turn.id == turn.id, Turn.stop_reason.is_(None)).values(stop_reason=reason))


def spent(usage: Usage) -> dict[str, Any]:
    """What to add to a turn's columns for `usage`."""
    return {
        "steps": Turn.steps + usage.steps,
        "input_tokens": Turn.input_tokens + usage.input,
        "cached_tokens": Turn.cached_tokens + usage.cached,
        "output_tokens": Turn.output_tokens + usage.output,
        "cost": Turn.cost + usage.cost,
    }


def rows(result: Any) -> int:
    """How many rows a statement changed."""
    return int(result.rowcount)

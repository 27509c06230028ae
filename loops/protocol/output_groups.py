"""Output of many turns stored in one transaction: one commit a moment, however many agents are at work."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import bindparam, case, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from loops.protocol.access import Asking, look_up, shown
from loops.protocol.parse_output import ParsedOutput, TurnUsage
from loops.sessions.plan_pace import EDIT_SECONDS
from loops.sessions.spending import apply_caps
from loops.store import journal
from loops.store.batcher import Batcher
from loops.store.database import Database
from loops.store.leases import make_due
from loops.store.states import TurnStatus
from loops.store.tables import Box, Turn

LARGEST_GROUP = 128


@dataclass(frozen=True)
class Chunk:
    """What is new in one post. `turn` is the turn as it was read before; `begins`: its agent has started since."""

    turn: Turn
    new: ParsedOutput
    begins: bool
    now: float


@dataclass(frozen=True)
class Standing:
    """Where the turn stands after a chunk; `stored` is False if somebody else stored output of it meanwhile, or ended
    it."""

    stored: bool
    status: TurnStatus
    offset: int
    stop_reason: str | None


GONE = Standing(False, TurnStatus.CANCELLED, 0, None)
"""Of a turn that is not there any more."""


class Outputs:
    """Where the output of turns is stored, of many in one transaction, and who asks for that is looked up, by one query
    for many."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._asking = Batcher(self._look_up, largest=LARGEST_GROUP)
        self._groups = Batcher(self._store, largest=LARGEST_GROUP, one_by_one=True)

    async def turn_with(self, public_id: str, token: str) -> Asking:
        """The turn, if `token` is that turn's own. Raises TokenRefused."""
        return shown(public_id, await self._asking.put(public_id), token)

    async def put(self, chunk: Chunk) -> Standing:
        """Store the chunk."""
        return await self._groups.put(chunk)

    async def close(self) -> None:
        """Wait until everything is stored."""
        await self._groups.close()

    async def _look_up(self, public_ids: Sequence[str]) -> Sequence[Asking | None]:
        async with self.database.read() as tx:
            return await look_up(tx, public_ids)

    async def _store(self, chunks: Sequence[Chunk]) -> Sequence[Standing]:
        async with self.database.write() as tx:
            return await store_chunks(tx, chunks)


async def store_chunks(tx: AsyncSession, chunks: Sequence[Chunk]) -> list[Standing]:
    """Store the chunks in this transaction, one after the other. Boxes are locked first, then turns, then sessions, all
    in the order of their keys (see `loops.store.locking`)."""
    now = max(chunk.now for chunk in chunks)
    await _seen(tx, sorted({chunk.turn.box for chunk in chunks if chunk.turn.box is not None}), now)
    standing = await _standing(tx, sorted({chunk.turn.id for chunk in chunks}))
    plain: list[dict[str, Any]] = []
    found: list[Standing] = []
    for chunk in chunks:
        turn, new = chunk.turn, chunk.new
        at = standing.get(turn.id, GONE)
        if at.status != TurnStatus.RUNNING or at.offset != turn.output_offset:
            found.append(replace(at, stored=False))
            continue
        stop = at.stop_reason
        told = {"heartbeat_at": now, "output_offset": at.offset + new.taken, "parser_state": new.state}
        if chunk.begins or new.edited or new.usage.used or new.plan is not None:
            await _more(tx, turn, chunk, told)
            if new.edited or new.usage.used:
                stop = await apply_caps(tx, turn.id)
        else:
            plain.append({"key": turn.id, **told})
        found.append(Standing(True, at.status, at.offset + new.taken, stop))
        standing[turn.id] = found[-1]
    if plain:
        await tx.execute(_TOLD, plain)
    stored = [chunk for chunk, each in zip(chunks, found, strict=True) if each.stored]
    await journal.append_many(
        tx, [journal.Entries(one.turn.session_id, one.turn.id, one.new.entries, one.now) for one in stored]
    )
    for chunk in stored:
        if chunk.new.plan is not None:
            # the first list is shown at once, what changes in it is gathered
            soon = now if chunk.turn.plan is None else now + EDIT_SECONDS
            await make_due(tx, chunk.turn.session_id, soon)
    return found


_TURNS = Turn.metadata.tables[Turn.__tablename__]
_TOLD = (
    update(_TURNS)
    .where(_TURNS.c.id == bindparam("key"))
    .values({name: bindparam(name) for name in ("heartbeat_at", "output_offset", "parser_state")})
)


async def _seen(tx: AsyncSession, boxes: Sequence[str], now: float) -> None:
    await tx.execute(select(Box.name).where(Box.name.in_(boxes)).order_by(Box.name).with_for_update(key_share=True))
    await tx.execute(update(Box).where(Box.name.in_(boxes)).values(seen_at=now, used_at=now))


async def _standing(tx: AsyncSession, turns: Sequence[int]) -> dict[int, Standing]:
    columns = (Turn.id, Turn.status, Turn.output_offset, Turn.stop_reason)
    rows = select(*columns).where(Turn.id.in_(turns)).order_by(Turn.id).with_for_update(key_share=True)
    return {key: Standing(True, status, offset, stop) for key, status, offset, stop in await tx.execute(rows)}


async def _more(tx: AsyncSession, turn: Turn, chunk: Chunk, told: dict[str, Any]) -> None:
    """Store a chunk that tells of more than text."""
    new = chunk.new
    values = {**told, **spent(turn, new.usage)}
    if chunk.begins:
        values["begun_at"] = chunk.now
    if new.plan is not None:
        values["plan"] = new.plan
    if new.edited:
        values["changed_files"] = _edited(turn, new.edited)
    await tx.execute(update(Turn).where(Turn.id == turn.id).values(**values))


def _edited(turn: Turn, paths: Set[str]) -> list[str]:
    """The files of the checkout that the agent has edited so far, of `paths` as its CLI tells them."""
    inside = f"/{(turn.spec or {}).get('workdir')}/"
    own = {path.partition(inside)[2] if path.startswith("/") else path.removeprefix("./") for path in paths}
    return sorted({*map(str, turn.changed_files), *filter(None, own)})


def spent(turn: Turn, usage: TurnUsage) -> dict[str, Any]:
    """What to add to the turn's columns for `usage`, which its CLI tells.

    Where its requests pass the model gateway, that counts tokens and cost: what the CLI tells is believed until the
    first of them, and of its cost as long as the gateway knows no price.
    """
    if turn.model_token is not None:
        told = {
            "input": Turn.told_input + usage.input,
            "cached": Turn.told_cached + usage.cached,
            "output": Turn.told_output + usage.output,
            "reasoning": Turn.told_reasoning + usage.reasoning,
        }
        told_cost = Turn.told_cost + usage.cost
        return {
            "steps": Turn.steps + usage.steps,
            **{f"told_{name}": number for name, number in told.items()},
            **{
                f"{name}_tokens": case((Turn.booked > 0, getattr(Turn, f"{name}_tokens")), else_=number)
                for name, number in told.items()
            },
            "told_cost": told_cost,
            "cost": case((Turn.booked_cost > 0, Turn.booked_cost), else_=told_cost),
        }
    return {
        "steps": Turn.steps + usage.steps,
        "input_tokens": Turn.input_tokens + usage.input,
        "cached_tokens": Turn.cached_tokens + usage.cached,
        "output_tokens": Turn.output_tokens + usage.output,
        "reasoning_tokens": Turn.reasoning_tokens + usage.reasoning,
        "cost": Turn.cost + usage.cost,
    }

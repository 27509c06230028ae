"""Output of an agent into events, exactly once: offset, parser and events change in one transaction."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

from sqlalchemy import case, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from k8s.runner.protocol import FETCHING, Output, OutputAnswer
from loops.offload import HEAVY, Offload, Withheld
from loops.protocol.access import TurnOver
from loops.protocol.parse_output import ParsedOutput, TurnUsage, parse_output
from loops.runtimes.registry import get
from loops.runtimes.spec import Price
from loops.secrets.redact import Redactor
from loops.sessions.spending import apply_caps
from loops.store import journal
from loops.store.database import Database
from loops.store.lookup import installation_of_session
from loops.store.quarantine import put_aside
from loops.store.states import TurnStatus
from loops.store.tables import Box, Turn


@dataclass(frozen=True)
class Taken:
    """The answer to the box, and whether there is something new to see."""

    answer: OutputAnswer
    events: int


async def store_output(
    database: Database,
    turn: Turn,
    output: Output,
    data: bytes,
    redactor: Redactor,
    offload: Offload,
    *,
    now: float,
    price: Price | None = None,
) -> Taken:
    """Store what is new in `data`, which begins at `output.offset`. Raises TurnOver.

    `price` is the model's, for CLIs that tell no cost.

    A chunk that comes again, or overlaps what is stored, adds only what is new; one that would leave a gap adds
    nothing, and the answer says where to go on.
    """
    if turn.status != TurnStatus.RUNNING:
        raise TurnOver(f"turn {turn.public_id} is {turn.status}")
    overlaps = output.offset <= turn.output_offset
    fresh = data[turn.output_offset - output.offset :] if overlaps else b""
    new = await _parse(database, turn, fresh, redactor, offload, end=output.end and overlaps, price=price, now=now)
    begins = turn.begun_at is None and output.state != FETCHING
    async with database.write() as tx:
        if not await _store(tx, turn, new, now, begins=begins):
            current = await tx.get_one(Turn, turn.id)
            if current.status != TurnStatus.RUNNING:
                raise TurnOver(f"turn {current.public_id} is {current.status}")
            return Taken(OutputAnswer(current.output_offset, current.stop_reason), 0)
        stop = (await tx.execute(select(Turn.stop_reason).where(Turn.id == turn.id))).scalar_one()
    return Taken(OutputAnswer(turn.output_offset + new.taken, stop), len(new.entries))


async def _parse(
    database: Database,
    turn: Turn,
    data: bytes,
    redactor: Redactor,
    offload: Offload,
    *,
    end: bool,
    price: Price | None,
    now: float,
) -> ParsedOutput:
    if not data:
        return ParsedOutput(0, turn.parser_state)
    work = (turn.runtime or "command", turn.parser_state, data, redactor, end, resumed_totals(turn), price)
    if len(data) < HEAVY:
        return _parsed(*work)
    try:
        async with database.read() as tx:
            installation = await installation_of_session(tx, turn.session_id)
        return await offload.run(installation, _parsed, *work)
    except Withheld as error:
        note = f"{len(data):,} bytes of output are withheld: {error}"
        await put_aside(database, "output", turn.public_id, str(error), now=now)
        return ParsedOutput(len(data), turn.parser_state, [("status", {"text": note})])


def _parsed(
    runtime: str,
    state: dict[str, Any],
    data: bytes,
    redactor: Redactor,
    end: bool,
    totals: Mapping[str, float] | None,
    price: Price | None,
) -> ParsedOutput:
    return parse_output(get(runtime), state, data, redactor, end=end, totals=totals, price=price)


def resumed_totals(turn: Turn) -> Mapping[str, float] | None:
    """What the CLI's own counters said at the end of the conversation's last turn, from the turn's stored request."""
    request = (turn.spec or {}).get("request") or {}
    totals = (request.get("resume") or {}).get("totals")
    return totals if isinstance(totals, dict) else None


async def _store(tx: AsyncSession, turn: Turn, new: ParsedOutput, now: float, *, begins: bool) -> bool:
    """False if somebody else stored output of this turn meanwhile, or ended it."""
    values: dict[str, Any] = {"heartbeat_at": now, **spent(turn, new.usage)}
    if new.taken:
        values |= {"output_offset": turn.output_offset + new.taken, "parser_state": new.state}
    if begins:
        values["begun_at"] = now
    if new.edited:
        values["changed_files"] = _edited(turn, new.edited)
    # its box first: see `loops.store.locking`
    await tx.execute(update(Box).where(Box.name == turn.box).values(seen_at=now, used_at=now))
    done = await tx.execute(
        update(Turn)
        .where(Turn.id == turn.id, Turn.status == TurnStatus.RUNNING, Turn.output_offset == turn.output_offset)
        .values(**values)
    )
    if rows(done) != 1:
        return False
    if new.usage.used or new.edited:
        await apply_caps(tx, turn.id)
    await journal.append(tx, turn.session_id, new.entries, at=now, turn_id=turn.id)
    return True


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
        "cost": Turn.cost + usage.cost,
    }


def rows(result: Any) -> int:
    """How many rows a statement changed."""
    return int(result.rowcount)

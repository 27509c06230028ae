"""Output of an agent into events, exactly once: offset, parser and events change in one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from k8s.runner.protocol import FETCHING, Output, OutputAnswer
from loops.offload import HEAVY, Offload, Withheld
from loops.protocol.access import TurnOver
from loops.protocol.output_groups import Chunk, Outputs
from loops.protocol.parse_output import ParsedOutput, parse_output
from loops.runtimes.registry import get
from loops.runtimes.spec import Price
from loops.secrets.redact import Redactor
from loops.store.database import Database
from loops.store.lookup import installation_of_session
from loops.store.quarantine import put_aside
from loops.store.states import TurnStatus
from loops.store.tables import Turn


@dataclass(frozen=True)
class Taken:
    """The answer to the box, how much there is new to see, and whether the session's comment has to tell of it."""

    answer: OutputAnswer
    events: int
    planned: bool


async def store_output(
    outputs: Outputs,
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
    database, end = outputs.database, output.end and overlaps
    new = await _parse(database, turn, fresh, redactor, offload, end=end, price=price, now=now)
    begins = turn.begun_at is None and output.state != FETCHING
    found = await outputs.put(Chunk(turn, new, begins, now))
    if found.status != TurnStatus.RUNNING:
        raise TurnOver(f"turn {turn.public_id} is {found.status}")
    answer = OutputAnswer(found.offset, found.stop_reason)
    return Taken(answer, len(new.entries) if found.stored else 0, found.stored and new.plan is not None)


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


def rows(result: Any) -> int:
    """How many rows a statement changed."""
    return int(result.rowcount)

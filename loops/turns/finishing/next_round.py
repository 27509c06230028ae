"""A turn whose work does not pass its check: its agent goes on with that work, if it may."""

from dataclasses import dataclass
from typing import Any

from k8s.runner.protocol import Result
from loops.context import Loop
from loops.evidence import distill
from loops.offload import Withheld
from loops.store.tables import Session, Turn
from loops.turns.verified import command_in, goes_on, most_rounds, round_of

EXCERPT = 10_000  # bytes of what the check printed


@dataclass(frozen=True)
class Again:
    """`made` is kept with the turn, `why` is for people."""

    made: dict[str, Any]
    why: str


async def round_of_turn(loop: Loop, session: Session, turn: Turn, result: Result) -> Again | None:
    """The round that did not pass, where another may follow; None where the work is to be published as it is."""
    now, seconds = loop.clock(), float(turn.limits.get("turn_seconds") or loop.options.turn_seconds)
    most = most_rounds(session)
    if not goes_on(turn, result, most=most, seconds=seconds, now=now):
        return None
    try:
        after = result.trials.after
        work = (after.output, after.exit_code) if after is not None else ("", None)
        excerpt = await loop.offload.run(session.installation_id, shown_of, *work)
    except Withheld as error:
        excerpt = f"What it printed is withheld: {error}."
    why = f"`{command_in(turn)}` fails in the box on what the agent made: it goes on, round {len(turn.rounds) + 2} of "
    return Again(round_of(turn, result, excerpt, now).stored(), f"{why}{most + 1}.")


def shown_of(output: str, exit_code: int | None) -> str:
    """In another process: what an agent is shown of a check that failed; None: it did not end in time."""
    end = f"Process completed with exit code {exit_code}." if exit_code is not None else "It did not end in time."
    return distill([f"{output.rstrip()}\n##[error]{end}\n".encode()], budget=EXCERPT).excerpt

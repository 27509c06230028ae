"""Whether a failed step failed in the box as it had in its job: the same outcome, the same named failures."""

from collections.abc import Mapping
from typing import Any

from k8s.runner.protocol import Result
from k8s.runner.verification import FAILED
from loops.context import Loop
from loops.evidence import distill
from loops.offload import Withheld
from loops.store.locking import locked
from loops.store.tables import Session, Turn
from loops.turns.verified import named_in


async def note_reproduced(loop: Loop, session: Session, turn: Turn, result: Result) -> None:
    """Write it down with the turn's result. What was written once stays."""
    named, before = named_in(turn), result.trials.before
    if named is None or before is None or turn.rounds or "reproduced" in (turn.result or {}):
        return
    try:
        work = (before.output, before.exit_code, dict(named))
        same = before.how == FAILED and await loop.offload.run(session.installation_id, is_same, *work)
    except Withheld:
        same = False
    async with loop.database.write() as tx:
        row = await locked(tx, Turn, turn.id)
        row.result = {**(row.result or {}), "reproduced": same}
    turn.result = {**(turn.result or {}), "reproduced": same}


def is_same(output: str, exit_code: int | None, named: Mapping[str, Any]) -> bool:
    """Whether what a failed check printed names the tests that failed in the job, and no others; else the places that
    its diagnostics named; else whether it ended with the job's exit code."""
    end = f"\n##[error]Process completed with exit code {exit_code}.\n"
    found = distill([f"{output.rstrip()}{end}".encode()])
    if tests := set(named.get("tests") or ()):
        return set(found.failing_tests) == tests
    if places := {each for each in named.get("places") or () if not str(each).startswith("/")}:
        return {f"{each.file}:{each.line}" for each in found.diagnostics} == places
    return named.get("exit_code") in (None, exit_code)

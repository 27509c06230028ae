"""What earlier attempts of a session tried, and what was red after each: an agent shall not try the same again."""

from collections.abc import Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from loops.checks.shown_evidence import KIND, RedCheck, red_checks
from loops.sessions.explanations import explain
from loops.store.tables import Attempt, Event, Turn

NEWEST = 5
SAID, WHY, CHECKS, FILES = 300, 200, 3, 8
"""Characters of what an attempt said, and of why a check was red after it; checks and files that are named."""


async def earlier_attempts(tx: AsyncSession, turn: Turn) -> tuple[str, ...]:
    """A line for each of the newest attempts before `turn`, oldest first."""
    found = (
        await tx.execute(
            select(Attempt, Turn)
            .join(Turn, Turn.id == Attempt.turn_id)
            .where(Attempt.session_id == turn.session_id, Attempt.turn_id < turn.id)
            .order_by(Attempt.number.desc())
            .limit(NEWEST)
        )
    ).all()
    if not found:
        return ()
    seen = await tx.execute(
        select(Event.payload)
        .where(Event.session_id == turn.session_id, Event.kind == KIND)
        .order_by(Event.seq.desc())
        .limit(2 * NEWEST)
    )
    red = {str(payload["sha"]): red_checks(payload) for payload in seen.scalars()}
    return tried([(attempt.number, row) for attempt, row in reversed(found)], red)


def tried(attempts: Sequence[tuple[int, Turn]], red: Mapping[str, Sequence[RedCheck]]) -> tuple[str, ...]:
    """The attempts, in lines. `red`: what was red on each commit. Pure."""
    return tuple(_line(number, turn, red.get(turn.commit_sha or "", ())) for number, turn in attempts)


def _line(number: int, turn: Turn, red: Sequence[RedCheck]) -> str:
    said = " ".join((turn.message or "").split())
    said = f": {said[:SAID].rstrip('.')}{'…' if len(said) > SAID else ''}" if said else ""
    if turn.commit_sha is None:
        why = explain(turn.error).title if turn.error else "it changed nothing"
        return f"Attempt {number} was not published ({why}){said}"
    names = ", ".join(map(str, turn.changed_files[:FILES])) + (" and more" if len(turn.changed_files) > FILES else "")
    left = "; ".join(f"{check.name}: {_why(check)}" for check in red[:CHECKS])
    after = f" After it these were red: {left}" if left else ""
    return f"Attempt {number} (commit {turn.commit_sha[:12]}) changed {names or 'no file'}{said}.{after}"


def _why(check: RedCheck) -> str:
    why = " | ".join(" ".join(line.split()) for line in check.brief.splitlines()[:3])
    return f"{why[:WHY]}{'…' if len(why) > WHY else ''}" or check.conclusion

"""Failures of the machinery run again where they are, before an attempt is spent: so often for each run.

The wish is recorded before GitHub is asked, with what exactly failed. A worker that dies in between leaves it open, and
whoever comes next asks for those that are still as they were: never for what runs, or has run, since.
"""

import json
from collections.abc import Iterable, Sequence

from sqlalchemy import select

from github.checks import reruns
from github.checks.model import Check
from github.client.repository import RepositoryHandle
from loops.checks.collect import Failure
from loops.context import Loop
from loops.guards.model import shown
from loops.sessions import effects
from loops.store import journal
from loops.store.database import Database
from loops.store.locking import locked
from loops.store.tables import Effect, Session

KIND = "rerun"
ASKED, REFUSED = "asked", "refused"
SOON = 2.0  # seconds until GitHub shows that what was asked to run again is queued


async def wishes(database: Database, session: Session, sha: str) -> Sequence[Effect]:
    """The reruns of this head that are recorded."""
    async with database.read() as tx:
        where = (Effect.session_id == session.id, Effect.kind == KIND, Effect.key.startswith(f"{sha}:"))
        return (await tx.execute(select(Effect).where(*where).order_by(Effect.id))).scalars().all()


def spent(wished: Sequence[str], red: Sequence[Check]) -> int:
    """How often what is red was run again, or could not be, of all that was wished for on its commit; 0 for first
    attempts of runs.

    Runs of one commit fail one after the other: the second is not to pay for the rerun of the first.
    """
    asked = [each for wish in wished for each in json.loads(wish)]
    untried = all(check.run_id and check.run_attempt == 1 and _identity(check) not in asked for check in red)
    return 0 if untried else len(wished)


async def go_on(
    loop: Loop, repo: RepositoryHandle, session: Session, wished: Sequence[Effect], red: Sequence[Check]
) -> float | None:
    """Ask for the reruns that are recorded and were perhaps never asked for; the time to look again."""
    found = next((wish for wish in wished if wish.digest is None), None)
    if found is None:
        return None
    return await _ask(loop, repo, session, found.key, found.external_id, red)


async def run_again(
    loop: Loop, repo: RepositoryHandle, session: Session, key: str, failed: Sequence[Failure]
) -> float | None:
    """Have what failed run once more. The time to look again; None when GitHub runs none of it again.

    `key` is the commit and which rerun of it this is: "SHA:1".
    """
    checks = [check for each in failed for check in each.checks]
    wanted = wish_for(checks)
    now = loop.clock()
    async with loop.database.write() as tx:
        await effects.keep(tx, session.id, KIND, key, wanted, None, now)
        text = f"runs {_names(checks)} again: {failed[0].distilled.reason}"
        await journal.append(tx, session.id, [("status", {"text": text})], at=now)
    return await _ask(loop, repo, session, key, wanted, checks)


def wish_for(checks: Sequence[Check]) -> str:
    """What is recorded of checks that are to run again: enough to know whether they still are as they were."""
    return json.dumps([_identity(check) for check in checks])


async def _ask(
    loop: Loop, repo: RepositoryHandle, session: Session, key: str, wanted: str, red: Sequence[Check]
) -> float | None:
    """Each workflow run once, since its failed jobs run again together."""
    as_recorded = json.loads(wanted)
    unchanged = [check for check in red if _identity(check) in as_recorded]
    runs = {(check.run_id or -check.id): check for check in unchanged}
    taken = [await reruns.rerun(repo, check) for check in runs.values()]
    asked = any(taken) or not unchanged  # what is no longer as it was runs, or has run, already
    now = loop.clock()
    async with loop.database.write() as tx:
        await effects.keep(tx, session.id, KIND, key, wanted, ASKED if asked else REFUSED, now)
        if not taken or not any(taken):
            return None
        fresh = await locked(tx, Session, session.id)
        fresh.pushed_at = fresh.hint_at = now  # the quiet time and the longest wait begin anew
        note = f"{_names(unchanged)} looked like a fault of the machinery and not of the code, and ran again."
        fresh.notes = [*fresh.notes, note]
    return now + SOON


def _identity(check: Check) -> list[str | int | float]:
    return [check.kind.value, check.id, check.run_attempt, check.changed_at]


def _names(checks: Iterable[Check]) -> str:
    return ", ".join(dict.fromkeys(shown(check.name) for check in checks))

"""What a turn has changed so far, as its box tells it: kept until the turn is reported, or its box is lost."""

import dataclasses
import zlib

from sqlalchemy.ext.asyncio import AsyncSession

from k8s.runner.protocol import Result
from loops.guards import patch
from loops.guards.model import shown
from loops.offload import HEAVY, Offload, Withheld
from loops.protocol.access import TurnOver
from loops.protocol.parse_output import clean
from loops.runtimes.base import clip
from loops.secrets.redact import Redactor
from loops.store.database import Database
from loops.store.locking import locked
from loops.store.lookup import installation_of_session
from loops.store.quarantine import put_aside
from loops.store.states import TurnStatus
from loops.store.tables import Turn
from loops.store.work_tables import WorkSoFar

NAMED = 200
NAME = 300
"""Characters of what is left out, each."""


async def store_work(
    database: Database, turn: Turn, work: Result, redactor: Redactor, offload: Offload, *, now: float
) -> None:
    """Keep it in place of what was told before. What cannot be looked through is not kept. Raises TurnOver."""
    if turn.status != TurnStatus.RUNNING:
        raise TurnOver(f"turn {turn.public_id} is {turn.status}")
    try:
        if len(work.diff) >= HEAVY:
            async with database.read() as tx:
                installation = await installation_of_session(tx, turn.session_id)
            text, held = await offload.run(installation, without_secrets, work.diff, redactor)
        else:
            text, held = without_secrets(work.diff, redactor)
    except Withheld as error:
        await put_aside(database, "work", turn.public_id, str(error), now=now)
        return
    async with database.write() as tx:
        current = await locked(tx, Turn, turn.id)
        if current.status != TurnStatus.RUNNING or current.marker != turn.marker:
            raise TurnOver(f"turn {turn.public_id} is {current.status}")
        await _put(tx, turn, work, text, held, now)


async def _put(tx: AsyncSession, turn: Turn, work: Result, text: str, held: list[str], now: float) -> None:
    row = await tx.get(WorkSoFar, turn.id) or WorkSoFar(turn_id=turn.id)
    stored = text.encode("utf-8", "surrogateescape")
    row.patch, row.size, row.at = zlib.compress(stored), len(stored), now
    row.changes = [dataclasses.asdict(change) for change in work.changes]
    row.left_out = [clip(each, NAME) for each in [*held, *work.left_out][:NAMED]]
    tx.add(row)


def without_secrets(diff: str, redactor: Redactor) -> tuple[str, list[str]]:
    """The parts of a diff that are whole and hold no secret, and what is left out for one, in words. Pure."""
    kept: list[str] = []
    held: list[str] = []
    for section in patch.sections(diff):
        found = patch.read_whole(section)
        if found is None:
            continue
        if clean(redactor.text(section)) == section:
            kept.append(section)
        else:
            held.append(f"{shown(found.path)} (it holds a secret)")
    return "".join(kept), held

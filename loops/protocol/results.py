"""What a box reports at the end of a turn: changed files, and the result, stored once."""

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from k8s.runner.protocol import DIFF_BYTES, EXITED, STDERR_BYTES, Result
from k8s.runner.verification import OUTPUT_BYTES, Trials
from loops.guards.secrets import sayable
from loops.offload import HEAVY, Offload, Withheld
from loops.prompts import description
from loops.protocol.access import TurnOver
from loops.protocol.output_groups import spent
from loops.protocol.parse_output import TurnUsage, bounded, clean, entries_of, parser_of
from loops.protocol.store_output import resumed_totals, rows
from loops.runtimes.base import ProcessEnd, clip
from loops.runtimes.registry import get
from loops.runtimes.spec import Price
from loops.secrets.redact import Redactor
from loops.sessions.transitions import turns_that_may_become
from loops.store import journal, leases
from loops.store.database import Database
from loops.store.journal import Entry
from loops.store.lookup import installation_of_session
from loops.store.quarantine import put_aside
from loops.store.states import TurnStatus
from loops.store.tables import Blob, Box, Log, Turn
from loops.store.work_tables import WorkSoFar

log = structlog.get_logger(__name__)

SLACK = 64 * 1024
"""A box measures files before it hashes them; a few bytes more than the limit are no reason to lose a turn."""


class WrongObject(ValueError):
    """The bytes are not the object that was named."""


class ReportTooLarge(ValueError):
    """More than the turn may change."""


def blob_sha(content: bytes) -> str:
    """Git's name of a file's content in a repository with SHA-1 objects."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def most_bytes(turn: Turn) -> int:
    """How large one file of the turn may be at its storing; 0 where its limits do not say."""
    most = int(turn.limits.get("file_bytes") or 0)
    return most + SLACK if most else 0


async def store_object(database: Database, turn: Turn, sha: str, content: bytes) -> None:
    """Keep the changed file `content`; twice is once. Raises TurnOver, WrongObject or TooLarge."""
    if turn.status != TurnStatus.RUNNING:
        raise TurnOver(f"turn {turn.public_id} is {turn.status}")
    if (most := most_bytes(turn)) and len(content) > most:
        raise ReportTooLarge(f"object {sha} has {len(content)} bytes; one file may have {most - SLACK}")
    if blob_sha(content) != sha:
        raise WrongObject(f"the {len(content)} bytes sent as object {sha} are {blob_sha(content)}")
    async with database.write() as tx:
        held = (await tx.execute(select(func.sum(func.length(Blob.content))).where(Blob.turn_id == turn.id))).scalar()
        most = int(turn.limits.get("changed_bytes") or 0)
        if most and (held or 0) + len(content) > most + SLACK:
            raise ReportTooLarge(f"turn {turn.public_id} holds {held or 0} bytes already; it may change {most}")
        insert = sqlite.insert if database.sqlite else postgresql.insert
        row = {"turn_id": turn.id, "sha": sha, "content": content}
        await tx.execute(insert(Blob).values(row).on_conflict_do_nothing())


async def object_of(tx: AsyncSession, turn: Turn, sha: str) -> bytes | None:
    """A file that an earlier round of the turn had changed; None if there is none."""
    return (await tx.execute(select(Blob.content).where(Blob.turn_id == turn.id, Blob.sha == sha))).scalar_one_or_none()


async def log_of(tx: AsyncSession, turn: Turn, name: str) -> bytes | None:
    """The log `name` of the turn, compressed with zlib; None if there is none."""
    return (await tx.execute(select(Log.content).where(Log.turn_id == turn.id, Log.name == name))).scalar_one_or_none()


@dataclass(frozen=True)
class ShownResult:
    """What of a result may be stored and shown: redacted, bounded, without the files that were read back."""

    stored: dict[str, Any]
    entries: list[Entry]
    usage: TurnUsage
    message: str


async def store_result(
    database: Database,
    turn: Turn,
    result: Result,
    files: Mapping[str, bytes],
    redactor: Redactor,
    offload: Offload,
    *,
    now: float,
    price: Price | None = None,
) -> bool:
    """Store the result and make the session due. False if it was stored before: nothing changes.

    `files` (what was read back, with secrets in it) goes to the parser only and is not stored. The turn's `result` is
    the protocol's, redacted and without the files, and `outcome`: {message, error, session_id, totals, retry_fresh,
    limit, failure, retry_after} as the runtime sees it, and `description` as the agent left it. Raises TurnOver when
    the turn ended without a result.
    """
    if turn.result is not None:
        return False
    runtime, totals = turn.runtime or "command", resumed_totals(turn)
    work = (runtime, turn.parser_state, totals, result, dict(files), redactor, price, now)
    try:
        tried = [each.output for each in (result.trials.before, result.trials.after) if each is not None]
        said = (result.diff, result.message, result.stderr_tail, *tried)
        heavy = sum(map(len, said)) >= HEAVY
        if heavy:
            async with database.read() as tx:
                installation = await installation_of_session(tx, turn.session_id)
            shown = await offload.run(installation, shown_result, *work)
        else:
            shown = shown_result(*work)
    except Withheld as error:
        shown = _withheld(result, str(error))
        await put_aside(database, "report", turn.public_id, str(error), now=now)
    stored, message, usage = shown.stored, shown.message, shown.usage
    summary = {"reason": stored["reason"], "exit_code": stored["exit_code"], "text": clip(stored["message"], 2_000)}
    async with database.write() as tx:
        # its box first: see `loops.store.locking`
        await tx.execute(update(Box).where(Box.name == turn.box).values(used_at=now))
        done = await tx.execute(
            update(Turn)
            .where(Turn.id == turn.id, Turn.status.in_(turns_that_may_become(TurnStatus.REPORTED)))
            .values(
                status=TurnStatus.REPORTED,
                result=stored,
                message=message or None,
                tree_sha=result.tree,
                heartbeat_at=now,
                finished_at=now,
                **spent(turn, usage),
            )
        )
        if rows(done) != 1:
            current = await tx.get_one(Turn, turn.id)
            if current.result is None:
                raise TurnOver(f"turn {current.public_id} is {current.status}")
            return False
        await journal.append(
            tx, turn.session_id, [*shown.entries, ("turn_reported", bounded(summary))], at=now, turn_id=turn.id
        )
        if result.changes or result.reason == EXITED:
            # else what its box told before is more than the report tells
            await tx.execute(delete(WorkSoFar).where(WorkSoFar.turn_id == turn.id))
        _compare(await tx.get_one(Turn, turn.id, populate_existing=True))
        await leases.make_due(tx, turn.session_id, now)
    return True


def _compare(turn: Turn) -> None:
    """Log where the CLI tells other numbers than the model gateway counted; the gateway's are shown.

    CLIs leave out sub-agents, retries, searches and thoughts, each others of them.
    """
    counted = (turn.input_tokens, turn.cached_tokens, turn.output_tokens)
    told = (turn.told_input, turn.told_cached, turn.told_output)
    if turn.model_token is not None and counted != told:
        log.info("usage.differs", turn=turn.public_id, runtime=turn.runtime, counted=counted, told=told)


def shown_result(
    runtime: str,
    state: Mapping[str, Any],
    totals: Mapping[str, float] | None,
    result: Result,
    files: Mapping[str, bytes],
    redactor: Redactor,
    price: Price | None,
    now: float | None = None,
) -> ShownResult:
    """The result as its runtime understands it, redacted; it was reported `now`."""
    ending = ProcessEnd(result.exit_code, result.reason, result.stderr_tail, files, now=now)
    outcome = parser_of(get(runtime), state, totals).outcome(ending)
    entries, usage = entries_of(outcome.events, redactor, price)
    described, note = _described(files.get(description.PATH), redactor)
    message = clean(sayable(outcome.message, redactor))
    stored = stored_result(result, redactor) | {
        "outcome": {
            "message": message,
            "error": clean(sayable(outcome.error, redactor)) if outcome.error is not None else None,
            "session_id": outcome.session_id,
            "totals": dict(outcome.totals),
            "retry_fresh": outcome.retry_fresh,
            "limit": outcome.limit,
            "failure": outcome.failure.kind.value if outcome.failure else None,
            "retry_after": outcome.failure.retry_after if outcome.failure else None,
            "description": described,
        }
    }
    return ShownResult(stored, [*entries, *note], usage, message)


def _described(content: bytes | None, redactor: Redactor) -> tuple[dict[str, str] | None, list[Entry]]:
    """What the agent says of its work in the file for that, redacted, and a word where it cannot be used."""
    if not content:
        return None, []
    try:
        told = description.read(content)
    except description.BadDescription as error:
        return None, [("status", {"text": f"the agent's description of its work is not used: {error}"})]
    return {name: clean(sayable(text, redactor)) for name, text in told.model_dump().items()}, []


def _withheld(result: Result, why: str) -> ShownResult:
    """A result of which nothing may be shown. What it changed is looked at on its own before it is published."""
    note = f"What this turn said is withheld: {why}."
    bare = dataclasses.replace(result, diff="", stderr_tail="", message=note, trials=Trials())
    outcome = dict.fromkeys(("error", "session_id", "limit", "failure", "retry_after", "description")) | {
        "message": note,
        "totals": {},
        "retry_fresh": False,
    }
    return ShownResult(
        stored_result(bare, Redactor()) | {"outcome": outcome}, [("status", {"text": note})], TurnUsage(), note
    )


def stored_result(result: Result, redactor: Redactor) -> dict[str, Any]:
    """The result as it may be stored: no files, bounded, redacted. Paths and shas stay as they are."""
    kept = dataclasses.asdict(result)
    del kept["files"]
    kept["diff"] = shown_diff(result.diff, redactor)
    kept["stderr_tail"] = clean(redactor.text(result.stderr_tail))[-STDERR_BYTES:]
    for trial in kept["trials"].values():
        if trial is not None:
            trial["output"] = clean(redactor.text(trial["output"]))[-OUTPUT_BYTES:]
    kept["message"] = clip(clean(redactor.text(result.message)), 4_000)
    return kept


def shown_diff(diff: str, redactor: Redactor) -> str:
    """A diff as it may be stored and shown: redacted, and not endless."""
    return _cut(clean(redactor.text(diff)), DIFF_BYTES)


def _cut(diff: str, limit: int) -> str:
    if len(diff) <= limit:
        return diff
    return diff[:limit].rpartition("\n")[0] + f"\n… {len(diff) - limit} characters of the diff were left out\n"

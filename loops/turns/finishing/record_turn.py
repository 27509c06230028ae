"""The end of a turn, written to its rows in one transaction."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncSession

from github.publishing.publish import Published
from k8s.runner.protocol import Result
from loops.boxes.box import ONCE_MORE, next_round, restart_turn
from loops.context import Loop
from loops.guards import Findings
from loops.guards.model import shown
from loops.runtimes import registry
from loops.sessions.agent_conversation import forget, keep
from loops.sessions.transitions import move_session, move_turn
from loops.store import journal
from loops.store.locking import locked
from loops.store.states import SessionStatus, TurnStatus
from loops.store.tables import Blob, Session, Turn
from loops.turns.finishing.classify_result import TurnVerdict
from loops.turns.finishing.report import Report
from loops.turns.finishing.unfinished import Unfinished, in_words, keep_unfinished, why_cut_short
from loops.turns.finishing.whole_diff import WholeDiff
from loops.turns.try_again import try_again

CONVERSATION_GONE = "The agent's earlier conversation is gone: it begins a new one, with a summary of that."
LEFT_OUT = 20  # things left out of a commit that are named


@dataclass(frozen=True)
class Ending:
    """How a turn ended, with its publication and the diff of its whole branch if it was published.

    `findings` are those of the guards that refused it, `unfinished` the work of a turn that is not published,
    `round` that of one whose agent goes on with it.
    """

    verdict: TurnVerdict
    published: Published | None = None
    diff: WholeDiff | None = None
    findings: Findings | None = None
    unfinished: Unfinished | None = None
    round: dict[str, Any] | None = None


async def record_turn(loop: Loop, session: Session, turn: Turn, report: Report, ending: Ending) -> None:
    """Write down how the turn ended, or have it run once more. Nothing is written twice."""
    verdict = ending.verdict
    async with loop.database.write() as tx:
        row = await locked(tx, Turn, turn.id)
        fresh = await locked(tx, Session, session.id)
        if row.status is not TurnStatus.REPORTED:
            return
        if ending.unfinished is not None:
            await keep_unfinished(tx, row, ending.unfinished, why_cut_short(verdict), loop.clock())
        if verdict.kind == "again" and row.lost == 0:
            await _once_more(tx, row, f"{verdict.note} {ONCE_MORE}".strip(), loop.clock())
            return
        if verdict.kind == "refused" and await try_again(tx, loop, fresh, row, report):
            return  # a conversation that came to nothing is not gone on with
        _keep_conversation(fresh, row, report)
        if verdict.kind == "afresh":
            await _once_more(tx, row, CONVERSATION_GONE, loop.clock())
            return
        if ending.round is not None:
            kept = [each["sha"] for each in ending.round["overlay"] if each["sha"]]
            await tx.execute(delete(Blob).where(Blob.turn_id == turn.id, Blob.sha.not_in(kept)))
            next_round(row, verdict.note, ending.round)
            await journal.append(
                tx, row.session_id, [("status", {"text": verdict.note})], at=loop.clock(), turn_id=row.id
            )
            return
        row.finished_at, row.given, row.changed_files = loop.clock(), None, []
        fresh.failures = 0  # what comes next is another thing
        _note(fresh, _left_out(report.result))
        if ending.published is not None:
            _published(fresh, row, report.result, ending, loop.clock())
        elif verdict.kind == "nothing":
            _unchanged(fresh, row, loop.clock())
        else:
            move_turn(row, TurnStatus.CANCELLED if verdict.kind == "cancelled" else TurnStatus.FAILED)
            row.error = verdict.reason or verdict.kind
            _note(fresh, verdict.note)
            if ending.unfinished is not None:
                page = f"{loop.options.public_url}/sessions/{fresh.public_id}/turns/{row.number}/patch"
                _note(fresh, in_words(ending.unfinished, page))
        if verdict.reason != "push_refused":
            await tx.execute(delete(Blob).where(Blob.turn_id == turn.id))


async def _once_more(tx: AsyncSession, row: Turn, waits: str, now: float) -> None:
    restart_turn(row, waits)
    await journal.append(tx, row.session_id, [("status", {"text": waits})], at=now, turn_id=row.id)


def _published(session: Session, row: Turn, result: Result, ending: Ending, now: float) -> None:
    move_turn(row, TurnStatus.DONE)
    row.changed_files = [change.path for change in result.changes]
    diff = ending.diff
    move_session(session, SessionStatus.WAITING, now)
    session.diff = diff.text if diff else result.diff
    session.changed_files = list(diff.files if diff else sorted({*session.changed_files, *row.changed_files}))
    session.summary = row.message
    _note(session, ending.verdict.note)


def _unchanged(session: Session, row: Turn, now: float) -> None:
    move_turn(row, TurnStatus.DONE)
    session.summary = row.message
    if not registry.answers(row.runtime):
        row.message = None  # a program's output is a log, not an answer
    if session.head_sha is not None:
        move_session(session, SessionStatus.WAITING, now)


def _left_out(result: Result) -> str:
    """What the turn made and nobody publishes, in words for people."""
    named = ", ".join(map(shown, result.left_out[:LEFT_OUT]))
    more = f" and {len(result.left_out) - LEFT_OUT} more" * (len(result.left_out) > LEFT_OUT)
    return f"Left out of the commit: {named}{more}." if named else ""


def _note(session: Session, text: str) -> None:
    if text and text not in session.notes:
        session.notes = [*session.notes, text]


def _keep_conversation(session: Session, row: Turn, report: Report) -> None:
    """The CLI's own id of the conversation, so that the next turn goes on with it."""
    if row.runtime is None:
        return
    if report.retry_fresh:
        forget(session, row.runtime)
    elif report.conversation:
        workdir = (row.spec or {}).get("workdir", "")
        keep(session, row, report.conversation, cwd=f"{{home}}/{workdir}", totals=report.totals)

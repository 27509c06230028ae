"""A turn that its box reported: judged, published, and recorded as what it was."""

from dataclasses import replace

from sqlalchemy import delete

from github.client.permanent_errors import LATE, PERMANENT, most_tries
from github.client.repository import RepositoryHandle
from github.publishing.lfs import LfsRefused
from github.publishing.merge import HistoryRewritten, MergeConflict
from github.publishing.trees import TreeMismatch
from github.repositories import queries
from github.repositories.prefetch import prefetch
from k8s.runner.protocol import Result
from loops.boxes.box import why_stopped
from loops.context import Loop
from loops.conversations.pull_state import has_ended
from loops.guards import Findings, sentences
from loops.sessions import decide
from loops.sessions.caps import Caps, Passed, Spent
from loops.sessions.reasons import Reason
from loops.sessions.spending import spent_before
from loops.store.database import Database
from loops.store.states import TurnKind
from loops.store.tables import Blob, Repository, Session, Turn
from loops.turns import forks
from loops.turns.authority import without_right
from loops.turns.finishing.classify_result import TurnVerdict, classify_result
from loops.turns.finishing.conflict import begin_conflict_turn, handed_back, owner_of_resolving
from loops.turns.finishing.guard import guard
from loops.turns.finishing.next_round import round_of_turn
from loops.turns.finishing.publish_turn import publish_turn
from loops.turns.finishing.record_turn import Ending, record_turn
from loops.turns.finishing.report import Report
from loops.turns.finishing.reproduced import note_reproduced
from loops.turns.finishing.unfinished import unfinished_of
from loops.turns.finishing.whole_diff import whole_diff
from loops.turns.verified import note_of

SECRETS = ("secret", "env_file", "credential_file")
"""What the guards call a file that holds a secret."""
LOST_RIGHT = "{login} asked for this and may not write to this repository any more, so nothing was published."
REFUSED = (*PERMANENT, LfsRefused, TreeMismatch, HistoryRewritten)


async def finish_turn(loop: Loop, session: Session, action: decide.FinishTurn) -> None:
    """Judge the report; publish what is to be published; record the end of the turn."""
    async with loop.database.read() as tx:
        turn = await tx.get_one(Turn, action.turn)
        repository = await tx.get_one(Repository, session.repository_id)
        before = await spent_before(tx, turn)
    report = Report.of(turn)
    verdict = _judge(session, turn, report, before)
    publishes = verdict.kind == "publish"
    await note_reproduced(loop, session, turn, report.result)
    if publishes and (again := await round_of_turn(loop, session, turn, report.result)) is not None:
        await record_turn(loop, session, turn, report, Ending(TurnVerdict("round", note=again.why), round=again.made))
        return
    repo = loop.handle(repository)
    if verdict.reason == Reason.FETCH_FAILED:
        # what a box is refused through the git gateway looks like any failed fetch: what GitHub itself answers comes
        # first, as after any step, be it that the App was uninstalled or suspended, or the repository is gone
        await repo.refresh_name()
    ending = await _publish(loop, repo, session, turn, report.result) if publishes else Ending(verdict)
    if ending is None:
        return
    verdict = await _explained(loop, session, turn, ending.verdict)
    cut_short = ending.published is None and verdict.kind != "nothing"
    work = await unfinished_of(loop, repo, session, turn, report.result) if cut_short else None
    if ending.findings is not None:
        await _forget_secrets(loop.database, turn, report.result, ending.findings)
    await record_turn(loop, session, turn, report, replace(ending, verdict=verdict, unfinished=work))


def _judge(session: Session, turn: Turn, report: Report, before: Spent) -> TurnVerdict:
    """What the report alone says of the turn."""
    verdict = classify_result(
        report.result,
        answer_error=report.error,
        stop_reason=turn.stop_reason,
        cancelled=session.cancel_by is not None,
        caps=Caps.of(turn.limits),
        before=before,
        failure=report.failure,
        limit=report.limit,
        conversation_gone=report.retry_fresh and _resumed(turn),
    )
    if verdict.kind == "publish" and (over := _too_much(turn, report.result, before)) is not None:
        return TurnVerdict("failed", over.reason)
    return verdict


async def _publish(loop: Loop, repo: RepositoryHandle, session: Session, turn: Turn, result: Result) -> Ending | None:
    """Publish unless something stands against it. None: a turn that brings two sides together has begun instead."""
    number = session.pull_number
    moment = await prefetch(repo, base=session.base_branch or "", branch=session.branch or "", number=number)
    pull = await queries.pull(repo, number, max_age=moment) if number is not None else None
    if pull is not None and await has_ended(loop.clock, loop.database, session, pull):
        return Ending(TurnVerdict("cancelled"))
    if (login := await without_right(loop.database, repo, session, turn)) is not None:
        return Ending(TurnVerdict("failed", Reason.NO_ACCESS, LOST_RIGHT.format(login=login)))
    findings = await guard(loop, repo, session, turn, result)
    if not findings.publishable:
        return replace(_refused("\n".join(sentences(findings.refusals))), findings=findings)
    try:
        published = await publish_turn(loop, repo, session, turn, result, max_age=moment)
        diff = await whole_diff(loop, repo, session, turn, published)
    except forks.HeadMoved as error:
        return Ending(TurnVerdict("failed", "head_moved", str(error)))
    except MergeConflict as conflict:
        if turn.kind is TurnKind.CONFLICT:
            return _refused(str(conflict))
        owner = await owner_of_resolving(loop, repo, session, turn, conflict)
        if owner.waits:
            return _refused(f"{conflict} {owner.note}")
        await begin_conflict_turn(loop, repo, session, turn, conflict, owner)
        return None
    except LATE as error:
        if session.failures + 1 < most_tries(error, 0):
            raise  # the turn stays reported: this step runs again, and finds what it has done so far
        return _refused(str(error))
    except REFUSED as error:
        return _refused(str(error))
    notes = [*sentences(findings.notes), note_of(turn, result)]
    return Ending(TurnVerdict("publish", note="\n".join(filter(None, notes))), published, diff)


def _refused(why: str) -> Ending:
    return Ending(TurnVerdict("failed", "push_refused", why))


async def _explained(loop: Loop, session: Session, turn: Turn, verdict: TurnVerdict) -> TurnVerdict:
    """The verdict with what only its surroundings tell: why a box stopped, and what a failed merge leaves to people."""
    if verdict.kind == "again" and turn.box:
        return replace(verdict, note=await why_stopped(loop.boxes, turn.box) or verdict.note)
    if verdict.kind in ("failed", "refused") and turn.kind is TurnKind.CONFLICT:
        return replace(verdict, note=f"{verdict.note}\n\n{handed_back(session, turn)}")
    return verdict


async def _forget_secrets(database: Database, turn: Turn, result: Result, findings: Findings) -> None:
    """The files of a refused turn are kept for a while, but not those that hold a secret."""
    paths = {finding.path for finding in findings.refusals if finding.code in SECRETS}
    shas = [sha for change in result.changes if change.path in paths for sha in (change.sha, change.lfs) if sha]
    async with database.write() as tx:
        await tx.execute(delete(Blob).where(Blob.turn_id == turn.id, Blob.sha.in_(shas)))


def _too_much(turn: Turn, result: Result, before: Spent) -> Passed | None:
    """The cap on changed files that this turn passes, by itself or with what its session changed before."""
    changed = Spent(files=frozenset(change.path for change in result.changes))
    if turn.kind is TurnKind.CONFLICT:
        return None
    return Caps.of(turn.limits).passed(changed, Spent(files=before.files))


def _resumed(turn: Turn) -> bool:
    """Whether the turn was to go on with a conversation of its CLI."""
    return bool(((turn.spec or {}).get("request") or {}).get("resume"))

"""A turn that its box reported: published, or recorded as what it was."""

from dataclasses import replace

import structlog
from sqlalchemy import delete

from github.client.permanent_errors import PERMANENT
from github.client.repository import RepositoryHandle
from github.publishing import pulls
from github.publishing.commits import Person as CoAuthor
from github.publishing.commits import commit_message
from github.publishing.publish import HistoryRewritten, MergeConflict, Publication, Published, publish
from github.publishing.trees import FileChange, TreeMismatch
from github.repositories import queries
from github.repositories.queries import Pull
from k8s.runner import protocol
from k8s.runner.protocol import Result
from loops.boxes.box import ONCE_MORE, restart_turn, why_stopped
from loops.context import Loop
from loops.guards import Findings, sentences
from loops.sessions import decide
from loops.sessions.caps import Caps, Passed, Spent
from loops.sessions.pull_state import has_ended
from loops.sessions.spending import spent_before
from loops.store import journal
from loops.store.tables import Blob, Person, Repository, Session, Turn
from loops.turns import forks
from loops.turns.classify_result import TurnVerdict, classify_result
from loops.turns.conflict import begin_conflict_turn, handed_back
from loops.turns.guard import guard
from loops.turns.pull_request import commit_subject, pull_body, pull_title
from loops.turns.start import base_of
from loops.turns.whole_diff import WholeDiff, whole_diff

log = structlog.get_logger(__name__)

SECRETS = ("secret", "env_file", "credential_file")
"""What the guards call a file that holds a secret."""
REFUSED = (*PERMANENT, TreeMismatch, HistoryRewritten)


async def finish_turn(loop: Loop, session: Session, action: decide.FinishTurn) -> None:
    """Judge the report; publish what is to be published; record the end of the turn."""
    async with loop.database.read() as tx:
        turn = await tx.get_one(Turn, action.turn)
        repository = await tx.get_one(Repository, session.repository_id)
        before = await spent_before(tx, session.id, turn.id)
    result = protocol.result_from_json(turn.result or {})
    outcome = (turn.result or {}).get("outcome") or {}
    verdict = classify_result(
        result,
        answer_error=outcome.get("error"),
        stop_reason=turn.stop_reason,
        cancelled=session.cancel_by is not None,
        caps=Caps.of(turn.limits),
        before=before,
        limit=outcome.get("limit"),
        conversation_gone=bool(outcome.get("retry_fresh") and _resumed(turn)),
    )
    if verdict.kind == "publish" and (over := _too_much(turn, result, before)) is not None:
        verdict = TurnVerdict("failed", over.reason)
    published: Published | None = None
    diff: WholeDiff | None = None
    repo = loop.handle(repository)
    pull = await queries.pull(repo, session.pull_number) if session.pull_number is not None else None
    if verdict.kind == "publish" and pull is not None and await has_ended(loop, session, pull):
        verdict = TurnVerdict("cancelled")
    if verdict.kind == "publish":
        findings = await guard(loop, repo, session, turn, result)
        if not findings.publishable:
            await _forget_secrets(loop, turn, result, findings)
            verdict = TurnVerdict("failed", "push_refused", "\n".join(sentences(findings.refusals)))
        else:
            verdict = replace(verdict, note="\n".join(sentences(findings.notes)))
    if verdict.kind == "publish":
        try:
            published = await _publish(loop, repo, session, turn, result)
            diff = await whole_diff(loop, repo, session, turn, published.head)
        except forks.HeadMoved as error:
            verdict = TurnVerdict("failed", "head_moved", str(error))
        except MergeConflict as conflict:
            if turn.kind != "conflict":
                await begin_conflict_turn(loop, repo, session, turn, conflict)
                return
            verdict = TurnVerdict("failed", "push_refused", str(conflict))
        except REFUSED as error:
            verdict = TurnVerdict("failed", "push_refused", str(error))
    if verdict.kind == "again" and turn.box:
        verdict = replace(verdict, note=await why_stopped(loop, turn.box) or verdict.note)
    if turn.kind == "conflict" and verdict.kind == "failed":
        verdict = replace(verdict, note=f"{verdict.note}\n\n{handed_back(session, turn)}")
    await _record(loop, session, turn, result, outcome, verdict, published, diff)


async def _forget_secrets(loop: Loop, turn: Turn, result: Result, findings: Findings) -> None:
    """The files of a refused turn are kept for a while, but not those that hold a secret."""
    paths = {finding.path for finding in findings.refusals if finding.code in SECRETS}
    shas = [change.sha for change in result.changes if change.path in paths and change.sha]
    async with loop.database.write() as tx:
        await tx.execute(delete(Blob).where(Blob.turn_id == turn.id, Blob.sha.in_(shas)))


def _too_much(turn: Turn, result: Result, before: Spent) -> Passed | None:
    """The cap on changed files that this turn passes, by itself or with what its session changed before."""
    changed = Spent(files=frozenset(change.path for change in result.changes))
    return Caps.of(turn.limits).passed(changed, Spent(files=before.files)) if turn.kind != "conflict" else None


async def _publish(loop: Loop, repo: RepositoryHandle, session: Session, turn: Turn, result: Result) -> Published:
    """The turn's commit on its branch, and the pull request; both are found again when this runs twice."""
    if session.branch is None or result.tree is None or turn.base_sha is None:
        raise ValueError(f"turn {turn.public_id} was reported without a branch, a tree or a base")

    async def content_of(sha: str) -> bytes:
        async with loop.database.read() as tx:
            return (await tx.get_one(Blob, (turn.id, sha))).content

    fork = await forks.allowed_pull(loop, repo, session)
    message = commit_message(
        commit_subject(session, turn), _body(turn), turn=turn.public_id, co_authors=await _co_authors(loop, turn, fork)
    )
    wanted = Publication(
        turn.public_id,
        session.branch,
        turn.base_sha,
        result.tree,
        changes_of(result),
        message,
        merged=_taken_in(turn),
    )
    done = await publish(repo, wanted, content_of)
    now = loop.clock()
    async with loop.database.write() as tx:
        fresh = await tx.get_one(Session, session.id)
        fresh.head_sha, fresh.pushed_at = done.head, now
        row = await tx.get_one(Turn, turn.id)
        row.commit_sha = done.commit
        text = f"commit {done.commit[:12]} on {session.branch}: {len(result.changes)} files"
        await journal.append(
            tx, session.id, [("published", {"commit": done.commit, "text": text})], at=now, turn_id=turn.id
        )
    if session.pull_number is None:
        await _open_pull(loop, repo, session, turn, fork)
    return done


async def _open_pull(loop: Loop, repo: RepositoryHandle, session: Session, turn: Turn, fork: Pull | None) -> None:
    draft = bool((session.config or {}).get("draft_until_green", True))
    base, _ = await base_of(repo, session, await queries.facts(repo))
    pull = await pulls.open_or_find(
        repo,
        branch=session.branch or "",
        base=base,
        title=pull_title(session),
        body=pull_body(session, turn, loop.options.public_url, loop.me.names[0], fork=fork),
        draft=draft,
    )
    now = loop.clock()
    async with loop.database.write() as tx:
        fresh = await tx.get_one(Session, session.id)
        fresh.pull_number, fresh.pull_node_id, fresh.pull_draft = pull.number, pull.node_id, pull.draft
        fresh.pull_state, fresh.base_branch = "open", pull.base_ref
        entry = ("pull_request", {"number": pull.number, "text": f"pull request #{pull.number}"})
        await journal.append(tx, session.id, [entry], at=now, turn_id=turn.id)


async def _record(
    loop: Loop,
    session: Session,
    turn: Turn,
    result: Result,
    outcome: dict[str, object],
    verdict: TurnVerdict,
    published: Published | None,
    diff: WholeDiff | None,
) -> None:
    now = loop.clock()
    async with loop.database.write() as tx:
        row = await tx.get_one(Turn, turn.id)
        fresh = await tx.get_one(Session, session.id)
        if row.status != "reported":
            return
        if verdict.kind == "again" and row.lost == 0:
            restart_turn(row, f"{verdict.note} {ONCE_MORE}".strip())
            await journal.append(tx, session.id, [("status", {"text": row.waits})], at=now, turn_id=row.id)
            return
        _keep_resume(fresh, row, outcome)
        if verdict.kind == "afresh":
            restart_turn(row, "")
            row.waits = "The agent's earlier conversation is gone: it begins a new one, with a summary of that."
            await journal.append(tx, session.id, [("status", {"text": row.waits})], at=now, turn_id=row.id)
            return
        row.finished_at, row.given, row.changed_files = now, None, []
        if published is not None:
            row.status = "done"
            fresh.status = "waiting"
            row.changed_files = [change.path for change in result.changes]
            fresh.diff = diff.text if diff else result.diff
            fresh.changed_files = list(diff.files if diff else sorted({*fresh.changed_files, *row.changed_files}))
            fresh.summary = row.message
            _note(fresh, verdict.note)
        elif verdict.kind == "nothing":
            row.status = "done"
            fresh.summary = row.message
            if row.runtime == "command":
                row.message = None  # a program's output is a log, not an answer
            if fresh.head_sha is not None:
                fresh.status = "waiting"
        else:
            row.status = "cancelled" if verdict.kind == "cancelled" else "failed"
            row.error = verdict.reason or verdict.kind
            _note(fresh, verdict.note)
        if verdict.reason != "push_refused":
            await tx.execute(delete(Blob).where(Blob.turn_id == turn.id))


def _note(session: Session, text: str) -> None:
    if text and text not in session.notes:
        session.notes = [*session.notes, text]


def changes_of(result: Result) -> list[FileChange]:
    """The changes as a tree takes them: the path that a rename left is a deletion, unless something new is there."""
    stands = {change.path for change in result.changes}
    left = {change.old_path for change in result.changes if change.old_path} - stands
    changes = [FileChange(change.path, change.mode, change.sha, change.size) for change in result.changes]
    return changes + [FileChange(path) for path in sorted(filter(None, left))]


def _resumed(turn: Turn) -> bool:
    """Whether the turn was to go on with a conversation of its CLI."""
    return bool(((turn.spec or {}).get("request") or {}).get("resume"))


def _keep_resume(session: Session, turn: Turn, outcome: dict[str, object]) -> None:
    """The CLI's own id of the conversation, so that the next turn goes on with it."""
    if turn.runtime is None:
        return
    if outcome.get("retry_fresh"):
        session.resume = {name: kept for name, kept in session.resume.items() if name != turn.runtime}
    elif cli_id := outcome.get("session_id"):
        workdir = (turn.spec or {}).get("workdir", "")
        kept = {"id": cli_id, "cwd": f"{{home}}/{workdir}", "totals": outcome.get("totals") or {}}
        session.resume = {**session.resume, turn.runtime: kept}


async def _co_authors(loop: Loop, turn: Turn, fork: Pull | None) -> list[CoAuthor]:
    """Who asked, and whose work it goes on with."""
    found = [CoAuthor(fork.author_id, fork.author)] if fork is not None and fork.author_id else []
    if turn.requested_by is not None:
        async with loop.database.read() as tx:
            person = await tx.get(Person, turn.requested_by)
        if person is not None:
            found.append(CoAuthor(person.id, person.login))
    return found


def _taken_in(turn: Turn) -> str | None:
    """The commit that the box merged before the agent began; of a conflict turn it is one that nobody has seen."""
    if turn.kind == "conflict":
        return None
    merge = ((turn.spec or {}).get("repository") or {}).get("merge")
    return str(merge["sha"]) if merge else None


def _body(turn: Turn) -> str:
    return (turn.message or "") if turn.runtime != "command" else ""

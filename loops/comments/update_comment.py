"""Telling people: the sticky comment, our check run and answers in threads, each edited in place when it changes."""

import structlog
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from github.client.errors import Locked
from github.client.repository import RepositoryHandle
from github.threads import comments
from loops.boxes.capacity import read_queue
from loops.boxes.queue import Wait
from loops.checks.shown_evidence import evidence_of
from loops.comments import status_comment
from loops.comments.check_run import show_check
from loops.comments.public_text import public_text
from loops.comments.threads import answer_threads
from loops.context import Loop
from loops.secrets.redact import Redactor
from loops.sessions.ask import asked_by
from loops.sessions.decide import cancelled
from loops.sessions.effects import find, keep, show
from loops.sessions.explanations import explain
from loops.sessions.plan_pace import pause
from loops.sessions.snapshots import turns_of
from loops.store.locking import locked
from loops.store.states import OPEN_TURN, TurnStatus
from loops.store.tables import Attempt, Person, Repository, Session, Turn

log = structlog.get_logger(__name__)

KIND = "comment"
LOCKED = "locked"


async def update_comment(loop: Loop, session_id: int) -> float | None:
    """Bring what people see up to date. Nothing is sent that is there already.

    While an agent works through its check list, comments are edited now and then: the time from which on it may be told
    what is new since, or None where all of it was.
    """
    async with loop.database.read() as tx:
        session = await tx.get_one(Session, session_id)
        repository = await tx.get_one(Repository, session.repository_id)
        turns = await turns_of(tx, session_id)
        told = await status_comment_of(loop, tx, session, repository, turns)
        later = await _told_again(tx, loop, session) if told.plan else None
    if later is not None:
        return later
    repo = loop.handle(repository)
    body = Redactor().text(status_comment.render(told))
    if await _is_newly_locked(loop, repo, session, turns, body):
        # the check run and the page tell, also why the comment does not
        return await update_comment(loop, session_id)
    await show_check(loop, repo, session, told, body)
    await answer_threads(loop, repo, session, turns)
    return None


async def _told_again(tx: AsyncSession, loop: Loop, session: Session) -> float | None:
    """When the session's comment may be edited again; None: now."""
    posted = await find(tx, session.id, KIND, "sticky")
    if posted is None or posted.digest is None:
        return None
    at_work = select(func.count()).select_from(Turn).join(Session, Session.id == Turn.session_id)
    at_work = at_work.where(Turn.status == TurnStatus.RUNNING, Session.installation_id == session.installation_id)
    again = posted.at + pause((await tx.execute(at_work)).scalar_one())
    return again if again > loop.clock() else None


def status_key(public_id: str) -> str:
    """The key of the marker in a session's status comment."""
    return f"session:{public_id}"


async def status_of(loop: Loop, session: Session) -> str:
    """The state in a line, and where all of it stands."""
    async with loop.database.read() as tx:
        repository = await tx.get_one(Repository, session.repository_id)
        told = await status_comment_of(loop, tx, session, repository, await turns_of(tx, session.id))
        posted = await find(tx, session.id, KIND, "sticky")
    number = session.subject_number or session.pull_number
    where = (
        f"{told.repository_url}/issues/{number}#issuecomment-{posted.external_id}"
        if posted and posted.external_id
        else told.url
    )
    return f"{status_comment.headline(told)}. [All of it]({where})"


async def _is_newly_locked(loop: Loop, repo: RepositoryHandle, session: Session, turns: list[Turn], body: str) -> bool:
    """Bring the sticky comment up to date. True where the thread turns out to be locked; one try for each turn."""
    number = session.subject_number or session.pull_number
    lock = f"{LOCKED}:{turns[-1].number if turns else 0}"
    if number is None:
        return False
    async with loop.database.read() as tx:
        if await find(tx, session.id, LOCKED, lock) is not None:
            return False

    async def put(known: int | None, perhaps: bool) -> int:
        key = status_key(session.public_id)
        return (await comments.put_sticky(repo, number, key, body, comment_id=known, new=not perhaps)).id

    try:
        await show(loop, session.id, KIND, "sticky", body, put)
    except Locked as error:
        log.warning("comment.locked", session=session.public_id, error=str(error))
        async with loop.database.write() as tx:
            await keep(tx, session.id, LOCKED, lock, "", None, loop.clock())
            fresh = await locked(tx, Session, session.id)
            note = f"#{number} is locked, so I cannot comment there: this page and the check run tell how it goes."
            if note not in fresh.notes:
                fresh.notes = [*fresh.notes, note]
        return True
    return False


async def status_comment_of(
    loop: Loop, tx: AsyncSession, session: Session, repository: Repository, turns: list[Turn]
) -> status_comment.StatusComment:
    """The session as people see it."""
    last = turns[-1] if turns else None
    people = {turn.requested_by for turn in turns} | {last.owner_id if last else session.owner_id}
    logins = {
        person.id: person.login
        for person in (await tx.execute(select(Person).where(Person.id.in_([p for p in people if p])))).scalars()
    }
    attempts = (await tx.execute(select(Attempt).where(Attempt.session_id == session.id))).scalars().all()
    since = max((turn.id for turn in turns if turn.requested_by), default=0)
    active = next((turn for turn in turns if turn.status in OPEN_TURN), None)
    verdict = (await read_queue(tx, loop, turn_id=active.id)).get(active.id) if active else None
    web = f"{loop.web_url}/{repository.full_name}"
    checks = session.checks if session.checks and session.checks.get("sha") == session.head_sha else {}
    # no edit for each check that ends, nor while a moment passes after the last: the page has those
    passing = checks.get("passing") or checks.get("state") in ("green", "none")
    explanation = "" if passing else str(checks.get("explanation") or "")
    return status_comment.StatusComment(
        handle=loop.me.names[0],
        status=session.status,
        outcome=session.outcome,
        reason=public_text(session.reason or "", loop.web_urls) or None,
        url=f"{loop.options.public_url}/sessions/{session.public_id}",
        repository_url=web,
        turns=tuple(_line(turn, logins.get(turn.requested_by or 0, "")) for turn in turns),
        attempt=sum(1 for attempt in attempts if attempt.turn_id > since),
        cap=session.cap,
        owner=logins.get((last.owner_id if last else session.owner_id) or 0, ""),
        pull_number=session.pull_number,
        pull_url=f"{web}/pull/{session.pull_number}",
        active=_shown(active) if active else None,
        kind=active.kind if active else "",
        waits=public_text((active.waits or "") if active else "", loop.web_urls),
        spared=active is not None and (active.retry_at or 0.0) > loop.clock(),
        place=verdict.place if isinstance(verdict, Wait) else 0,
        checks=str(checks.get("state") or ""),
        autofix=session.options.get("autofix") is not False,
        stopping=cancelled(session.cancel_by) if session.cancel_by else "",
        excused=tuple(status_comment.excused_lines(checks)),
        failing=tuple(status_comment.failing_names(checks)) if session.outcome != "green" else (),
        evidence=await evidence_of(tx, session.id, session.head_sha) if session.outcome != "green" else (),
        explanation=public_text(explanation, loop.web_urls),
        answer=session.summary or "" if session.outcome == "answered" else "",
        plan=_steps(active) if active is not None and not session.cancel_by else (),
        notes=tuple(public_text(str(note), loop.web_urls) for note in session.notes),
    )


def _steps(turn: Turn) -> tuple[tuple[str, str], ...]:
    """The check list of the agent that is at work."""
    steps = (turn.plan or []) if turn.status is TurnStatus.RUNNING and turn.stop_reason is None else []
    return tuple((str(each["text"]), str(each["state"])) for each in steps)


def _shown(turn: Turn) -> TurnStatus:
    """The state as people are told it: a turn whose box waits for nothing starts within a moment, and works."""
    return TurnStatus.RUNNING if turn.status is TurnStatus.READY and not turn.waits else turn.status


def _line(turn: Turn, login: str) -> status_comment.TurnLine:
    state = {"queued": "waiting", "ready": "starting", "running": "working", "reported": "publishing"}.get(
        _shown(turn), turn.status
    )
    if turn.status == "done" and turn.commit_sha is None:
        state = "no changes"
    if turn.status == "failed" and turn.error:
        state = explain(turn.error).title
    return status_comment.TurnLine(
        number=turn.number,
        asked=asked_by(turn.trigger, login),
        state=state,
        runtime=turn.runtime or "",
        commit=turn.commit_sha,
        files=len(turn.changed_files),
        tokens=turn.input_tokens + turn.output_tokens,
        cost=turn.cost,
    )

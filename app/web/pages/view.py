"""What the page of a session shows, read in one snapshot."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.web.pages import words
from app.web.pages.render import html
from loops.comments.public_text import public_text
from loops.sessions.explanations import explain, in_a_line
from loops.store.states import OPEN_SESSION, SessionStatus, TurnStatus
from loops.store.tables import Attempt, Effect, Person, Repository, Session, Turn
from loops.store.work_tables import UnfinishedWork, WorkSoFar


@dataclass(frozen=True)
class View:
    """A session with everything around it. `owner` asked last; `owners`: for whom each turn runs, by its id;
    `unfinished`: what turns that were cut short had changed, by their ids; `so_far`: what one at work has."""

    session: Session
    turns: Sequence[Turn]
    repository: str
    owner: str
    owners: Mapping[int, str]
    attempts: int
    comment: str | None
    unfinished: Mapping[int, UnfinishedWork]
    so_far: WorkSoFar | None = None

    @property
    def over(self) -> bool:
        return self.session.status not in OPEN_SESSION


async def view(tx: AsyncSession, session: Session) -> View:
    """Read what belongs to `session`."""
    turns = (await tx.execute(select(Turn).where(Turn.session_id == session.id).order_by(Turn.number))).scalars().all()
    repository = await tx.get(Repository, session.repository_id)
    people = {session.owner_id, *(turn.owner_id for turn in turns)} - {None}
    found = await tx.execute(select(Person.id, Person.login).where(Person.id.in_(people)))
    logins: dict[int, str] = {row.id: row.login for row in found}
    owners = {turn.id: logins.get(turn.owner_id or 0, "the installation") for turn in turns}
    attempts = (await tx.execute(select(Attempt.id).where(Attempt.session_id == session.id))).all()
    comment = (
        (
            await tx.execute(
                select(Effect.external_id)
                .where(Effect.session_id == session.id, Effect.kind == "comment", Effect.external_id != "")
                .limit(1)
            )
        )
        .scalars()
        .first()
    )
    left = await tx.execute(select(UnfinishedWork).where(UnfinishedWork.turn_id.in_([turn.id for turn in turns])))
    unfinished = {work.turn_id: work for work in left.scalars()}
    working = (turns[-1].id,) if turns and turns[-1].status == TurnStatus.RUNNING else ()
    so_far = await tx.get(WorkSoFar, working) if working else None
    name = repository.full_name if repository else f"repository {session.repository_id}"
    return View(
        session, turns, name, logins.get(session.owner_id or 0, ""), owners, len(attempts), comment, unfinished, so_far
    )


def state_html(found: View, diff: str, web_url: str, public_url: str, *, operator: bool) -> str:
    """The part of the page that changes as a whole: state, turns, checks, and the diff, which is HTML already.

    `operator`: it is for whoever runs the service, who reads everything as it was said.
    """
    session = found.session
    reason = session.reason or ""
    why = explain(reason) if reason and session.status is SessionStatus.FAILED else None
    said = session.notes if operator else [public_text(note, (web_url, public_url)) for note in session.notes]
    title, tone = words.state(session)
    checks = session.checks or {}
    groups = [
        (name, tone, checks.get(name) or [])
        for name, tone in (("failing", "bad"), ("running", "busy"), ("other", "quiet"), ("green", "good"))
    ]
    return html(
        "_state.html",
        session=session,
        why=why,
        ended=in_a_line(reason) if why else reason,
        detail=reason.partition(":")[2].strip() if operator else "",
        operator=operator,
        notes=said,
        unfinished=found.unfinished,
        so_far=found.so_far,
        errors={turn.id: explain(turn.error).title for turn in found.turns if turn.error and turn.status == "failed"},
        turns=found.turns,
        title=title,
        tone=tone,
        names=words.TURNS,
        attempts=found.attempts,
        owner=found.owner,
        owners=found.owners,
        links=links(found, web_url),
        commit_url=f"{_repository_url(found, web_url)}/commit/",
        checks=checks,
        groups=groups,
        diff=diff,
        tokens=sum(turn.input_tokens + turn.output_tokens for turn in found.turns),
        cost=sum(turn.cost for turn in found.turns),
    )


def links(found: View, web_url: str) -> list[tuple[str, str]]:
    """(text, address) of what the session is about on GitHub."""
    session, base = found.session, _repository_url(found, web_url)
    made: list[tuple[str, str]] = []
    subject = f"{base}/{'pull' if session.subject_kind == 'pull' else 'issues'}/{session.subject_number}"
    if session.subject_number is not None:
        made.append((f"{session.subject_kind} #{session.subject_number}", subject))
        if found.comment:
            made.append(("comment", f"{subject}#issuecomment-{found.comment}"))
    if session.pull_number is not None and session.pull_number != session.subject_number:
        made.append((f"pull request #{session.pull_number}", f"{base}/pull/{session.pull_number}"))
    if session.branch:
        made.append((session.branch, f"{base}/tree/{quote(session.branch)}"))
    return made


def text_of_diff(found: View) -> str:
    """What its turn at work has changed so far, or the session's diff, or what its last turn had changed when it was
    cut short, or the last one that a turn reported."""
    session, turns = found.session, found.turns
    if found.so_far is not None and found.so_far.size:
        return zlib.decompress(found.so_far.patch).decode("utf-8", "replace")
    if session.diff:
        return session.diff
    if (last := found.unfinished.get(turns[-1].id) if turns else None) is not None:
        return zlib.decompress(last.patch).decode("utf-8", "replace")
    results: list[dict[str, Any]] = [turn.result for turn in turns if turn.result]
    return next((str(result["diff"]) for result in reversed(results) if result.get("diff")), "")


def _repository_url(found: View, web_url: str) -> str:
    return f"{web_url.rstrip('/')}/{quote(found.repository)}"

"""Settled and red: collect the evidence, and start the next attempt if one is left and can help."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from github.settle import Verdict
from loops import decide
from loops.collect import Failure, Found, collect, failures, fingerprint
from loops.context import Loop
from loops.conversations import Ask, add_attempt_turn
from loops.redact import Redactor
from loops.steps.checks import fresh_state, store_state
from loops.steps.finish import finish
from loops.tables import Attempt, Log, Session, Turn

SAME_TWICE = 2  # the same failure after this many attempts is not going to go away by another


@dataclass(frozen=True)
class History:
    """The attempts since a person last asked: how many, and their fingerprints in order."""

    numbers: int
    fingerprints: tuple[str, ...]
    heads: frozenset[str]
    last_number: int


async def repair(loop: Loop, session: Session, action: decide.Repair) -> None:
    """Start an attempt on the red head, or end the session with what is still red."""
    if session.options.get("autofix") is False:
        note = "Repairs are off here (`autofix off`), and checks are red."
        await finish(loop, session, decide.Finish("failed", reason="autofix_off", note=note))
        return
    repo, state, since = await fresh_state(loop, session, action.sha)
    if state.verdict is not Verdict.RED:
        await store_state(loop, session, action.sha, state, since)
        return
    async with loop.database.read() as tx:
        history = await _history(tx, session)
    names = ", ".join(f"`{check.name}`" for check in state.red[:10])
    if history.numbers >= session.cap:
        note = f"Still red after {history.numbers} of {session.cap} attempts: {names}."
        await finish(loop, session, decide.Finish("failed", reason="cap_reached", note=note))
        return
    if action.sha in history.heads:
        note = f"The last turn changed nothing about {names}."
        await finish(loop, session, decide.Finish("failed", reason="no_progress", note=note))
        return
    found = await collect(
        repo,
        state.red,
        budget=loop.options.evidence_bytes,
        changed_files=[str(each) for each in session.changed_files],
        redact=Redactor().text,
    )
    failed = failures(found)
    print_ = fingerprint(failed)
    if history.fingerprints[-SAME_TWICE:] == (print_,) * SAME_TWICE:
        note = f"{names} fail in the same way as before the last {SAME_TWICE} attempts."
        await finish(loop, session, decide.Finish("failed", reason="no_progress", note=note))
        return
    await _start(loop, session, action.sha, history, failed, print_)


async def _start(loop: Loop, session: Session, sha: str, history: History, failed: list[Failure], print_: str) -> None:
    now = loop.clock()
    number = history.last_number + 1
    wish = Ask(
        trigger="checks",
        instruction="",
        kind="checks",
        by=None,
        by_login="",
        context={
            "sha": sha,
            "attempt": history.numbers + 1,
            "checks": [_shown(each) for each in failed],
            "logs": [each.first.log_name for each in failed if each.first.log],
            "title": session.title,
        },
    )
    async with loop.database.write() as tx:
        if sha in (await _history(tx, session)).heads:
            return
        fresh = await tx.get_one(Session, session.id)
        turn = await add_attempt_turn(tx, fresh, wish, now)
        tx.add(
            Attempt(
                session_id=session.id,
                number=number,
                head_sha=sha,
                turn_id=turn.id,
                fingerprint=print_,
                failing=[list(each.names) for each in failed],
                created_at=now,
            )
        )
        for each in failed:
            if each.first.log:
                tx.add(Log(turn_id=turn.id, name=each.first.log_name, content=each.first.log))


def _shown(failure: Failure) -> dict[str, Any]:
    first: Found = failure.first
    ranges = ", ".join(f"{start}-{end}" if end > start else str(start) for start, end in failure.distilled.shown)
    shown = f"\n(lines {ranges} of {failure.distilled.total_lines})" if ranges else ""
    return {
        "name": ", ".join(failure.names),
        "conclusion": first.check.conclusion,
        "evidence": failure.distilled.excerpt + shown,
        "url": first.check.url,
        "logs": [{"path": f"{{turn_dir}}/logs/{first.log_name}", "size": first.size}] if first.log else [],
    }


async def _history(tx: AsyncSession, session: Session) -> History:
    attempts = list(
        (await tx.execute(select(Attempt).where(Attempt.session_id == session.id).order_by(Attempt.number))).scalars()
    )
    asked = await tx.execute(
        select(Turn.id).where(Turn.session_id == session.id, Turn.requested_by.is_not(None)).order_by(Turn.id.desc())
    )
    last_asked = asked.scalars().first() or 0
    since = [each for each in attempts if each.turn_id > last_asked]
    return History(
        numbers=len(since),
        fingerprints=tuple(each.fingerprint for each in since),
        heads=frozenset(each.head_sha for each in attempts),
        last_number=attempts[-1].number if attempts else 0,
    )

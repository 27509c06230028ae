"""Settled and red: collect the evidence, and start the next attempt if one is left and can help."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from github.checks.verdict import Verdict
from github.repositories import queries
from loops.checks.base_failures import known_at_base
from loops.checks.collect import CHECKS, MOST_CHECKS, CollectedCheck, Failure, collect, failures
from loops.checks.distiller import distiller
from loops.checks.last_passing import last_passing
from loops.checks.look import Fresh, fresh_state, leave_optional, store_state
from loops.checks.merge_queue import leave_queue
from loops.checks.next_attempt import GiveUp, History, Repair, Rerun, asked_about_checks, choose
from loops.checks.own_commits import own_commits
from loops.checks.repair_owner import RepairOwner, repair_owner
from loops.checks.rerun_jobs import go_on, run_again, spent, wishes
from loops.checks.shown_evidence import keep_evidence
from loops.context import Loop
from loops.conversations.asking import add_turn
from loops.conversations.retrying import last_asked, repairs_of
from loops.evidence.model import Distilled
from loops.secrets.redact import Redactor
from loops.sessions import decide
from loops.sessions.ask import Ask, RedChecks, ReviewText, ThreadText
from loops.sessions.ask_columns import ask_of
from loops.sessions.finish import finish
from loops.sessions.reasons import Reason
from loops.store.locking import locked
from loops.store.states import SessionStatus, SubjectKind
from loops.store.tables import Attempt, Log, Session, Turn

NAMED = 300  # tests and places that are kept by name


@dataclass(frozen=True)
class Past:
    """The attempts since a person last asked; `heads` and `last_number` are of all there ever were.

    `asked`: a person's words were about what is red.
    """

    count: int
    fingerprints: tuple[str, ...]
    heads: frozenset[str]
    last_number: int
    asked: bool


async def repair(loop: Loop, session: Session, action: decide.RepairChecks) -> float | None:
    """Start an attempt on the red head, run it again, or end the session with what is still red."""
    now = await fresh_state(loop, session, action.sha, max_age=queries.STEP)
    if now is None:
        return None
    repo, state = now.repo, now.state
    if state.verdict is not Verdict.RED:
        await store_state(loop.database, session, action.sha, state, now.asked_at)
        return None
    async with loop.database.read() as tx:
        past = await _past(tx, session)
    if action.sha in past.heads:
        note = "The last turn changed nothing, and the checks are still red."
        await _give_up(loop, session, now, GiveUp(Reason.NO_PROGRESS, note))
        return None
    off = session.options.get("autofix") is False
    wished = await wishes(loop.database, session, action.sha)
    if not off and (until := await go_on(loop, repo, session, wished, state.red)) is not None:
        return until
    reruns = spent([wish.external_id for wish in wished], state.red)
    history = History(past.count, past.fingerprints, reruns)
    known = frozenset[str]() if off or past.asked else await known_at_base(loop, repo, session, state.red)
    failed = await _failures(loop, session, now, known)
    await keep_evidence(loop.clock, loop.database, session, action.sha, failed)
    if off:
        await _give_up(loop, session, now, GiveUp(Reason.AUTOFIX_OFF, ""))
        return None
    match choose(failed, known, history, cap=session.cap, reruns=loop.options.reruns):
        case Rerun() if all(check.in_queue for check in state.red):
            await leave_queue(loop, session, action.sha)
        case Rerun(again):
            return await run_again(loop, repo, session, f"{action.sha}:{len(wished) + 1}", again)
        case GiveUp() as chosen:
            await _give_up(loop, session, now, chosen)
        case Repair() as wanted:
            owner = await repair_owner(loop, repo, session, action.sha)
            if owner.waits:
                await _give_up(loop, session, now, GiveUp(Reason.OTHERS_PUSHED, owner.note))
            else:
                await _start(loop, session, action.sha, past, wanted, owner)
    return None


async def _failures(loop: Loop, session: Session, now: Fresh, known: frozenset[str]) -> list[Failure]:
    """Why the checks are red: of the first few, and of more where the base branch shows all of those too."""
    found: list[CollectedCheck] = []
    async with loop.database.read() as tx:
        ours = await own_commits(tx, session, now.sha)
    first = session.own_branch and ours.base in ours.parents[:1]
    for at in range(0, min(len(now.state.red), MOST_CHECKS), CHECKS):
        found += await collect(
            distiller(loop, now.repo),
            now.repo,
            now.state.red[at : at + CHECKS],
            budget=loop.options.evidence_bytes,
            changed_files=[str(each) for each in session.changed_files],
            redact=Redactor().text,
            sha=now.sha,
            before=lambda left: last_passing(loop, now.repo, left, session.base_branch, now.sha, first=first),
        )
        if any(each.distilled.fingerprint not in known for each in found):
            break
    return failures(found)


async def _give_up(loop: Loop, session: Session, now: Fresh, chosen: GiveUp) -> None:
    """End the session; not for checks that nobody requires."""
    if now.state.suffices:
        await store_state(loop.database, session, now.sha, now.state, now.asked_at)
        note = f"{chosen.note} Nobody requires what is red, so it holds nothing back.".strip()
        await leave_optional(loop, session, decide.LeaveOptional(now.sha, note))
        return
    await finish(loop, session, decide.Finish(SessionStatus.FAILED, reason=chosen.reason, note=chosen.note))


async def _start(loop: Loop, session: Session, sha: str, past: Past, chosen: Repair, owner: RepairOwner) -> None:
    now = loop.clock()
    failed = chosen.failures
    about = RedChecks(
        sha=sha,
        attempt=past.count + 1,
        title=session.title,
        checks=tuple(_shown(each) for each in failed),
        logs=tuple(each.first.log_name for each in failed if each.first.log),
        not_ours=tuple(chosen.not_ours),
        queued=all(check.in_queue for each in failed for check in each.checks),
    )
    async with loop.database.write() as tx:
        if sha in (await _past(tx, session)).heads:
            return
        fresh = await locked(tx, Session, session.id)
        ask = repairs_of(await last_asked(tx, session.id), about)
        turn = await add_turn(tx, fresh, ask, owner=owner.person, now=now)
        if owner.note and owner.note not in fresh.notes:
            fresh.notes = [*fresh.notes, owner.note]
        tx.add(
            Attempt(
                session_id=session.id,
                number=past.last_number + 1,
                head_sha=sha,
                turn_id=turn.id,
                fingerprint=chosen.fingerprint,
                failing=[list(each.names) for each in failed],
                created_at=now,
            )
        )
        for each in failed:
            if each.first.log:
                tx.add(Log(turn_id=turn.id, name=each.first.log_name, content=each.first.log))


def _shown(failure: Failure) -> dict[str, Any]:
    first: CollectedCheck = failure.first
    ranges = ", ".join(f"{start}-{end}" if end > start else str(start) for start, end in failure.distilled.shown)
    shown = f"\n(lines {ranges} of {failure.distilled.total_lines})" if ranges else ""
    return {
        "name": ", ".join(failure.names),
        "conclusion": first.check.conclusion,
        "evidence": failure.distilled.excerpt + shown,
        "url": first.check.url,
        "command": failure.distilled.command or "",
        "step": failure.distilled.step or "",
        "exit_code": failure.distilled.exit_code,
        **_job(first, failure.distilled),
        "logs": [{"path": f"logs/{first.log_name}", "size": first.size}] if first.log else [],
    }


def _job(first: CollectedCheck, distilled: Distilled) -> dict[str, Any]:
    """The job as its run had it, and what failed in it by name: what a box needs to try the failed step."""
    if first.job is None or not first.check.path:
        return {}
    return {
        "workflow": first.check.path,
        "job": first.job.name,
        "steps": [[step.name, step.conclusion] for step in first.job.steps],
        "tests": list(distilled.failing_tests[:NAMED]),
        "places": [f"{each.file}:{each.line}" for each in distilled.diagnostics[:NAMED]],
    }


async def _past(tx: AsyncSession, session: Session) -> Past:
    attempts = list(
        (await tx.execute(select(Attempt).where(Attempt.session_id == session.id).order_by(Attempt.number))).scalars()
    )
    found = await tx.execute(
        select(Turn).where(Turn.session_id == session.id, Turn.requested_by.is_not(None)).order_by(Turn.id)
    )
    by_people = list(found.scalars())
    since = [each for each in attempts if not by_people or each.turn_id > by_people[-1].id]
    words = " ".join(_words(ask_of(turn)) for turn in by_people)
    earlier = await _earlier(tx, session) if session.subject_kind is SubjectKind.BRANCH else ()
    return Past(
        count=len(since),
        fingerprints=(*earlier, *(each.fingerprint for each in since)),
        heads=frozenset(each.head_sha for each in attempts),
        last_number=attempts[-1].number if attempts else 0,
        asked=asked_about_checks(words),
    )


def _words(ask: Ask) -> str:
    title = ask.about.title if isinstance(ask.about, ThreadText | ReviewText) else ""
    return f"{ask.instruction} {title}"


async def _earlier(tx: AsyncSession, session: Session) -> tuple[str, ...]:
    """The fingerprints of former sessions about this branch: a branch that stays red costs no attempts for ever."""
    found = await tx.execute(
        select(Attempt.fingerprint)
        .join(Session, Session.id == Attempt.session_id)
        .where(Session.repository_id == session.repository_id, Session.subject_kind == SubjectKind.BRANCH)
        .where(Session.base_branch == session.base_branch, Session.id < session.id)
        .order_by(Attempt.id)
    )
    return tuple(found.scalars())

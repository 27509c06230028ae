"""Asking GitHub for the whole state of a head commit, and keeping what it said."""

from dataclasses import dataclass
from typing import Any

from github.checks import verdict
from github.checks.model import Check, Snapshot
from github.checks.state import assembled, reported, required_checks
from github.client.repository import RepositoryHandle
from github.repositories import queries
from loops.checks.expecting import all_begun, with_expected
from loops.checks.merge_queue import with_queued
from loops.context import Clock, Loop
from loops.conversations.pull_state import has_ended, may_be_late
from loops.sessions import decide
from loops.sessions.snapshots import rules
from loops.store import journal
from loops.store.database import Database
from loops.store.locking import locked
from loops.store.states import SessionStatus, SubjectKind
from loops.store.tables import Repository, Session

WELL = (verdict.Verdict.GREEN, verdict.Verdict.NONE)


@dataclass(frozen=True)
class Fresh:
    """What GitHub said just now: the repository, the state of the commit, and when it was asked."""

    repo: RepositoryHandle
    sha: str
    state: verdict.HeadState
    asked_at: float


async def look_at_checks(loop: Loop, session: Session, action: decide.LookAtChecks) -> None:
    """Store the state of the commit; the next picture decides by it."""
    fresh = await fresh_state(loop, session, action.sha)
    if fresh is not None:
        await store_state(loop.database, session, action.sha, fresh.state, fresh.asked_at)


async def fresh_state(loop: Loop, session: Session, sha: str, *, max_age: float = 0.0) -> Fresh | None:
    """The state of the session's head; None when the head is another one by now, or its pull request is closed: that is
    recorded instead. What GitHub said within the last `max_age` seconds will do.

    The rules of the base branch may be a minute old, but not where all is well by them.
    """
    async with loop.database.read() as tx:
        repository = await tx.get_one(Repository, session.repository_id)
    repo = loop.handle(repository)
    asked_at = loop.clock()
    number = session.pull_number
    told = await reported(repo, sha, number=number, max_age=max_age, without_runs_at_work=number is not None)
    pull = told.pull
    if pull is not None and await has_ended(loop.clock, loop.database, session, pull):
        return None
    if pull is not None and pull.head_sha != sha and await _moved(loop.clock, loop.database, repo, session, sha):
        return None
    base = pull.base_ref if pull else session.base_branch
    since = session.pushed_at or session.created_at
    ahead = loop.github.transport.offset

    def settled(found: Snapshot, *, begun: bool = False) -> verdict.HeadState:
        return verdict.settle(
            found,
            rules(loop.options, session.config),
            now=asked_at + ahead,
            since=since + ahead,
            ready=(session.ready_at or 0.0) + ahead,
            leave_optional=left_alone(session, sha),
            all_begun=begun,
        )

    async def judged(rules_age: float, max_age: float) -> tuple[Snapshot, verdict.HeadState]:
        required = await required_checks(repo, base, max_age=rules_age) if base else ()
        found = assembled(told, required, own_app_id=loop.me.app_id)
        found = await with_queued(loop, repo, session, found, max_age=max_age)
        return found, settled(found)

    found, state = await judged(queries.SOON, max_age)
    if not told.whole and not verdict.is_at_work(state):
        told = await reported(repo, sha, number=number, max_age=max(max_age, queries.STEP))
        found, state = await judged(queries.SOON, max_age)
    if state.verdict in WELL:
        found, state = await judged(queries.STEP, queries.STEP)
    if state.quiet and state.red and await all_begun(loop, repo, session, found, base if pull else None):
        state = settled(found, begun=True)
    state = await with_expected(loop, repo, session, found, state, base if pull else None, now=asked_at)
    return Fresh(repo, sha, state, asked_at)


async def _moved(clock: Clock, database: Database, repo: RepositoryHandle, session: Session, sha: str) -> bool:
    """Whether somebody pushed since, and the event is lost or late. The ref tells: a pull request may lag behind it.

    Just after a push of ours the ref may lag as well: then a commit before ours is no news.
    """
    tip = await queries.head(repo, session.branch or "")
    if tip is None or tip == sha:
        return False
    if may_be_late(session, clock()) and await queries.is_before(repo, tip, sha):
        return False
    if session.subject_kind is SubjectKind.BRANCH and await queries.head(repo, session.base_branch or "") == sha:
        return False  # the next red commit of the branch that is watched, before its repair
    now = clock()
    async with database.write() as tx:
        fresh = await locked(tx, Session, session.id)
        if fresh.head_sha == tip:
            return True  # the event about it came meanwhile
        fresh.head_sha, fresh.pushed_at = tip, now
        text = f"{session.branch} moved to {tip[:12]}"
        await journal.append(tx, session.id, [("status", {"text": text})], at=now)
    return True


def left_alone(session: Session, sha: str) -> bool:
    """Whether repairing what nobody requires was given up on this commit."""
    checks = session.checks or {}
    return checks.get("sha") == sha and bool(checks.get("left_alone"))


async def leave_optional(loop: Loop, session: Session, action: decide.LeaveOptional) -> None:
    """Give up what is red and not required: it is named, and the commit is judged without it from now on."""
    sha, note = action.sha, action.note
    async with loop.database.write() as tx:
        fresh = await locked(tx, Session, session.id)
        if (fresh.checks or {}).get("sha") != sha:
            return
        fresh.checks = {**(fresh.checks or {}), "left_alone": True}
        fresh.hint_at, fresh.status = loop.clock(), SessionStatus.WAITING
        if note and note not in fresh.notes:
            fresh.notes = [*fresh.notes, note]


async def store_state(
    database: Database, session: Session, sha: str, state: verdict.HeadState, asked_at: float
) -> None:
    """Keep the state; a line in the journal when it is another than before."""
    stored = to_json(sha, state, asked_at)
    async with database.write() as tx:
        fresh = await locked(tx, Session, session.id)
        before = fresh.checks or {}
        if left_alone(fresh, sha):
            stored["left_alone"] = True
        fresh.checks, fresh.checks_at = stored, asked_at
        if (before.get("sha"), before.get("state")) != (sha, stored["state"]):
            text = f"checks of {sha[:12]}: {stored['state']}. {stored['explanation']}"
            await journal.append(tx, session.id, [("checks", {**stored, "text": text})], at=asked_at)


def to_json(sha: str, state: verdict.HeadState, now: float) -> dict[str, Any]:
    """What is kept of a state: enough to decide and to show."""
    return {
        "sha": sha,
        "state": state.verdict.value,
        "explanation": state.explanation,
        "look_again": None if state.look_again is None else now + state.look_again,
        "failing": [_check(check) for check in state.red],
        "running": [_check(check) for check in state.running],
        "green": [_check(check) for check in state.green],
        "other": [_check(check) for check in (*state.awaiting, *state.cancelled)],
        "excused": [{**_check(each.check), "why": each.why} for each in state.excused],
        "suffices": state.suffices,
        "passing": state.passing,
    }


def _check(check: Check) -> dict[str, Any]:
    return {
        "kind": check.kind.value,
        "id": check.id,
        "name": check.shown_name,
        "conclusion": check.conclusion,
        "url": check.url,
        "required": check.required,
    }

"""A check that came, or came back red, after the session of its commit had ended well or had waited for it in vain: the
session goes on with it."""

from github.checks import state, verdict
from github.client.repository import RepositoryHandle
from github.repositories import queries
from github.repositories.config import Checks
from github.webhooks.identity import Me
from github.webhooks.outcomes import Hint
from loops.checks.look import left_alone
from loops.context import Clock, Loop
from loops.conversations.finding import asked_and_ended_well, lock, waited_in_vain
from loops.conversations.watching import watch_again
from loops.requests.decision import Decision
from loops.sessions.reasons import Outcome
from loops.sessions.snapshots import rules
from loops.store import journal
from loops.store.locking import locked
from loops.store.tables import Session


async def take_late(loop: Loop, repo: RepositoryHandle, hint: Hint) -> Decision | None:
    """Let the session go on that a person asked for, with its conversation and its cap as they were: with what is red,
    or with the first check that comes at all.

    None where none ended well on this commit or waited for its checks in vain, or it is not the head any more.
    """
    async with loop.database.read() as tx:
        stuck = await waited_in_vain(tx, hint.repo.id, hint.sha)
        session = await asked_and_ended_well(tx, hint.repo.id, hint.sha)
    if stuck is not None and (session is None or session.id < stuck.id):
        return await _take_stuck(loop, repo, stuck, hint.sha)
    if session is None or not (hint.failed or session.outcome == Outcome.NO_CHECKS):
        return None
    if not await _is_head(repo, session, hint.sha):
        return None
    if not hint.failed:
        return await _go_on(loop, session, hint.sha, "a check came after the end")
    checks = rules(loop.options, session.config)
    given_up = left_alone(session, hint.sha)
    if not await is_red(loop.clock, loop.me, repo, hint.sha, session.base_branch, checks, leave_optional=given_up):
        return nothing_red(hint.sha)
    return await _go_on(loop, session, hint.sha, "red checks after the end")


async def _take_stuck(loop: Loop, repo: RepositoryHandle, session: Session, sha: str) -> Decision | None:
    """Go on with the session that waited in vain, unless what it waited for is still to come."""
    if not await _is_head(repo, session, sha):
        return None
    now = loop.clock()
    found = await state.snapshot(repo, sha, own_app_id=loop.me.app_id, base=session.base_branch)
    judged = verdict.settle(found, rules(loop.options, session.config), now=now, since=session.pushed_at or now)
    if not judged.red and not judged.running and (judged.awaiting or judged.missing or judged.cancelled):
        return Decision("ignored", f"what is waited for on {sha[:12]} has not come yet")
    return await _go_on(loop, session, sha, "a check that was waited for came after the end")


async def _go_on(loop: Loop, session: Session, sha: str, why: str) -> Decision:
    now = loop.clock()
    async with loop.database.write() as tx:
        await lock(tx, session.repository_id)
        fresh = await locked(tx, Session, session.id)
        if fresh.status is session.status and fresh.reason == session.reason and fresh.head_sha == sha:
            said = str((fresh.checks or {}).get("explanation") or "")
            fresh.notes = [note for note in fresh.notes if not (said and note.startswith(said))]
            await watch_again(tx, fresh, now)
            await journal.append(tx, fresh.id, [("status", {"text": f"{why}, on {sha[:12]}"})], at=now)
    return Decision("started", why, session.id)


async def _is_head(repo: RepositoryHandle, session: Session, sha: str) -> bool:
    if session.pull_number is None:
        return session.branch is not None and await queries.head(repo, session.branch) == sha
    pull = await queries.pull(repo, session.pull_number)
    return pull.state == "open" and pull.head_sha == sha


def nothing_red(sha: str) -> Decision:
    """The answer to an event that is out of date."""
    return Decision("ignored", f"nothing that counts is red on {sha[:12]} now")


async def is_red(
    clock: Clock,
    me: Me,
    repo: RepositoryHandle,
    sha: str,
    base: str | None,
    checks: Checks,
    *,
    leave_optional: bool = False,
) -> bool:
    """Whether a check that counts is red by what GitHub says now: events come late, and of older attempts."""
    now = clock()
    found = await state.snapshot(repo, sha, own_app_id=me.app_id, base=base)
    return bool(verdict.settle(found, checks, now=now, since=now, leave_optional=leave_optional).red)

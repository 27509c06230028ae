"""A head for which GitHub starts no checks gets an empty commit of ours on top, for which it does.

That is what GitHub documents of pushes with a workflow's own GITHUB_TOKEN: they start no workflows, those of an App do.
"""

from sqlalchemy import func, select

from github.client.errors import NotFastForward
from github.client.permanent_errors import PERMANENT
from github.client.repository import RepositoryHandle
from github.publishing.commits import commit_message, create_commit, tree_of
from github.publishing.publish import point
from loops.checks.expecting import UNSTARTED
from loops.context import Loop
from loops.sessions import decide, effects
from loops.sessions.finish import finish
from loops.sessions.reasons import Reason
from loops.store import journal
from loops.store.locking import locked
from loops.store.states import SessionStatus
from loops.store.tables import Effect, Repository, Session

KIND = "started_checks"
COMMIT = "empty_commit"
MOST = 2  # commits for one session: a workflow that pushes after each of them would never end
SUBJECT = "Start the checks"
BODY = "A workflow pushed the commit before with its own token, and GitHub starts no workflows for that."
BY_HAND = "Push to the branch, or close the pull request and open it again, and they start; then I go on by myself."


async def start_checks(loop: Loop, session: Session, action: decide.StartChecks) -> None:
    """Put the empty commit on our own branch; on a person's, or where it did not help, end the session with what to do.

    Twice is once: a branch that has moved on is left alone, and its new head is looked at.
    """
    async with loop.database.read() as tx:
        repository = await tx.get_one(Repository, session.repository_id)
        made = select(func.count()).select_from(Effect)
        made = made.where(Effect.session_id == session.id, Effect.kind == KIND, Effect.key != action.sha)
        often = (await tx.execute(made)).scalar_one() >= MOST
    if not session.own_branch or often or session.branch is None:
        again = f" That happened after {MOST} commits of mine that were to start them, too." if often else ""
        note = f"{UNSTARTED}.{again} {BY_HAND}"
        await finish(loop, session, decide.Finish(SessionStatus.FAILED, reason=Reason.CHECKS_NEVER_SETTLED, note=note))
        return
    try:
        commit = await _on_top(loop, loop.handle(repository), session, action.sha)
    except PERMANENT as error:
        note = f"{UNSTARTED}, and I may not push one that would: {error}"
        await finish(loop, session, decide.Finish(SessionStatus.FAILED, reason=Reason.CHECKS_NEVER_SETTLED, note=note))
        return
    now = loop.clock()
    async with loop.database.write() as tx:
        await effects.keep(tx, session.id, KIND, action.sha, commit or "", None, now)
        fresh = await locked(tx, Session, session.id)
        fresh.hint_at = now
        if commit is not None:
            fresh.head_sha, fresh.pushed_at = commit, now
            note = f"{UNSTARTED}: an empty commit of mine starts them."
            fresh.notes = [*(each for each in fresh.notes if each != note), note]
            text = f"empty commit {commit[:12]} on {session.branch} to start the checks"
            await journal.append(tx, session.id, [("status", {"text": text})], at=now)


async def _on_top(loop: Loop, repo: RepositoryHandle, session: Session, sha: str) -> str | None:
    """An empty commit on the branch, on top of `sha`; None where the branch has moved on: by us before a crash, too."""
    message = commit_message(SUBJECT, BODY, turn=f"checks-{sha}")

    async def make() -> str:
        return await create_commit(repo, message=message, tree=await tree_of(repo, sha), parents=[sha])

    commit = await effects.once(loop, session.id, COMMIT, sha, make)
    try:
        await point(repo, session.branch or "", commit, new=False)
    except NotFastForward:
        return None
    return commit

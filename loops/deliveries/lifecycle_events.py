"""Changes of the world that conversations have to know of: closed pull requests, renames, removals, pushes."""

from sqlalchemy import ColumnElement, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from github.webhooks.outcomes import Change, LifecycleEvent
from loops.context import Loop
from loops.conversations.cancelling import cancel
from loops.conversations.pull_state import ENDS, PULL_STATES
from loops.conversations.withdrawing import withdraw
from loops.requests.decision import Decision
from loops.sessions.known_accounts import remember_installation, remember_repository
from loops.store.leases import make_due
from loops.store.states import OPEN_SESSION, SessionStatus
from loops.store.tables import Installation, Repository, Session

GRANTS = (
    Change.INSTALLED,
    Change.UNSUSPENDED,
    Change.PERMISSIONS_ACCEPTED,
    Change.REPOSITORIES_ADDED,
    Change.REPOSITORIES_REMOVED,
)


async def take_lifecycle_event(loop: Loop, news: LifecycleEvent) -> Decision:
    """Bring what we keep up to date, and end or wake the conversations concerned."""
    now = loop.clock()
    if news.change in GRANTS:
        loop.github.forget(news.installation_id)
    async with loop.database.write() as tx:
        await _remember(tx, news, now)
        if news.change is Change.COMMENT_DELETED and news.repo and news.source:
            touched = await withdraw(tx, news.repo.id, news.source.id, now)
            return Decision("noted", news.change.value, touched[0] if touched else None)
        concerned = await _concerned(tx, news)
        for session in concerned:
            await _tell_session(tx, session, news, now)
    return Decision("noted", news.change.value, concerned[0].id if concerned else None)


async def _tell_session(tx: AsyncSession, session: Session, news: LifecycleEvent, now: float) -> None:
    if news.change in PULL_STATES and news.subject is not None:
        if session.pull_number not in (None, news.subject.number):
            return  # the fork's, which our own pull request outlives
        # GitHub keeps no order among deliveries: that it was opened may come after that it was closed
        if news.change not in (Change.PULL_OPENED, Change.PULL_READY) or session.pull_state is None:
            session.pull_state = PULL_STATES[news.change]
        if news.change is Change.PULL_READY and session.status in OPEN_SESSION:
            session.pull_draft, session.ready_at = False, now
            await tx.flush()
            await make_due(tx, session.id, now)
    if news.change is Change.BRANCH_MOVED:
        if session.status is SessionStatus.WAITING and news.after:
            if news.after != session.head_sha:
                session.head_sha, session.pushed_at = news.after, now
            session.hint_at = now
            await tx.flush()
            await make_due(tx, session.id, now)
    elif news.change in ENDS:
        await cancel(tx, session, ENDS[news.change], now)


async def _concerned(tx: AsyncSession, news: LifecycleEvent) -> list[Session]:
    where: list[ColumnElement[bool]] = [Session.status.in_(OPEN_SESSION)]
    if news.change in PULL_STATES:
        where = []
    if news.change in (Change.UNINSTALLED, Change.SUSPENDED):
        where.append(Session.installation_id == news.installation_id)
    elif news.change is Change.REPOSITORIES_REMOVED:
        where.append(Session.repository_id.in_([repo.id for repo in news.repositories]))
    elif news.repo is not None:
        where.append(Session.repository_id == news.repo.id)
    else:
        return []
    if news.subject is not None and news.change is not Change.BRANCH_MOVED:
        number = news.subject.number
        where.append(or_(Session.pull_number == number, Session.subject_number == number))
    elif news.change in (Change.BRANCH_MOVED, Change.BRANCH_DELETED):
        where.append(Session.branch == (news.branch or "\0"))
    concerned = select(Session).where(*where).order_by(Session.id).with_for_update(key_share=True)
    return list((await tx.execute(concerned)).scalars())


async def _remember(tx: AsyncSession, news: LifecycleEvent, now: float) -> None:
    await remember_installation(tx, news.installation_id, news.account, now)
    marks: dict[Change, dict[str, float | None]] = {
        Change.UNINSTALLED: {"removed_at": now},
        Change.SUSPENDED: {"suspended_at": now},
        Change.UNSUSPENDED: {"suspended_at": None},
        Change.INSTALLED: {"removed_at": None, "suspended_at": None},
    }
    if news.change in marks:
        await tx.execute(
            update(Installation).where(Installation.id == news.installation_id).values(**marks[news.change])
        )
    if news.repo is not None:
        await remember_repository(tx, news.repo, now)
        if news.change in (Change.ARCHIVED, Change.UNARCHIVED):
            archived = news.change is Change.ARCHIVED
            await tx.execute(update(Repository).where(Repository.id == news.repo.id).values(archived=archived))
        if news.change is Change.REPOSITORY_DELETED:
            await tx.execute(update(Repository).where(Repository.id == news.repo.id).values(removed_at=now))
        if news.change is Change.DEFAULT_BRANCH_CHANGED and news.repo.default_branch:
            branch = news.repo.default_branch
            await tx.execute(update(Repository).where(Repository.id == news.repo.id).values(default_branch=branch))
    for repo in news.repositories:
        await remember_repository(tx, repo, now)
        if news.change is Change.REPOSITORIES_REMOVED:
            await tx.execute(update(Repository).where(Repository.id == repo.id).values(removed_at=now))

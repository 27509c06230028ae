"""What GitHub says of the session's pull request now: the webhook about it may be late or lost."""

from github.repositories.queries import Pull
from github.webhooks.outcomes import Change
from loops.context import Clock
from loops.conversations.cancelling import cancel
from loops.store.database import Database
from loops.store.locking import locked
from loops.store.states import PullState
from loops.store.tables import Session

ENDS = {
    Change.PULL_CLOSED: "the pull request was closed",
    Change.PULL_MERGED: "the pull request was merged",
    Change.ISSUE_CLOSED: "the issue was closed",
    Change.ISSUE_DELETED: "the issue was deleted",
    Change.ISSUE_TRANSFERRED: "the issue was transferred",
    Change.BRANCH_DELETED: "the branch was deleted",
    Change.ARCHIVED: "the repository was archived",
    Change.TRANSFERRED: "the repository was transferred",
    Change.REPOSITORY_DELETED: "the repository was deleted",
    Change.UNINSTALLED: "the App was uninstalled",
    Change.SUSPENDED: "the App was suspended",
    Change.REPOSITORIES_REMOVED: "the App lost access to the repository",
}
PULL_STATES = {
    Change.PULL_CLOSED: PullState.CLOSED,
    Change.PULL_MERGED: PullState.MERGED,
    Change.PULL_OPENED: PullState.OPEN,
    Change.PULL_READY: PullState.OPEN,
    Change.PULL_REOPENED: PullState.OPEN,
}


LATE_SECONDS = 120.0  # after a push of ours, in which GitHub may still show the branch as it was before


def may_be_late(session: Session, now: float) -> bool:
    """Whether the branch was pushed so lately that GitHub may not show it everywhere."""
    return session.pushed_at is not None and 0 <= now - session.pushed_at < LATE_SECONDS


async def has_ended(clock: Clock, database: Database, session: Session, pull: Pull) -> bool:
    """Whether `pull` was closed or merged; then its session is asked to end. Of an open one its base is kept."""
    change = Change.PULL_MERGED if pull.merged else Change.PULL_CLOSED if pull.state == "closed" else None
    if change is None and pull.base_ref == session.base_branch:
        return False
    async with database.write() as tx:
        fresh = await locked(tx, Session, session.id)
        if change is None:
            fresh.base_branch = session.base_branch = pull.base_ref
        else:
            fresh.pull_state = PULL_STATES[change]
            await cancel(tx, fresh, ENDS[change], clock())
    return change is not None

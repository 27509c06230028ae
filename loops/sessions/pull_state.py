"""What GitHub says of the session's pull request now: the webhook about it may be late or lost."""

from github.repositories.facts import Pull
from github.webhooks.outcomes import Change
from loops.context import Loop
from loops.requests.lifecycle_events import ENDS, PULL_STATES
from loops.sessions import conversations
from loops.store.tables import Session


async def has_ended(loop: Loop, session: Session, pull: Pull) -> bool:
    """Whether `pull` was closed or merged; then its session is asked to end. Of an open one its base is kept."""
    change = Change.PULL_MERGED if pull.merged else Change.PULL_CLOSED if pull.state == "closed" else None
    if change is None and pull.base_ref == session.base_branch:
        return False
    async with loop.database.write() as tx:
        fresh = await tx.get_one(Session, session.id)
        if change is None:
            fresh.base_branch = session.base_branch = pull.base_ref
        else:
            fresh.pull_state = PULL_STATES[change]
            await conversations.cancel(tx, fresh, ENDS[change], loop.clock())
    return change is not None

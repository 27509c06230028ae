"""Whether a request was answered in an earlier life: by a database that was lost, or since the backup that is in use.

What we leave on GitHub tells: our reaction on a comment that asked, and the marker in our comments on a thread.
"""

from sqlalchemy import or_, select, update

from github.client.repository import RepositoryHandle
from github.threads import comments
from github.threads.comments import Reacted
from github.webhooks.outcomes import Request
from github.webhooks.sources import CheckButton, InlineComment, OwnText, ThreadComment
from loops.comments.update_comment import status_key
from loops.store.database import Database
from loops.store.tables import Delivery, Session

BEGUN = "begun"
WHY = "it was answered before: our mark is there, and this database is newer, or was restored"


async def begins(database: Database, guid: str) -> bool:
    """Note that effects of this delivery follow; whether none can have been before, in this database."""
    async with database.write() as tx:
        untouched = update(Delivery).where(Delivery.guid == guid, Delivery.decision.is_(None))
        return (await tx.execute(untouched.values(decision=BEGUN).returning(Delivery.guid))).first() is not None


def answered_there(request: Request, reacted: Reacted) -> bool:
    """Whether our reaction stood on the comment that asks, which asks once."""
    return reacted is Reacted.STANDS and isinstance(request.source, ThreadComment | InlineComment)


async def answered_on_thread(
    database: Database, repo: RepositoryHandle, request: Request, *, max_age: float = 0.0
) -> bool:
    """Whether a thread unknown to this database tells of a session, since the request, that is unknown to it too. What
    stood there within the last `max_age` seconds will do."""
    source, subject = request.source, request.subject
    if subject is None or isinstance(source, CheckButton):
        return False
    at = source.changed_at if isinstance(source, OwnText) else source.at
    async with database.read() as tx:
        same = or_(Session.subject_number == subject.number, Session.pull_number == subject.number)
        known = select(Session.id).where(Session.repository_id == request.repo.id, same).limit(1)
        if not at or (await tx.execute(known)).first() is not None:
            return False
    keys = await comments.keys_since(repo, subject.number, at, max_age=max_age)
    told = {key.removeprefix(status_key("")) for key in keys if key.startswith(status_key(""))}
    async with database.read() as tx:
        ours = set((await tx.execute(select(Session.public_id).where(Session.public_id.in_(told)))).scalars())
    return bool(told - ours)

"""Pull requests from forks: only the head that somebody with write access allowed is worked on, and only read.

The fork itself is never written to. The work goes to a branch and a pull request of ours, which run with the
repository's own secrets: so nothing gets there that nobody looked at.
"""

from sqlalchemy import select

from github.client.repository import RepositoryHandle
from github.repositories import config, queries
from github.repositories.queries import Pull
from github.webhooks.events import BadPayload, parse
from loops.context import Loop
from loops.guards.globs import first_match
from loops.sessions.ask import ReviewText, ThreadText
from loops.sessions.ask_columns import ask_of, source_of
from loops.sessions.snapshots import settings, turns_of
from loops.store.database import Database
from loops.store.tables import Delivery, Session, Turn

LATE_SECONDS = 3600.0  # by which a push may have arrived before the comment that it followed
MOST_FILES = 3000  # that GitHub lists of a pull request


_LOOK = (
    "nobody has allowed me to work on what is new. Look at it, then mention me on #{number} once more: I start from "
    "what is there then."
)


class HeadMoved(Exception):
    """The fork has other commits now than those that were allowed. The message is for people."""


async def allowed_pull(loop: Loop, repo: RepositoryHandle, session: Session) -> Pull | None:
    """The fork's pull request if its head is still the one that was allowed; None for a session without a fork.

    A comment does not say which head it was written under, so the head was asked for when the comment arrived; a push
    that came in between is known by its own webhook. Raises HeadMoved.
    """
    if session.approved_sha is None or session.subject_number is None:
        return None
    pull = await queries.pull(repo, session.subject_number)
    if pull.head_sha != session.approved_sha:
        raise HeadMoved(
            f"#{pull.number} moved from {session.approved_sha[:12]} to {pull.head_sha[:12]} after I was asked, and "
            + _LOOK.format(number=pull.number)
        )
    if await _pushed_since(loop.database, session):
        raise HeadMoved(
            f"#{pull.number} got {pull.head_sha[:12]} between your comment and its arrival here, and "
            + _LOOK.format(number=pull.number)
        )
    return pull


async def _pushed_since(database: Database, session: Session) -> bool:
    """Whether the head that was taken for the allowed one was pushed after the comment that allowed it."""
    async with database.read() as tx:
        turns = await turns_of(tx, session.id)
        asked = [turn for turn in turns if turn.requested_by and _is_about(turn, session.subject_number)]
        source = source_of(asked[-1]) if asked else None
        at = source.at if source else ""
        if not at:
            return False
        pushes = await tx.execute(
            select(Delivery.body)
            .where(Delivery.event == "pull_request", Delivery.action == "synchronize")
            .where(Delivery.repository_id == session.repository_id)
            .where(Delivery.received_at > asked[-1].created_at - LATE_SECONDS)
        )
        bodies = [body for body in pushes.scalars() if body]
    for body in bodies:
        try:
            event = parse("pull_request", body)
        except BadPayload:
            continue
        pull = event.pull_request
        if (
            pull is not None
            and (pull.number, event.after) == (session.subject_number, session.approved_sha)
            and (pull.updated_at or "") > at
        ):
            return True
    return False


def _is_about(turn: Turn, number: int | None) -> bool:
    about = ask_of(turn).about
    return isinstance(about, ThreadText | ReviewText) and about.number == number


async def protected_path(repo: RepositoryHandle, session: Session, number: int) -> str | None:
    """A protected path that the fork itself changes, or what else forbids to bring its commits here; None: nothing."""
    protected = (*settings(session.config).protected_paths, config.PATH)
    seen = 0
    async for each in repo.pages(f"pulls/{number}/files", limit=MOST_FILES):
        seen += 1
        for path in (str(each.get("filename") or ""), str(each.get("previous_filename") or "")):
            if path and first_match(path, protected):
                return f"`{path}`"
    return f"more than {MOST_FILES - 1} files" if seen >= MOST_FILES else None

"""Which commits below a head are ours, by what this database knows of our own pushes: then GitHub need not be asked."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from loops.sessions.effects import COMMIT
from loops.store.tables import Effect, Session, Turn


@dataclass(frozen=True)
class OwnCommits:
    """A line of commits of ours from a head down: the first parents of each, the newest first.

    `base` is the commit of the base branch that the line begins on; None where it begins elsewhere, or holds a commit
    that was merged.
    """

    parents: tuple[str, ...] = ()
    base: str | None = None


async def own_commits(tx: AsyncSession, session: Session, sha: str) -> OwnCommits:
    """Our commits that `sha` ends: of each the session remembers that it made it, and on top of what."""
    made = (
        select(Turn)
        .join(Effect, (Effect.session_id == Turn.session_id) & (Effect.key == Turn.public_id))
        # by the effect: a trailer, by which a commit is found again, is what anybody may write
        .where(Turn.session_id == session.id, Effect.kind == COMMIT, Effect.external_id == Turn.commit_sha)
    )
    turns = {turn.commit_sha: turn for turn in (await tx.execute(made)).scalars()}
    parents: list[str] = []
    first, merged = None, False
    while (turn := turns.pop(sha, None)) is not None and turn.base_sha is not None:
        told = (turn.spec or {}).get("repository") or {}
        first, merged = told, merged or bool(told.get("merge"))
        sha = turn.base_sha
        parents.append(sha)
    begun_there = first is not None and first.get("ref") == f"refs/heads/{session.base_branch}"
    return OwnCommits(tuple(parents), sha if begun_there and not merged else None)

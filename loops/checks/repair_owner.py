"""Whose box and account a turn uses that nobody asked for: a repair of red checks, or of a conflict.

It runs what is on the branch. So it is somebody's only while nobody else has pushed there since they asked; else it is
the installation's, without anybody's own account, or waits for a person, as the repository's settings say. Commits that
we made one on top of the other tell that by themselves; of all others GitHub is asked who pushed them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from github.apps.access import access_of
from github.client.errors import NotVisibleYet
from github.client.repository import RepositoryHandle
from github.repositories import queries
from github.repositories.pushes import Push, pushers, pushes
from github.webhooks.identity import Me
from github.webhooks.outcomes import Actor
from loops.accounts.choice import CannotRun, choose
from loops.checks.own_commits import own_commits
from loops.context import Loop
from loops.conversations.pull_state import may_be_late
from loops.conversations.retrying import last_asked
from loops.sessions.ask_columns import ask_of, options_json
from loops.sessions.snapshots import settings
from loops.store.states import SubjectKind
from loops.store.tables import Session

MOST_NAMED = 5


@dataclass(frozen=True)
class Candidate:
    """Somebody whose turn it would be, while nobody else has pushed since the commit `since` (None: ever)."""

    person: int
    login: str
    since: str | None


@dataclass(frozen=True)
class RepairOwner:
    """`person` None: the installation. `note` tells people why it is nobody's own, `waits` that it is not to begin."""

    person: int | None
    note: str = ""
    waits: bool = False


async def repair_owner(loop: Loop, repo: RepositoryHandle, session: Session, sha: str) -> RepairOwner:
    """Whose a repair of the red commit is: who asked last, else the author of a pull request who may write.

    Raises NotVisibleYet while GitHub does not list the last push yet.
    """
    async with loop.database.read() as tx:
        asked = await last_asked(tx, session.id, begun=True)
        ours = await own_commits(tx, session, sha)
    candidates = []
    if asked is not None and asked.owner_id is None:
        return RepairOwner(None)
    if asked is not None and asked.base_sha in ours.parents:
        return RepairOwner(asked.owner_id)  # all that came since is what we made of it
    if asked is not None and asked.owner_id is not None:
        candidates.append(Candidate(asked.owner_id, ask_of(asked).asker.login, asked.base_sha))
    if session.pull_number is not None and not session.own_branch:
        pull = await queries.pull(repo, session.pull_number, max_age=queries.STEP)
        author = Actor(pull.author_id, pull.author)
        if not loop.me.is_me(author) and (await access_of(repo, pull.author, pull.author_id)).may_write:
            candidates.append(Candidate(author.id, author.login, None))
    return await owner_among(loop, repo, session, candidates, sha)


async def owner_among(
    loop: Loop, repo: RepositoryHandle, session: Session, candidates: Sequence[Candidate], sha: str
) -> RepairOwner:
    """The first of the candidates since whom nobody else has pushed up to `sha`. Raises NotVisibleYet."""
    if not candidates:
        return RepairOwner(None)
    listed = await pushes(repo, session.branch or "")
    found = first_alone(candidates, listed, sha, loop.me)
    if found is not None:
        return RepairOwner(found.person)
    unlisted = all(push.after != sha for push in listed) and session.subject_kind is not SubjectKind.BRANCH
    if unlisted and may_be_late(session, loop.clock()):
        raise NotVisibleYet(f"GitHub does not list yet who pushed {sha} to {session.branch}")
    return await _nobodys(loop, session, told(candidates[0], listed, sha, loop.me))


def first_alone(candidates: Sequence[Candidate], listed: Sequence[Push], sha: str, me: Me) -> Candidate | None:
    """The first candidate since whom only they and we have pushed, by their ids. Pure."""
    for candidate in candidates:
        found = pushers(listed, sha, candidate.since)
        if found is not None and all(by.id == candidate.person or me.is_me(Actor(by.id, by.login)) for by in found):
            return candidate
    return None


def told(candidate: Candidate, listed: Sequence[Push], sha: str, me: Me) -> str:
    """Why it is not the candidate's, for people. Pure."""
    found = pushers(listed, sha, candidate.since) or ()
    others = sorted(
        {by.login or "somebody" for by in found if by.id != candidate.person and not me.is_me(Actor(by.id, by.login))}
    )
    if not others:
        return f"GitHub does not say that nobody but {candidate.login} pushed what is repaired"
    more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
    since = "since then" if candidate.since else "to this branch, too"
    return f"{candidate.login} is not the only one: {', '.join(others[:MOST_NAMED])}{more} pushed {since}"


async def _nobodys(loop: Loop, session: Session, why: str) -> RepairOwner:
    if settings(session.config).autofix.after_others_push == "wait":
        return RepairOwner(None, f"{why}.", waits=True)
    async with loop.database.read() as tx:
        refused = await _refused(tx, loop, session)
    if refused is not None:
        return RepairOwner(None, f"{why}, and the installation has no account for it: {refused}", waits=True)
    return RepairOwner(None, f"{why}: the repair runs in the installation's box, on nobody's own account.")


async def _refused(tx: AsyncSession, loop: Loop, session: Session) -> str | None:
    """Why the installation cannot run it by itself; None if it can."""
    asked = await last_asked(tx, session.id)
    options = options_json(ask_of(asked).options) if asked is not None else {}
    config, default = session.config or {}, loop.options.runtime
    try:
        await choose(tx, session.installation_id, None, options=options, config=config, default=default)
    except CannotRun as error:
        return str(error)
    return None

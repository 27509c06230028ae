"""A turn's commit on its branch, and the pull request.

When this runs twice the commit is known from the turn, or found by its trailer, and the pull request by its branch.
"""

from functools import partial

from github.client.errors import RefusedBranch
from github.client.repository import RepositoryHandle
from github.publishing import pulls
from github.publishing.commits import CoAuthor as CoAuthor
from github.publishing.commits import commit_message
from github.publishing.lfs import LargeFile
from github.publishing.publish import Publication, Published, publish
from github.publishing.pushrules import takes_message
from github.publishing.trees import FileChange
from github.repositories import queries
from github.repositories.queries import Pull
from k8s.runner.protocol import Result
from loops.context import Loop
from loops.sessions import effects
from loops.store import journal
from loops.store.database import Database
from loops.store.locking import locked
from loops.store.states import PullState, TurnKind
from loops.store.tables import Blob, Person, Session, Turn
from loops.turns import forks
from loops.turns.commit_style import READ, style_of
from loops.turns.preparing.start import base_of
from loops.turns.pull_request import attempt_of, closed_by, commit_body, commit_subjects, pull_body, pull_title


async def publish_turn(
    loop: Loop, repo: RepositoryHandle, session: Session, turn: Turn, result: Result, *, max_age: float = 0.0
) -> Published:
    """Publish what the turn changed, and open the pull request where there is none. What this step was told of the
    branch within the last `max_age` seconds will do.

    Raises what `github.publishing` raises, and forks.HeadMoved.
    """
    fork = await forks.approved_pull(repo, session)
    if turn.commit_sha is not None:
        done = Published(turn.commit_sha, session.head_sha or turn.commit_sha, already=True)
    else:
        done = await _push(loop, repo, session, turn, result, fork, max_age)
    if session.pull_number is None:
        await _open_pull(loop, repo, session, turn, result, fork)
    return done


async def _push(
    loop: Loop,
    repo: RepositoryHandle,
    session: Session,
    turn: Turn,
    result: Result,
    fork: Pull | None,
    max_age: float,
) -> Published:
    """The turn's commit on its branch, remembered as soon as it is there."""
    if session.branch is None or result.tree is None or turn.base_sha is None:
        raise ValueError(f"turn {turn.public_id} was reported without a branch, a tree or a base")

    async def content_of(sha: str) -> bytes:
        async with loop.database.read() as tx:
            return (await tx.get_one(Blob, (turn.id, sha))).content

    message = await _message(loop.database, repo, session, turn, result, session.branch, fork)
    wanted = Publication(
        turn.public_id,
        session.branch,
        turn.base_sha,
        result.tree,
        changes_of(result),
        message,
        merged=_taken_in(turn),
        large=[LargeFile(each.path, each.sha, each.lfs) for each in result.changes if each.sha and each.lfs],
    )
    once = partial(effects.once, loop, session.id, effects.COMMIT, turn.public_id)
    done = await publish(repo, wanted, content_of, once, max_age=max_age)
    now = loop.clock()
    async with loop.database.write() as tx:
        row = await locked(tx, Turn, turn.id)
        row.commit_sha = done.commit
        fresh = await locked(tx, Session, session.id)
        fresh.head_sha, fresh.pushed_at = done.head, now
        fresh.failures = 0  # what failed in a row was about the commit, and that is over
        text = f"commit {done.commit[:12]} on {session.branch}: {len(result.changes)} files"
        await journal.append(
            tx, session.id, [("published", {"commit": done.commit, "text": text})], at=now, turn_id=turn.id
        )
    return done


async def _message(
    database: Database,
    repo: RepositoryHandle,
    session: Session,
    turn: Turn,
    result: Result,
    branch: str,
    fork: Pull | None,
) -> str:
    """The commit's message, in the repository's own style; one that its rules take, where there is one."""
    co_authors = await _co_authors(database, turn, fork)
    style = style_of(await queries.subjects(repo, session.base_branch or "", READ))
    body, attempt = commit_body(session, turn, result), attempt_of(turn)
    messages = [
        commit_message(subject, body, turn=turn.public_id, attempt=attempt, co_authors=co_authors)
        for subject in commit_subjects(session, turn, style)
    ]
    for message in messages[:-1]:
        if await takes_message(repo, branch, message):
            return message
    return messages[-1]


async def _open_pull(
    loop: Loop, repo: RepositoryHandle, session: Session, turn: Turn, result: Result, fork: Pull | None
) -> None:
    draft = bool((session.config or {}).get("draft_until_green", True))

    async def opened(base: str) -> Pull:
        return await pulls.open_or_find(
            repo,
            branch=session.branch or "",
            base=base,
            title=pull_title(session),
            body=pull_body(session, turn, result, loop.options.public_url, loop.me.names[0], fork=fork),
            draft=draft,
            closes=closed_by(session),
        )

    known = session.base_branch
    base = known or (await base_of(repo, session, turn))[0]
    try:
        pull = await opened(base)
    except RefusedBranch:
        base, _ = await base_of(repo, session, turn)  # which may have been renamed since the turn began
        if base == known or known is None:
            raise
        pull = await opened(base)
    now = loop.clock()
    async with loop.database.write() as tx:
        fresh = await locked(tx, Session, session.id)
        fresh.pull_number, fresh.pull_node_id, fresh.pull_draft = pull.number, pull.node_id, pull.draft
        fresh.pull_state, fresh.base_branch = PullState.OPEN, pull.base_ref
        entry = ("pull_request", {"number": pull.number, "text": f"pull request #{pull.number}"})
        await journal.append(tx, session.id, [entry], at=now, turn_id=turn.id)


def changes_of(result: Result) -> list[FileChange]:
    """The changes as a tree takes them: the path that a rename left is a deletion, unless something new is there."""
    stands = {change.path for change in result.changes}
    left = {change.old_path for change in result.changes if change.old_path} - stands
    changes = [FileChange(change.path, change.mode, change.sha, change.size) for change in result.changes]
    return changes + [FileChange(path) for path in sorted(filter(None, left))]


async def _co_authors(database: Database, turn: Turn, fork: Pull | None) -> list[CoAuthor]:
    """Who asked, and whose work it goes on with."""
    found = [CoAuthor(fork.author_id, fork.author)] if fork is not None and fork.author_id else []
    if turn.requested_by is not None:
        async with database.read() as tx:
            person = await tx.get(Person, turn.requested_by)
        if person is not None:
            found.append(CoAuthor(person.id, person.login))
    return found


def _taken_in(turn: Turn) -> str | None:
    """The commit that the box merged before the agent began; of a conflict turn it is one that nobody has seen."""
    if turn.kind is TurnKind.CONFLICT:
        return None
    merge = ((turn.spec or {}).get("repository") or {}).get("merge")
    return str(merge["sha"]) if merge else None

"""Publishing a turn: a tree, one commit, and a branch that is made or moved forward; never over anybody's work.

Safe to run twice: a turn whose commit is on the branch already is found by its trailer and left alone.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import structlog

from github.client.errors import (
    AlreadyExists,
    GitHubError,
    NotFastForward,
    PermissionMissing,
    WorkflowsPermissionMissing,
)
from github.client.permanent_errors import LATE
from github.client.repository import RepositoryHandle
from github.client.scopes import allows
from github.publishing import branches, lfs
from github.publishing.commits import TRAILER, create_commit, find_turn, tree_of
from github.publishing.lfs import LargeFile
from github.publishing.merge import merge
from github.publishing.trees import ContentOf, FileChange, build_tree
from github.repositories.queries import head

WORKFLOWS = ".github/workflows/"
Once = Callable[[Callable[[], Awaitable[str]]], Awaitable[str]]
"""Gives the SHA that what it is given makes, or that it made in an earlier try."""
VISIBLE_AFTER = (1, 2, 4)  # seconds between tries to point the branch to a commit just made
RACES = 3  # pushes by others in a row, during one publication, that are merged before it gives up

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Publication:
    """What a turn wants to publish. `parent` is the commit it started from, `tree` the one the box ended with.

    `merged` is another commit that the turn took in: it becomes the second parent. `large`: files under Git LFS.
    """

    turn: str
    branch: str
    parent: str
    tree: str
    changes: Sequence[FileChange]
    message: str
    merged: str | None = None
    large: Sequence[LargeFile] = ()


@dataclass(frozen=True, slots=True)
class Published:
    """`commit` holds the turn; `head` is the branch's tip after it, which is a merge if somebody else had pushed."""

    commit: str
    head: str
    already: bool = False
    merged: bool = False


async def anew(make: Callable[[], Awaitable[str]]) -> str:
    """Make it, whatever was made before."""
    return await make()


async def publish(
    repository: RepositoryHandle,
    wanted: Publication,
    content_of: ContentOf,
    once: Once = anew,
    *,
    max_age: float = 0.0,
) -> Published:
    """Put the turn's commit on its branch, which is made if it is not there. Where the branch stood within the last
    `max_age` seconds will do to begin with: it is moved forward only.

    `once` makes the commit, or gives that of an earlier try: made anew each time it would each time be too young for
    GitHub to point a branch to.

    Raises RefusedBranch (nothing was sent), LfsRefused, TreeMismatch, MergeConflict, HistoryRewritten, RuleViolation,
    WorkflowsPermissionMissing, and what `github.client.app` raises.
    """
    if f"{TRAILER}: {wanted.turn}" not in wanted.message:
        raise ValueError(f"the message of turn {wanted.turn} lacks its trailer: it could not be found again")
    await branches.refuse_unless_ours_to_write(repository, wanted.branch)
    await _refuse_workflows(repository, wanted)
    try:
        return await _sent(repository, wanted, content_of, once, max_age)
    except WorkflowsPermissionMissing:
        raise
    except PermissionMissing as error:
        if await _only_workflows_missing(repository, error):
            raise _no_workflows("the commit holds workflow files that this branch is the first to have") from error
        raise


async def _sent(
    repository: RepositoryHandle, wanted: Publication, content_of: ContentOf, once: Once, max_age: float
) -> Published:
    tip = await head(repository, wanted.branch, max_age=max_age)
    # a branch that stands where the turn began holds nothing of it
    if tip not in (None, wanted.parent) and (done := await find_turn(repository, wanted.branch, wanted.turn)):
        return Published(done, tip or done, already=True)

    async def make() -> str:
        await lfs.upload(repository, wanted.large, content_of)
        base_tree = await tree_of(repository, wanted.parent)
        tree = await build_tree(repository, base_tree, wanted.changes, content_of, expected=wanted.tree)
        parents = [wanted.parent] if wanted.merged is None else [wanted.parent, wanted.merged]
        return await create_commit(repository, message=wanted.message, tree=tree, parents=parents)

    commit = await once(make)
    for _race in range(RACES):
        try:
            published = await _place(repository, wanted, commit, tip)
            log.info("turn.published", repository=repository.id, branch=wanted.branch, turn=wanted.turn, commit=commit)
            return published
        except (NotFastForward, AlreadyExists):
            tip = await head(repository, wanted.branch)
    raise GitHubError(f"{wanted.branch} moved {RACES} times while turn {wanted.turn} was published; try again later")


async def _refuse_workflows(repository: RepositoryHandle, wanted: Publication) -> None:
    """GitHub would refuse the tree, in words that do not say why."""
    touched = [change.path for change in wanted.changes if change.path.startswith(WORKFLOWS)]
    if touched and not await repository.app.grants(repository.installation_id, "workflows"):
        raise _no_workflows(f"the turn changes {', '.join(touched[:5])}")


async def _only_workflows_missing(repository: RepositoryHandle, error: PermissionMissing) -> bool:
    """Whether a bare "Resource not accessible by integration" means workflow files: GitHub says that of a tree, and of
    a ref to a commit with such files (claude-code-action#29), though the App has all that its header asks for."""
    granted = await repository.app.granted(repository.installation_id)
    return granted.get("workflows") != "write" and granted.get("contents") == "write" and allows(error.needed, granted)


def _no_workflows(why: str) -> WorkflowsPermissionMissing:
    return WorkflowsPermissionMissing(
        f"{why}, and the App has no permission `workflows: write`: nothing was published; an owner can give it to the "
        "App, or make that change by hand",
        needed="workflows=write",
    )


async def _place(repository: RepositoryHandle, wanted: Publication, commit: str, tip: str | None) -> Published:
    if tip in (None, wanted.parent):
        await point(repository, wanted.branch, commit, new=tip is None)
        return Published(commit, commit)
    return Published(
        commit, await merge(repository, wanted.branch, wanted.parent, commit, tip, wanted.turn), merged=True
    )


async def point(repository: RepositoryHandle, branch: str, commit: str, *, new: bool) -> None:
    """Make the branch, or move it forward. GitHub may not know a commit yet that it made a moment ago: then it is tried
    again in a moment."""
    act = branches.create if new else branches.fast_forward
    for seconds in VISIBLE_AFTER:
        try:
            return await act(repository, branch, commit)
        except LATE:
            await repository.app.clock.sleep(seconds)
    return await act(repository, branch, commit)

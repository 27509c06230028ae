"""Branches that we write to: which ones never, and how one is made or moved without losing anybody's commit."""

from github.client.errors import AlreadyExists, Invalid, NotFastForward, NotFound, RefusedBranch, RuleViolation
from github.client.repository import RepositoryHandle, quoted
from github.client.scopes import Scope
from github.publishing.pushrules import Push, would_refuse
from github.repositories.queries import HEAD, STEP, branch, facts, head
from github.repositories.refs import branch_problem

MERGE_QUEUE = "gh-readonly-queue/"


async def refuse_unless_ours_to_write(repository: RepositoryHandle, name: str) -> None:
    """Raise RefusedBranch for the default branch, a protected one, a merge queue's, or a name that is no branch's.

    GitHub is asked in each step: no configuration and no memory of ours can make the default branch writable.
    """
    if name.lower().startswith(MERGE_QUEUE):
        raise RefusedBranch(f"{name!r} is a merge queue's own branch, to which nobody pushes: use another branch")
    if problem := branch_problem(name):
        raise RefusedBranch(f"{name!r} is no branch name: {problem}")
    known = await facts(repository, max_age=STEP)
    if not known.default_branch or name.lower() == known.default_branch.lower():
        raise RefusedBranch(
            f"{name!r} is the default branch of {known.full_name}, and Greenloop never pushes there: use another branch"
        )
    if repository.app.told.get(repository.id, HEAD, name, STEP) == (None,):
        return  # it is not there, and whether it may be made GitHub says when it is
    found = await branch(repository, name, max_age=STEP)
    if found is not None and found.protected and (found.classic or await _guarded(repository, name)):
        raise RefusedBranch(
            f"the branch {name!r} of {known.full_name} is protected, and Greenloop never pushes to those: "
            "use another branch, or take this one out of the protection rule"
        )


async def _guarded(repository: RepositoryHandle, name: str) -> bool:
    """Whether a ruleset wants more of a push to the branch than that its commits are well made."""
    return bool(await would_refuse(repository, name, Push(exists=True)))


async def create(repository: RepositoryHandle, name: str, sha: str) -> None:
    """Make the branch `name` at `sha`. One that is there already at this commit is fine.

    Raises RefusedBranch, AlreadyExists (it is there, elsewhere) or RuleViolation.
    """
    await refuse_unless_ours_to_write(repository, name)
    body = {"ref": f"refs/heads/{name}", "sha": sha}
    try:
        await repository.request("POST", "git/refs", scope=Scope.PUBLISH, json=body)
        repository.app.told.put(repository.id, HEAD, name, sha)
    except AlreadyExists:
        if await head(repository, name) != sha:
            raise
    except RuleViolation:
        raise
    except Invalid:
        await _refuse_blocked(repository, name)
        raise


async def _refuse_blocked(repository: RepositoryHandle, name: str) -> None:
    """Git keeps refs as paths, so a branch `a` makes `a/b` impossible; GitHub does not say so."""
    parts = name.split("/")
    for count in range(1, len(parts)):
        parent = "/".join(parts[:count])
        if await head(repository, parent) is not None:
            raise RefusedBranch(
                f"the branch {parent!r} is in the way of {name!r}: delete it, or set another `branch_prefix`"
            )


async def fast_forward(repository: RepositoryHandle, name: str, sha: str) -> None:
    """Move the branch `name` forward to `sha`, never with force. Being there already is fine.

    Raises RefusedBranch, NotFastForward (somebody else pushed) or RuleViolation.
    """
    await refuse_unless_ours_to_write(repository, name)
    body = {"sha": sha, "force": False}
    path = f"git/refs/heads/{quoted(name)}"
    try:
        await repository.request("PATCH", path, scope=Scope.PUBLISH, json=body)
        repository.app.told.put(repository.id, HEAD, name, sha)
    except NotFastForward:
        if await head(repository, name) != sha:
            raise


async def delete(repository: RepositoryHandle, name: str) -> None:
    """Delete a branch of ours. One that is gone is fine. Raises RefusedBranch."""
    await refuse_unless_ours_to_write(repository, name)
    try:
        path = f"git/refs/heads/{quoted(name)}"
        await repository.request("DELETE", path, scope=Scope.PUBLISH)
    except (Invalid, NotFound):  # GitHub says 422 "Reference does not exist"
        if await head(repository, name) is not None:
            raise

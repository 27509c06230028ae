"""Our pull requests: opened once, found again, changed in place, and made ready when they are green."""

from typing import Any

from github.client.defuse import outgoing
from github.client.errors import AlreadyExists, GitHubError, Invalid, PermissionMissing, RefusedBranch
from github.client.repository import RepositoryHandle
from github.client.scopes import Scope
from github.client.text import length
from github.publishing.commits import one_line, without_orders
from github.repositories.queries import Pull, pull, pulls_of_branch, read_pull

MAX_TITLE = 256  # as `length` counts: whether GitHub takes one beyond the first plane for one or two is not told

_READY = """mutation($id: ID!) {
  markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } }
}"""


async def open_or_find(
    repository: RepositoryHandle,
    *,
    branch: str,
    base: str,
    title: str,
    body: str,
    draft: bool = True,
    closes: int | None = None,
) -> Pull:
    """The open pull request from our `branch`, made if there is none. `closes`: the one issue that it may close.

    Where drafts do not exist (private repositories of free plans) it is opened as a plain one. Raises RefusedBranch for
    `branch` = `base` and a base that is not there, NotVisibleYet where GitHub sees no commits between the two.
    """
    if branch == base:
        raise RefusedBranch(f"a pull request from {branch!r} into itself makes no sense: name another base")
    wanted: dict[str, Any] = {"title": _title(title), "head": branch, "base": base, "draft": draft}
    wanted["body"] = outgoing(without_orders(body), closes=closes)  # whoever squashes makes a commit's message of it
    try:
        return await _create(repository, wanted)
    except AlreadyExists:
        if found := await _newest(repository, branch, base):
            return found
        raise
    except Invalid as error:
        if any((each.field, each.code) == ("base", "invalid") for each in error.errors):
            raise RefusedBranch(f"no pull request from {branch!r} into {base!r} can be opened: {error}") from error
        if not draft or "draft" not in error.message.lower():
            raise
    return await _create(repository, {**wanted, "draft": False})


async def update(
    repository: RepositoryHandle,
    number: int,
    *,
    title: str | None = None,
    body: str | None = None,
    state: str | None = None,
) -> Pull:
    """Change the title, the body or the state (open, closed) of a pull request."""
    wanted: dict[str, Any] = {}
    if title is not None:
        wanted["title"] = _title(title)
    if body is not None:
        wanted["body"] = outgoing(without_orders(body))
    if state is not None:
        wanted["state"] = state
    answer = await repository.request("PATCH", f"pulls/{number}", scope=Scope.PUBLISH, json=wanted)
    return read_pull(answer.json())


async def mark_ready(repository: RepositoryHandle, number: int, node_id: str | None = None) -> bool:
    """Take a pull request out of draft; False if it is known not to be one. Only GraphQL can do this.

    With its `node_id` it is not looked at first.
    """
    if node_id is None:
        found = await pull(repository, number)
        if not found.draft:
            return False
        node_id = found.node_id
    try:
        await repository.graphql(_READY, {"id": node_id}, scope=Scope.PUBLISH)
    except PermissionMissing:
        raise
    except GitHubError:
        # The answer may have been lost, or somebody else was quicker: what counts is the state now.
        if (await pull(repository, number)).draft:
            raise
    return True


async def _newest(repository: RepositoryHandle, branch: str, base: str) -> Pull | None:
    found = await pulls_of_branch(repository, branch)
    return next((each for each in found if each.base_ref == base), found[0] if found else None)


async def _create(repository: RepositoryHandle, wanted: dict[str, Any]) -> Pull:
    answer = await repository.request("POST", "pulls", scope=Scope.PUBLISH, json=wanted)
    return read_pull(answer.json())


def _title(title: str) -> str:
    line = one_line(title) or "Changes by Greenloop"
    if length(line) <= MAX_TITLE:
        return line
    return line.encode("utf-16-le", "surrogatepass")[: 2 * MAX_TITLE - 2].decode("utf-16-le", "ignore").rstrip() + "…"

"""Who pushed the commits of a branch, by GitHub's own word on who was authenticated when the branch was moved.

Not by the commits: their authors, committers and co-authors, also as GitHub shows them with a login, come from e-mail
addresses that anybody may write into a commit. Whoever pushes answers for all that the push brings.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from github.client.errors import NotFound
from github.client.repository import RepositoryHandle

NOTHING = "0" * 40
MOST = 300  # moves of one branch that are read
RECENT = 50  # among which the last is looked for


@dataclass(frozen=True, slots=True)
class Pusher:
    """Who was authenticated; `id` is 0 for a deleted account."""

    id: int
    login: str


@dataclass(frozen=True, slots=True)
class Push:
    """A move of a branch; a commit is NOTHING where the branch is made or deleted."""

    before: str
    after: str
    by: Pusher


async def pushes(repository: RepositoryHandle, branch: str, most: int = MOST) -> list[Push]:
    """The moves of the branch as GitHub lists them, newest first, `most` at most; none where it keeps no such list.

    https://docs.github.com/rest/repos/repos#list-repository-activities
    """
    params = {"ref": f"refs/heads/{branch}"}
    try:
        return [_push(each) async for each in repository.pages("activity", params=params, limit=most)]
    except NotFound:  # a GitHub Enterprise Server from before that list
        return []


async def pusher_of(repository: RepositoryHandle, branch: str, sha: str) -> str | None:
    """The login of who brought the branch to `sha` last; None while, or where, GitHub does not list it."""
    found = await pushes(repository, branch, most=RECENT)
    return next((push.by.login for push in found if push.after == sha), None)


def _push(found: dict[str, Any]) -> Push:
    actor = found.get("actor") or {}
    by = Pusher(int(actor.get("id") or 0), str(actor.get("login") or ""))
    return Push(str(found.get("before") or ""), str(found.get("after") or ""), by)


def pushers(listed: Sequence[Push], head: str, since: str | None) -> list[Pusher] | None:
    """Who brought the branch from the commit `since` (None: from nothing) to `head`; None where the list does not say.

    Of a branch that was made after `since`, all who pushed to it. Pure.
    """
    found: list[Pusher] = []
    at = head
    for push in listed:
        if at == since:
            return found
        if push.after == at:
            found.append(push.by)
            at = push.before
            if at == NOTHING:
                return found
        elif found:
            return None  # a move is missing between the two
    return found if at == since else None

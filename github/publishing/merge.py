"""A turn's commit, and somebody else's push to its branch meanwhile: merged where that is clean, never overwritten."""

from github.client.defuse import defused_plain
from github.client.errors import Conflict, NotVisibleYet
from github.client.repository import RepositoryHandle
from github.client.scopes import Scope
from github.publishing import branches
from github.publishing.commits import TRAILER
from github.repositories.queries import compare, head


class MergeConflict(Conflict):
    """Somebody else's push does not merge with the turn. `ours` is the turn's commit, `theirs` the branch's head."""

    def __init__(self, message: str, *, ours: str, theirs: str) -> None:
        super().__init__(message)
        self.ours = ours
        self.theirs = theirs


class HistoryRewritten(Conflict):
    """The branch was force-pushed: it no longer holds the commit that the turn started from."""


async def merge(repository: RepositoryHandle, branch: str, parent: str, commit: str, tip: str, turn: str) -> str:
    """Merge `commit` of `turn`, which started from `parent`, into `branch` as somebody else left it; its new head.

    Raises MergeConflict, HistoryRewritten and NotVisibleYet.
    """
    status = (await compare(repository, parent, tip)).get("status")
    if status == "behind":
        raise NotVisibleYet(
            f"{branch} stands at {tip}, before the commit {parent} that the turn started from: GitHub is "
            "late, or somebody took commits back"
        )
    if status not in ("ahead", "identical"):
        raise HistoryRewritten(
            f"{branch} was force-pushed from {parent} to {tip}: the turn's work is in commit {commit}, "
            "and the branch is left as it is"
        )
    body = {
        "base": branch,
        "head": commit,
        "commit_message": defused_plain(f"Merge what was pushed to {branch} meanwhile")
        + f"\n\n{TRAILER}: {turn}-merge\n",
    }
    await branches.refuse_unless_ours_to_write(repository, branch)
    try:
        answer = await repository.request("POST", "merges", scope=Scope.PUBLISH, json=body)
    except Conflict as error:
        raise MergeConflict(
            f"what was pushed to {branch} meanwhile ({tip}) conflicts with turn {turn} ({commit})",
            ours=commit,
            theirs=tip,
        ) from error
    if answer.status == 204:  # in the branch already
        return await head(repository, branch) or commit
    return str(answer.json()["sha"])

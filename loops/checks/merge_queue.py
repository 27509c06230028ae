"""A pull request that went red in a merge queue, whose commit merges it with its base and has checks of its own.

https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/merging-a-pull-request-with-a-merge-queue
"""

from dataclasses import replace

from github.checks.model import FAILING, Snapshot
from github.checks.state import snapshot
from github.client.errors import Invalid, NotFound
from github.client.repository import RepositoryHandle, quoted
from loops.context import Loop
from loops.store.locking import locked
from loops.store.states import SessionStatus
from loops.store.tables import Session

AGAIN = "It fell out of the merge queue: put it there again."


async def with_queued(
    loop: Loop, repo: RepositoryHandle, session: Session, found: Snapshot, *, max_age: float
) -> Snapshot:
    """The head's snapshot, with what is red on the commit that a merge queue made of this very head."""
    group = session.merge_group or {}
    if group.get("head") != found.sha:
        return found
    try:
        queued = await snapshot(repo, str(group["sha"]), own_app_id=loop.me.app_id, max_age=max_age)
    except (NotFound, Invalid):
        return found
    red = [replace(check, in_queue=True) for check in queued.checks if check.conclusion in FAILING]
    red = [replace(check, required=any(each.matches(check) for each in found.required)) for check in red]
    return replace(found, checks=(*found.checks, *red), changed_at=max(found.changed_at, queued.changed_at))


async def is_queued_anew(repo: RepositoryHandle, base: str, number: int, sha: str) -> bool:
    """Whether the queue has made another commit of the pull request since: then another one failed there."""
    prefix = f"heads/gh-readonly-queue/{base}/pr-{number}-"
    refs = [each async for each in repo.pages(f"git/matching-refs/{quoted(prefix)}")]
    return any(each["object"]["sha"] != sha for each in refs)


def went_red_in_queue(session: Session, sha: str, head: str) -> None:
    """Remember that the queue's commit `sha`, made of `head`, is red."""
    session.merge_group = {"sha": sha, "head": head}
    session.notes = [*(each for each in session.notes if each != AGAIN), AGAIN]


async def leave_queue(loop: Loop, session: Session, head: str) -> None:
    """What was red there is no fault of the code: only the queue can run it again, so the head counts alone."""
    async with loop.database.write() as tx:
        fresh = await locked(tx, Session, session.id)
        if (fresh.merge_group or {}).get("head") == head:
            fresh.merge_group, fresh.hint_at, fresh.status = None, loop.clock(), SessionStatus.WAITING
            note = "What failed in the merge queue looked like a fault of the machinery and not of the code."
            fresh.notes = [*(each for each in fresh.notes if each != note), note]

"""Somebody else pushed during a turn, and it does not merge: one turn with the conflict as its task."""

from github.client.repository import RepositoryHandle
from github.publishing.publish import MergeConflict
from github.repositories import queries
from loops.context import Loop
from loops.sessions import conversations
from loops.sessions.conversations import Ask
from loops.store.tables import Person, Session, Turn


async def begin_conflict_turn(
    loop: Loop, repo: RepositoryHandle, session: Session, turn: Turn, conflict: MergeConflict
) -> None:
    """End the turn as conflicting and queue one that resolves it, on top of what the other side pushed."""
    compared = await queries.compare(repo, turn.base_sha or conflict.theirs, conflict.theirs)
    theirs = {str(each.get("filename")) for each in compared.get("files") or ()}
    ours = {str(change["path"]) for change in (turn.result or {}).get("changes") or ()}
    commits = [
        f"{each['sha'][:12]} {str((each.get('commit') or {}).get('message') or '').splitlines()[0][:100]}"
        for each in compared.get("commits") or ()
        if (each.get("commit") or {}).get("message")
    ]
    now = loop.clock()
    async with loop.database.write() as tx:
        row = await tx.get_one(Turn, turn.id)
        if row.status != "reported":
            return
        row.status, row.error, row.finished_at = "failed", "conflict", now
        asker = await tx.get(Person, turn.requested_by) if turn.requested_by else None
        wish = Ask(
            trigger="conflict",
            instruction=str(turn.context.get("instruction") or ""),
            kind="conflict",
            by=turn.requested_by,
            by_login=asker.login if asker else "",
            context={
                "ours": conflict.ours,
                "theirs": conflict.theirs,
                "files": sorted(ours & theirs) or sorted(ours),
                "commits": commits[:30],
            },
        )
        await conversations.add_turn(tx, await tx.get_one(Session, session.id), wish, now)


def handed_back(session: Session, turn: Turn) -> str:
    """What a person finds where the conflict was not resolved."""
    return (
        f"The conflict is handed back: `{session.branch}` is as it was pushed ({turn.context['theirs']}), and what "
        f"it conflicts with is in commit {turn.context['ours']}."
    )

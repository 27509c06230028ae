"""Somebody else pushed during a turn, and it does not merge: one turn with the conflict as its task."""

from github.client.repository import RepositoryHandle
from github.publishing.merge import MergeConflict
from github.repositories import queries
from loops.checks.repair_owner import Candidate, RepairOwner, owner_among
from loops.context import Loop
from loops.conversations.asking import add_turn
from loops.sessions.ask import Ask, Conflict
from loops.sessions.ask_columns import ask_of
from loops.sessions.transitions import move_turn
from loops.store.locking import locked
from loops.store.states import Trigger, TurnStatus
from loops.store.tables import Person, Session, Turn


async def owner_of_resolving(
    loop: Loop, repo: RepositoryHandle, session: Session, turn: Turn, conflict: MergeConflict
) -> RepairOwner:
    """Whose the turn is that resolves the conflict: it runs what was pushed. Raises NotVisibleYet."""
    if turn.owner_id is None:
        return RepairOwner(None)
    async with loop.database.read() as tx:
        person = await tx.get(Person, turn.owner_id)
    owner = Candidate(turn.owner_id, person.login if person else "", turn.base_sha)
    return await owner_among(loop, repo, session, [owner], conflict.theirs)


async def begin_conflict_turn(
    loop: Loop, repo: RepositoryHandle, session: Session, turn: Turn, conflict: MergeConflict, owner: RepairOwner
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
        row = await locked(tx, Turn, turn.id)
        if row.status != TurnStatus.REPORTED:
            return
        move_turn(row, TurnStatus.FAILED)
        row.error, row.finished_at = "conflict", now
        asked = ask_of(turn)
        about = Conflict(conflict.ours, conflict.theirs, tuple(sorted(ours & theirs or ours)), tuple(commits[:30]))
        ask = Ask(Trigger.CONFLICT, asked.asker, about, instruction=asked.instruction, options=asked.options)
        fresh = await locked(tx, Session, session.id)
        await add_turn(tx, fresh, ask, owner=owner.person, now=now)
        if owner.note and owner.note not in fresh.notes:
            fresh.notes = [*fresh.notes, owner.note]


def handed_back(session: Session, turn: Turn) -> str:
    """What a person finds where the conflict was not resolved."""
    about = ask_of(turn).about
    if not isinstance(about, Conflict):
        raise ValueError(f"turn {turn.public_id} resolves no conflict")
    return (
        f"The conflict is handed back: `{session.branch}` is as it was pushed ({about.theirs}), and what it conflicts "
        f"with is in commit {about.ours}."
    )

"""A turn that nobody asked for begins where its branch is by now: it stays somebody's if nobody else pushed since."""

from github.client.repository import RepositoryHandle
from loops.checks.repair_owner import Candidate, owner_among
from loops.context import Loop
from loops.sessions.ask import Conflict, RedChecks
from loops.sessions.ask_columns import ask_of
from loops.sessions.reasons import Reason
from loops.store.locking import locked
from loops.store.tables import Person, Session, Turn
from loops.turns.preparing.start import CannotStart, StartingPoint


async def is_still_theirs(
    loop: Loop, repo: RepositoryHandle, session: Session, turn: Turn, start: StartingPoint
) -> bool:
    """Whether the turn's owner may have it from `start` on; if not, it is the installation's from now on.

    Raises CannotStart where it then waits for a person.
    """
    about = ask_of(turn).about
    if turn.owner_id is None or not isinstance(about, RedChecks | Conflict):
        return True
    known = about.sha if isinstance(about, RedChecks) else about.theirs
    if start.sha == known:
        return True
    async with loop.database.read() as tx:
        person = await tx.get(Person, turn.owner_id)
    owner = Candidate(turn.owner_id, person.login if person else "", known)
    found = await owner_among(loop, repo, session, [owner], start.sha)
    if found.waits:
        raise CannotStart(Reason.OTHERS_PUSHED, found.note)
    if found.person == turn.owner_id:
        return True
    async with loop.database.write() as tx:
        (await locked(tx, Turn, turn.id)).owner_id = found.person
        fresh = await locked(tx, Session, session.id)
        if found.note not in fresh.notes:
            fresh.notes = [*fresh.notes, found.note]
    return False

"""Whether whoever asked for a turn may still ask: before it begins, and once more before anything is published."""

from github.apps.access import access_of
from github.client.repository import RepositoryHandle
from loops.conversations.retrying import last_asked
from loops.sessions.ask import Asker
from loops.sessions.ask_columns import ask_of
from loops.store.database import Database
from loops.store.states import Trigger
from loops.store.tables import Person, Session, Turn


async def without_right(database: Database, repo: RepositoryHandle, session: Session, turn: Turn) -> str | None:
    """The login of who asked for this turn, or whose it is, and may not write any more; None where all is well.

    A repair belongs to the task that it follows, and so to whoever asked for that; but it may run in somebody else's
    box, or in nobody's.
    """
    async with database.read() as tx:
        asked: Turn | None = turn
        if turn.trigger is Trigger.CHECKS:
            asked = await last_asked(tx, session.id, before=turn.number)
        asker = ask_of(asked).asker if asked is not None else Asker()
        named = {turn.owner_id: "", asker.id: asker.login}
        people = {each: await tx.get(Person, each) for each in named if each is not None}
    for each, person in people.items():
        login = person.login if person else named[each]
        if not (await access_of(repo, login, each)).may_write:
            return login
    return None

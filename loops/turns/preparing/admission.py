"""Before a turn runs: its person's right, and the repository's settings for a session that began outside GitHub."""

from github.client.repository import RepositoryHandle
from github.repositories import config, queries
from loops.comments.broken_config import broken_config
from loops.context import Loop
from loops.sessions.reasons import Reason
from loops.store.locking import locked
from loops.store.states import Origin
from loops.store.tables import Session, Turn
from loops.turns.authority import without_right
from loops.turns.preparing.start import CannotStart


async def admit(loop: Loop, repo: RepositoryHandle, session: Session, turn: Turn) -> None:
    """Give `session` its settings, once. Raises CannotStart when who asked may not write to the repository."""
    if (login := await without_right(loop.database, repo, session, turn)) is not None:
        raise CannotStart(Reason.NO_ACCESS, f"{login} has no write access to {await repo.full_name()}.")
    if session.surface is Origin.GITHUB or session.config is not None:
        return
    loaded = await queries.settings(repo)
    async with loop.database.write() as tx:
        fresh = await locked(tx, Session, session.id)
        fresh.config = loaded.config.model_dump(mode="json", exclude_unset=True)
        if loaded.problems:
            fresh.notes = [*fresh.notes, broken_config(config.PATH, list(map(str, loaded.problems)))]
        if "attempts" in loaded.config.limits.model_fields_set:
            fresh.cap = loaded.config.limits.attempts
        session.config, session.cap = fresh.config, fresh.cap

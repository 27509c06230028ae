"""Before a session that began outside GitHub runs: its person's right and its repository's settings."""

from github.client.repository import RepositoryHandle
from github.repositories import config, queries
from loops.comments import answers
from loops.context import Loop
from loops.store.states import Origin
from loops.store.tables import Person, Session
from loops.turns.start import CannotStart


async def admit(loop: Loop, repo: RepositoryHandle, session: Session) -> None:
    """Give `session` its settings, once. Raises CannotStart when its person may not write to the repository."""
    if session.surface is Origin.GITHUB:
        return
    if session.owner_id is not None:
        async with loop.database.read() as tx:
            person = await tx.get(Person, session.owner_id)
        if person is None or not (await loop.access.of(repo, person.login, person.id)).may_write:
            login = person.login if person else str(session.owner_id)
            raise CannotStart("no_access", f"{login} has no write access to {await repo.full_name()}.")
    if session.config is not None:
        return
    facts = await queries.facts(repo)
    loaded = (await queries.settings(repo, facts.default_branch)) if facts.default_branch else None
    async with loop.database.write() as tx:
        fresh = await tx.get_one(Session, session.id)
        fresh.config = loaded.config.model_dump(mode="json", exclude_unset=True) if loaded else {}
        if loaded is not None and loaded.problems:
            fresh.notes = [*fresh.notes, answers.config_problems(config.PATH, list(map(str, loaded.problems)))]
        if loaded is not None and "attempts" in loaded.config.limits.model_fields_set:
            fresh.cap = loaded.config.limits.attempts
        session.config, session.cap = fresh.config, fresh.cap

"""Installations and people: by their logins at GitHub, as whoever runs the service names them, and by session."""

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from loops.store.tables import Installation, Person, Session


class UnknownOwner(LookupError):
    """No such installation, repository or person is known to this service."""


async def installation_of(tx: AsyncSession, login: str) -> int:
    """The installation on an account, by the account's login. Raises UnknownOwner."""
    where = (func.lower(Installation.account_login) == login.lower(), Installation.removed_at.is_(None))
    found = await tx.execute(select(Installation.id).where(*where).order_by(Installation.id.desc()).limit(1))
    if (known := found.scalar_one_or_none()) is None:
        raise UnknownOwner(f"no installation on {login!r} is known: install the App there first")
    return known


async def installation_of_session(tx: AsyncSession, session_id: int) -> int:
    """The installation that a session belongs to."""
    return (await tx.execute(select(Session.installation_id).where(Session.id == session_id))).scalar_one()


async def person_of(tx: AsyncSession, login: str) -> int:
    """The person who has a login. Raises UnknownOwner."""
    # A login may have changed hands: the one that was seen last has it.
    where = func.lower(Person.login) == login.lower()
    found = await tx.execute(select(Person.id).where(where).order_by(Person.updated_at.desc()).limit(1))
    if (known := found.scalar_one_or_none()) is None:
        raise UnknownOwner(f"nobody called {login!r} has asked for anything yet, so their id is unknown")
    return known

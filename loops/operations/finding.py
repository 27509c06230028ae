"""What a caller names, within one tenant: repository, person, session. What belongs to another does not exist."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from loops.store.tables import Installation, Person, Repository, Session

LONGEST_ID: Final = 18
"""Digits of a number that fits into a column."""


class Invalid(ValueError):
    """An input that cannot be used; `field` names it, the text says what would do."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.field = name


class Unknown(LookupError):
    """There is no such repository, person or session in this tenant."""


async def find_repository(tx: AsyncSession, tenant: int, repository: int | str) -> Repository:
    """The tenant's repository by its numeric id or `owner/name`. Raises Unknown, and Invalid for an archived one."""
    found = await named(tx, repository, tenant)
    if found is None:
        raise Unknown(
            f"no repository {str(repository).strip()[:200]!r} in installation {tenant}: Greenloop knows a repository "
            "from the first event that GitHub sends about it; is the App installed there?"
        )
    if found.archived:
        raise Invalid("repository", f"{found.full_name} is archived, so nothing can be pushed to it")
    return found


async def named(tx: AsyncSession, repository: int | str, tenant: int | None) -> Repository | None:
    """The repository with that numeric id or `owner/name`; without a `tenant`, of any installation that is there."""
    query = select(Repository).where(Repository.removed_at.is_(None))
    if tenant is not None:
        query = query.where(Repository.installation_id == tenant)
    else:
        there = select(Installation.id).where(Installation.removed_at.is_(None))
        query = query.where(Repository.installation_id.in_(there))
    text = str(repository).strip()
    if text.isascii() and text.isdigit():
        if len(text) > LONGEST_ID:
            return None
        query = query.where(Repository.id == int(text))
    else:
        query = query.where(func.lower(Repository.full_name) == text.lower())
    return (await tx.execute(query.order_by(Repository.updated_at.desc()).limit(1))).scalar_one_or_none()


async def tenant_of(tx: AsyncSession, installation: int | None) -> int:
    """The tenant meant: `installation`, or the only one there is. Raises Unknown, or Invalid when several would do."""
    query = select(Installation.id).where(Installation.removed_at.is_(None)).order_by(Installation.id)
    known: Sequence[int] = (await tx.execute(query)).scalars().all()
    if installation is not None:
        if installation not in known:
            raise Unknown(f"no installation {installation}: the App is not installed there")
        return installation
    if not known:
        raise Unknown("the App is installed nowhere yet, as far as GitHub has told")
    if len(known) > 1:
        raise Invalid("installation", f"several installations are known ({', '.join(map(str, known[:20]))}): name one")
    return known[0]


async def find_person(tx: AsyncSession, login: str) -> Person:
    """A person by their login. Raises Unknown."""
    bare = login.strip().removeprefix("@")
    found = await tx.execute(
        select(Person).where(func.lower(Person.login) == bare.lower()).order_by(Person.updated_at.desc()).limit(1)
    )
    person = found.scalar_one_or_none()
    if person is None:
        raise Unknown(f"nobody called {bare!r} is known: people are, once they have asked for something on GitHub")
    return person


async def find_session(tx: AsyncSession, tenant: int, session: str) -> tuple[Session, str | None, str | None]:
    """The tenant's session, its repository's name and its person's login. Raises Unknown."""
    found = await tx.execute(
        select(Session, Repository.full_name, Person.login)
        .outerjoin(Repository, Repository.id == Session.repository_id)
        .outerjoin(Person, Person.id == Session.owner_id)
        .where(Session.public_id == session, Session.installation_id == tenant)
    )
    row = found.one_or_none()
    if row is None:
        raise Unknown(f"no session {session[:40]!r} in installation {tenant}")
    return row[0], row[1], row[2]

"""Named secrets for the tests of repositories: kept, listed, removed, and found for a turn. Encrypted at rest."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, delete, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from loops.secrets.encodings import SHORTEST
from loops.secrets.vault import Vault
from loops.store.database import Database
from loops.store.lookup import UnknownOwner, installation_of
from loops.store.tables import Repository, Secret, Session

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
LONGEST = 64 * 1024
"""Characters of one value; a private key has a few thousand."""


class BadSecret(ValueError):
    """A name or a value that cannot be kept. Never quotes the value."""


@dataclass(frozen=True)
class Target:
    """Whose secrets: one repository's, or (repository None) those of every repository of an installation."""

    installation: int
    repository: int | None = None


async def target_of(tx: AsyncSession, name: str) -> Target:
    """The repository `owner/name`, or with `owner` alone its whole installation. Raises UnknownOwner."""
    if "/" in name:
        query = select(Repository).where(func.lower(Repository.full_name) == name.lower())
        found = await tx.execute(query.order_by(Repository.updated_at.desc()).limit(1))
        if (repository := found.scalar_one_or_none()) is not None:
            return Target(repository.installation_id, repository.id)
        raise UnknownOwner(
            f"no repository {name!r} is known: Greenloop knows one from the first event that GitHub sends about it"
        )
    return Target(await installation_of(tx, name))


async def put(database: Database, vault: Vault, target: str, name: str, value: str, now: float) -> None:
    """Keep a secret; one of the same name is replaced. Raises BadSecret or UnknownOwner."""
    if not NAME.fullmatch(name):
        raise BadSecret(f"{name!r} is no name of an environment variable: letters, digits and _ only")
    if not SHORTEST <= len(value) <= LONGEST:
        raise BadSecret(
            f"the value of {name} has {len(value)} characters; {SHORTEST} to {LONGEST} are possible, "
            "since a shorter one could not be told from ordinary text in what agents print"
        )
    async with database.write() as tx:
        at = await target_of(tx, target)
        await tx.execute(delete(Secret).where(*_of(at), Secret.name == name))
        tx.add(
            Secret(
                installation_id=at.installation,
                repository_id=at.repository,
                name=name,
                value=vault.encrypt(value),
                updated_at=now,
            )
        )


async def listed(database: Database, target: str) -> list[tuple[str, float]]:
    """Names, and when each was set (UNIX seconds). Raises UnknownOwner."""
    async with database.read() as tx:
        where = _of(await target_of(tx, target))
        found = await tx.execute(select(Secret.name, Secret.updated_at).where(*where).order_by(Secret.name))
        return [(name, at) for name, at in found]


async def remove(database: Database, target: str, name: str) -> bool:
    """Whether there was one. Raises UnknownOwner."""
    async with database.write() as tx:
        where = _of(await target_of(tx, target))
        gone = await tx.execute(delete(Secret).where(*where, Secret.name == name).returning(Secret.id))
        return gone.first() is not None


async def find(tx: AsyncSession, session_id: int, names: Sequence[str]) -> dict[str, bytes]:
    """The encrypted values for the session's repository, in the order of `names`; its own before the installation's."""
    session = await tx.get_one(Session, session_id)
    found = await tx.execute(
        select(Secret)
        .where(Secret.installation_id == session.installation_id, Secret.name.in_(names))
        .where(or_(Secret.repository_id.is_(None), Secret.repository_id == session.repository_id))
        .order_by(Secret.repository_id.is_(None).desc())
    )
    values = {secret.name: secret.value for secret in found.scalars()}
    return {name: values[name] for name in names if name in values}


def _of(target: Target) -> tuple[ColumnElement[bool], ...]:
    own = Secret.repository_id == target.repository if target.repository else Secret.repository_id.is_(None)
    return Secret.installation_id == target.installation, own

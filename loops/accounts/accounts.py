"""Provider accounts in the database: added, listed, removed, and encrypted anew when the keys are rotated."""

import re
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from loops.accounts.credentials import kind_named, kind_of
from loops.accounts.logins import check
from loops.runtimes import profiles
from loops.secrets.vault import Vault
from loops.store.database import Database
from loops.store.lookup import installation_of, person_of
from loops.store.tables import Profile, Secret, Turn

_ENDPOINT = re.compile(r"https?://[^\s/?#{}]+[^\s?#{}]*\Z")
MOST: Final = 50
"""Accounts of one owner."""


@dataclass(frozen=True)
class NewAccount:
    """An account to add. `installation` is the login that installed the App; `person` a login, or the id of who is
    known to be it; None: for everybody.

    `fallback` is the name of another account, of the same owner or of everybody, for when the provider refuses this.
    """

    installation: str
    name: str
    provider: str
    credential_kind: str
    secret: str = field(repr=False)
    person: str | int | None = None
    model: str | None = None
    base_url: str | None = None
    default: bool = False
    fallback: str | None = None


@dataclass(frozen=True)
class Shown:
    """An account without its secret, and the runtimes it can drive.

    `fallback` is the name of the one that stands in for it. `limited_until`: its provider refused it (`limited_why`, a
    `FailureKind`), and no turn uses it before.
    """

    id: int
    installation_id: int
    person_id: int | None
    name: str
    provider: str
    credential_kind: str
    model: str | None
    base_url: str | None
    is_default: bool
    runtimes: tuple[str, ...]
    fallback: str | None = None
    limited_until: float | None = None
    limited_why: str | None = None


async def add(database: Database, vault: Vault, wanted: NewAccount, now: float) -> Shown:
    """Keep an account, its secret encrypted; one of the same owner and name is replaced.

    Raises UnknownOwner, and ValueError for a secret, a provider or an endpoint that cannot be used, or without a model
    where it takes one.
    """
    check(wanted.provider.strip().lower(), wanted.credential_kind, wanted.secret)
    if wanted.base_url and not _ENDPOINT.match(wanted.base_url):
        raise ValueError(f"The endpoint {wanted.base_url!r} is none: it begins with https:// or http:// and a host.")
    profiles.check(_account(wanted), wanted.secret)
    async with database.write() as tx:
        installation = await installation_of(tx, wanted.installation)
        person = await person_of(tx, wanted.person) if isinstance(wanted.person, str) else wanted.person
        owner = Profile.person_id == person if person is not None else Profile.person_id.is_(None)
        owned = (Profile.installation_id == installation, owner)
        await _check_fallback(tx, wanted, installation, person)
        await tx.execute(delete(Profile).where(*owned, Profile.name == wanted.name))
        if (await tx.execute(select(func.count()).select_from(Profile).where(*owned))).scalar_one() >= MOST:
            raise ValueError(f"There are {MOST} accounts of this owner already: remove one first.")
        row = Profile(
            installation_id=installation,
            person_id=person,
            name=wanted.name,
            provider=wanted.provider.strip().lower(),
            credential_kind=wanted.credential_kind,
            model=wanted.model,
            base_url=wanted.base_url,
            secret=vault.encrypt(wanted.secret),
            is_default=wanted.default,
            fallback=wanted.fallback,
            created_at=now,
            updated_at=now,
        )
        tx.add(row)
        await tx.flush()
        if wanted.default:
            await tx.execute(update(Profile).where(*owned, Profile.id != row.id).values(is_default=False))
        return _shown(row)


def _account(wanted: NewAccount) -> profiles.Profile:
    kind = kind_named(wanted.credential_kind)
    return profiles.Profile(wanted.provider.strip().lower(), kind, wanted.model or "", wanted.base_url or "")


async def _check_fallback(tx: AsyncSession, wanted: NewAccount, installation: int, person: int | None) -> None:
    """Raises ValueError where nothing that may stand in for the account has that name."""
    if wanted.fallback is None:
        return
    owners = or_(Profile.person_id.is_(None), Profile.person_id == person)
    there = select(Profile.id).where(Profile.installation_id == installation, Profile.name == wanted.fallback, owners)
    if wanted.fallback == wanted.name or (await tx.execute(there.limit(1))).first() is None:
        raise ValueError(f"There is no other account called {wanted.fallback!r} to fall back on: add that one first.")


async def listed(database: Database) -> list[Shown]:
    """All accounts of this service, oldest first."""
    async with database.read() as tx:
        return [_shown(row) for row in (await tx.execute(select(Profile).order_by(Profile.id))).scalars()]


async def account_of(database: Database, account_id: int) -> Profile | None:
    """The account with that number."""
    async with database.read() as tx:
        return await tx.get(Profile, account_id)


async def remove(database: Database, account_id: int) -> bool:
    """Whether there was one."""
    async with database.write() as tx:
        found = await tx.execute(delete(Profile).where(Profile.id == account_id).returning(Profile.id))
        return found.first() is not None


async def rotate(database: Database, vault: Vault) -> int:
    """Encrypt every secret anew with the newest key; how many. Running it twice, or half, does no harm."""
    count = 0
    places: tuple[tuple[type[Any], str], ...] = ((Profile, "secret"), (Secret, "value"), (Turn, "given"))
    for table, column in places:
        async with database.read() as tx:
            ids = (await tx.execute(select(table.id).where(getattr(table, column).is_not(None)))).scalars().all()
        for row_id in ids:
            async with database.write() as tx:
                row = (await tx.execute(select(table).where(table.id == row_id).with_for_update())).scalar_one_or_none()
                if row is not None and getattr(row, column) is not None:
                    setattr(row, column, vault.rotate(getattr(row, column)))
        count += len(ids)
    return count


def _shown(row: Profile) -> Shown:
    account = profiles.Profile(row.provider, kind_of(row), row.model or "", row.base_url or "")
    return Shown(
        row.id,
        row.installation_id,
        row.person_id,
        row.name,
        row.provider,
        row.credential_kind,
        row.model,
        row.base_url,
        row.is_default,
        profiles.runtimes_for(account),
        row.fallback,
        row.limited_until,
        row.limited_why,
    )

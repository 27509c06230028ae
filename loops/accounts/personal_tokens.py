"""Personal tokens: what acts for one person at the API, within scopes and until a day, and only while they have the
right themselves. The token is shown once; its SHA-256 is kept. Times are UNIX seconds."""

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from loops.secrets.token_hash import token_hash
from loops.store.access_tables import PersonalToken
from loops.store.tables import Audit, Person

PREFIX: Final = "glp_"
DAY: Final = 86_400.0
DAYS: Final = (1, 365)
"""How long a token may last."""
DEFAULT_DAYS: Final = 90
MOST: Final = 50
"""Tokens of one person that work."""
USED_SECONDS: Final = 600.0
"""When a token was used last is written no more often."""
NAME: Final = 100

SESSIONS_READ: Final = "sessions:read"
SESSIONS_WRITE: Final = "sessions:write"
ACCOUNTS_READ: Final = "accounts:read"
REPOSITORIES_READ: Final = "repositories:read"
SCOPES: Final = {
    SESSIONS_READ: "see sessions, what happens in them and what they changed",
    SESSIONS_WRITE: "start sessions, try them again and stop them",
    ACCOUNTS_READ: "see which provider accounts there are, never their secrets",
    REPOSITORIES_READ: "see the repositories in which work may be asked for",
}


class TokenRefused(ValueError):
    """No such token can be made; the text says what would do."""


@dataclass(frozen=True)
class Holder:
    """Whom a token acts for, and what it may be used for."""

    person_id: int
    login: str
    scopes: frozenset[str]
    token_id: int
    used_at: float | None


async def create(
    tx: AsyncSession, person: Person, *, name: str, scopes: Collection[str], days: int, surface: str, now: float
) -> str:
    """Make a token for the person, who asked for it on `surface`; the only time that it can be read. Raises
    TokenRefused."""
    name = " ".join(name.split())
    if not name or len(name) > NAME:
        raise TokenRefused(f"A token needs a name of 1 to {NAME} characters.")
    await check(tx, person, scopes=scopes, days=days, now=now)
    text = PREFIX + secrets.token_urlsafe(32)
    row = PersonalToken(
        person_id=person.id,
        name=name,
        scopes=sorted(set(scopes)),
        token_hash=token_hash(text),
        created_at=now,
        expires_at=now + days * DAY,
    )
    tx.add(row)
    await tx.flush()
    _audit(tx, row, person.login, surface, "token_created", now)
    return text


async def check(tx: AsyncSession, person: Person, *, scopes: Collection[str], days: int, now: float) -> None:
    """Raises TokenRefused where the person can have no such token."""
    if not scopes:
        raise TokenRefused(f"A token needs a scope: {', '.join(SCOPES)}.")
    if strange := sorted(set(scopes) - SCOPES.keys()):
        raise TokenRefused(f"There is no scope {strange[0][:40]!r}; there are {', '.join(SCOPES)}.")
    low, high = DAYS
    if not low <= days <= high:
        raise TokenRefused(f"A token lasts {low} to {high} days, not {days}.")
    working = select(func.count()).where(*_working(person.id, now))
    if (await tx.execute(working)).scalar_one() >= MOST:
        raise TokenRefused(f"You have {MOST} tokens already: revoke one first.")


async def holder(tx: AsyncSession, text: str, now: float) -> Holder | None:
    """Whom the token acts for; None for one that is unknown, revoked or over."""
    if not text.startswith(PREFIX) or not text.isascii():
        return None
    found = await tx.execute(
        select(PersonalToken, Person.login)
        .join(Person, Person.id == PersonalToken.person_id)
        .where(PersonalToken.token_hash == token_hash(text))
    )
    row = found.one_or_none()
    if row is None or row[0].revoked_at is not None or row[0].expires_at <= now:
        return None
    token, login = row
    return Holder(token.person_id, login, frozenset(token.scopes) & SCOPES.keys(), token.id, token.used_at)


async def note_use(tx: AsyncSession, token_id: int, now: float) -> None:
    """Keep that a token was used, for whoever wonders which of theirs still are."""
    await tx.execute(update(PersonalToken).where(PersonalToken.id == token_id).values(used_at=now))


async def listed(tx: AsyncSession, person_id: int, now: float) -> Sequence[PersonalToken]:
    """The person's tokens that work, newest first."""
    found = await tx.execute(select(PersonalToken).where(*_working(person_id, now)).order_by(PersonalToken.id.desc()))
    return found.scalars().all()


async def revoke(tx: AsyncSession, person: Person, token_id: int, *, surface: str, now: float) -> bool:
    """Whether the person has such a token; from here on it is refused. Twice is once."""
    found = await tx.execute(
        select(PersonalToken)
        .where(PersonalToken.id == token_id, PersonalToken.person_id == person.id)
        .with_for_update()
    )
    row = found.scalar_one_or_none()
    if row is None:
        return False
    if row.revoked_at is None:
        row.revoked_at = now
        _audit(tx, row, person.login, surface, "token_revoked", now)
    return True


def _working(person_id: int, now: float) -> tuple[ColumnElement[bool], ...]:
    row = PersonalToken
    return row.person_id == person_id, row.revoked_at.is_(None), row.expires_at > now


def _audit(tx: AsyncSession, row: PersonalToken, login: str, surface: str, action: str, now: float) -> None:
    details = {"token": row.id, "name": row.name, "scopes": row.scopes, "expires_at": row.expires_at}
    tx.add(Audit(at=now, installation_id=None, actor=login, surface=surface, action=action, details=details))

"""Signing in a program that has no browser (RFC 8628): it shows a code, its person types it on a page, and it gets a
personal token of theirs. Nothing is kept until a person answers, so nobody can fill a table. Times are UNIX seconds."""

import base64
import hmac
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from sqlalchemy import delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from loops.accounts.personal_tokens import create
from loops.secrets.token_hash import token_hash
from loops.store.access_tables import DeviceApproval
from loops.store.tables import Person

SECONDS: Final = 600
"""How long a code is good."""
LETTERS: Final = "BCDFGHJKLMNPQRSTVWXZ"
"""Without vowels, so that no code is a word (RFC 8628, 6.1)."""
GROUPS: Final = 3
"""Of four letters: codes are made without limit, so that there have to be far more than could ever be asked for."""
SURFACE: Final = "device"
MOST: Final = 20
"""Answers of one person that no program came for yet."""


class CodeRefused(ValueError):
    """No answer to such a code can be kept; the text says what would do."""


@dataclass(frozen=True)
class Codes:
    """What a program is given: `device` is its own secret, `user` is shown to its person."""

    device: str
    user: str


def begin(secret: bytes, now: float) -> Codes:
    """New codes, derived from `secret`."""
    body = f"{secrets.token_urlsafe(24)}.{int(now) + SECONDS}"
    return Codes(f"{body}.{_seal(secret, body)}", _user_code(secret, body))


def user_code_of(secret: bytes, device: str, now: float) -> str | None:
    """The code that goes with a device's own; "" once it is over, None for one that was never given out."""
    body, _, seal = device.rpartition(".")
    if not device.isascii() or not hmac.compare_digest(seal, _seal(secret, body)):
        return None
    return _user_code(secret, body) if now < int(body.rpartition(".")[2]) else ""


async def approve(
    tx: AsyncSession, person: Person, code: str, *, scopes: Collection[str] | None, days: int, now: float
) -> None:
    """Keep what the person answers to that code; `scopes` None: they refuse. Raises CodeRefused."""
    await tx.execute(delete(DeviceApproval).where(DeviceApproval.expires_at <= now))
    typed = "".join(each for each in code.upper() if each in LETTERS)
    if len(typed) != 4 * GROUPS:
        raise CodeRefused(f"The code has {4 * GROUPS} letters, as the program shows it: {'-'.join(['BCDF'] * GROUPS)}.")
    waiting = select(func.count()).where(DeviceApproval.person_id == person.id)
    if (await tx.execute(waiting)).scalar_one() >= MOST:
        raise CodeRefused("You answered many codes that no program came for: wait ten minutes.")
    insert = postgresql.insert if tx.get_bind().dialect.name == "postgresql" else sqlite.insert
    row = {
        "code_hash": token_hash(typed),
        "person_id": person.id,
        "login": person.login,
        "scopes": sorted(scopes) if scopes is not None else None,
        "days": days,
        "expires_at": now + SECONDS,
    }
    made = insert(DeviceApproval).values(row).on_conflict_do_nothing().returning(DeviceApproval.code_hash)
    if (await tx.execute(made)).first() is None:
        raise CodeRefused("This code was answered before: begin again in the program.")


@dataclass(frozen=True)
class Login:
    """What a program is told: a token with its scopes and end, or that its person refused (`token` None)."""

    token: str | None
    scopes: tuple[str, ...] = ()
    seconds: int = 0


async def collect(tx: AsyncSession, code: str, *, name: str, now: float) -> Login | None:
    """What the person answered, once; None while they have not. Raises TokenRefused."""
    mine = DeviceApproval.code_hash == token_hash(code.replace("-", ""))
    found = await tx.execute(delete(DeviceApproval).where(mine).returning(DeviceApproval))
    row = found.scalar_one_or_none()
    if row is None or row.expires_at <= now:
        return None
    if row.scopes is None:
        return Login(None)
    owner = await tx.get_one(Person, row.person_id)
    token = await create(tx, owner, name=name, scopes=row.scopes, days=row.days, surface=SURFACE, now=now)
    return Login(token, tuple(row.scopes), int(row.days * 86_400))


def _seal(secret: bytes, body: str) -> str:
    return base64.urlsafe_b64encode(hmac.digest(secret, f"device:{body}".encode(), "sha256")).decode().rstrip("=")


def _user_code(secret: bytes, body: str) -> str:
    number = int.from_bytes(hmac.digest(secret, f"user code:{body}".encode(), "sha256"), "big")
    letters = []
    for _ in range(4 * GROUPS):
        number, index = divmod(number, len(LETTERS))
        letters.append(LETTERS[index])
    return "-".join("".join(letters[at : at + 4]) for at in range(0, 4 * GROUPS, 4))

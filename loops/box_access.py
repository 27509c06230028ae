"""Which box is asking. A box proves itself by its token and can reach its own turns only."""

import hashlib
import hmac

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from loops.tables import Box, Turn


class TokenRefused(Exception):
    """No box has this token."""


class UnknownTurn(Exception):
    """There is no such turn, or it is another box's: the answer is the same."""


def token_hash(token: str) -> str:
    """What is stored of a box's token: SHA-256, in hex. Tokens are random, so no salt and no slow hash is needed."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


async def box_with(tx: AsyncSession, name: str, token: str) -> Box:
    """The box `name`, if `token` is its token. Raises TokenRefused."""
    box = await tx.get(Box, name)
    if not _fits(box, token) or box is None:
        raise TokenRefused(f"box {name!r}: not its token")
    return box


async def turn_with(tx: AsyncSession, public_id: str, token: str) -> Turn:
    """The turn, if `token` is the token of the box that has it. Raises UnknownTurn or TokenRefused."""
    found = (
        await tx.execute(select(Turn, Box).outerjoin(Box, Box.name == Turn.box).where(Turn.public_id == public_id))
    ).one_or_none()
    turn, box = found if found is not None else (None, None)
    if _fits(box, token) and turn is not None:
        return turn
    hashed = token_hash(token)
    known = (await tx.execute(select(Box.token_hash).where(Box.token_hash == hashed))).scalars().first()
    if known is None:
        raise TokenRefused("no box has this token")
    raise UnknownTurn(f"this box has no turn {public_id}")


def _fits(box: Box | None, token: str) -> bool:
    return hmac.compare_digest(token_hash(token), box.token_hash if box is not None else "")

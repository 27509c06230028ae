"""Which box is asking. A box proves itself by its token and can reach its own turns only."""

import hmac

from sqlalchemy import and_, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from loops.protocol.tokens import FORMER_SECONDS, token_hash
from loops.store.tables import Box, Turn


class TokenRefused(Exception):
    """No box has this token."""


class UnknownTurn(Exception):
    """There is no such turn, or it is another box's: the answer is the same."""


async def box_with(tx: AsyncSession, name: str, token: str, now: float) -> Box:
    """The box `name`, if `token` is its token. Raises TokenRefused."""
    box = await tx.get(Box, name)
    if not _fits(box, token, now) or box is None:
        raise TokenRefused(f"box {name!r}: not its token")
    return box


def has_news(box: Box, token: str) -> bool:
    """Whether the box, which has shown `token`, knows its new token by now: the former one is then good no more."""
    return box.former_hash is not None and hmac.compare_digest(token_hash(token), box.token_hash)


async def turn_with(tx: AsyncSession, public_id: str, token: str, now: float) -> Turn:
    """The turn, if `token` is the token of the box that has it. Raises UnknownTurn or TokenRefused."""
    found = (
        await tx.execute(select(Turn, Box).outerjoin(Box, Box.name == Turn.box).where(Turn.public_id == public_id))
    ).one_or_none()
    turn, box = found if found is not None else (None, None)
    if _fits(box, token, now) and turn is not None:
        return turn
    hashed = token_hash(token)
    former = and_(Box.former_hash == hashed, Box.token_at > now - FORMER_SECONDS)
    mine = or_(Box.token_hash == hashed, former)
    known = (await tx.execute(select(Box.name).where(mine))).scalars().first()
    if known is None:
        raise TokenRefused("no box has this token")
    raise UnknownTurn(f"this box has no turn {public_id}")


def _fits(box: Box | None, token: str, now: float) -> bool:
    shown, own = token_hash(token), box.token_hash if box is not None else ""
    former = ""
    if box is not None and box.former_hash is not None and now - box.token_at < FORMER_SECONDS:
        former = box.former_hash
    # both are compared in any case: how long it takes tells nothing
    return any([hmac.compare_digest(shown, own), hmac.compare_digest(shown, former)])

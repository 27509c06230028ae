"""Which box, or which turn's runner, is asking. A box reaches its next turn, a turn's runner that turn, and no more."""

import hmac
import math
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from loops.protocol.tokens import FORMER_SECONDS, former_turn_tokens
from loops.secrets.token_hash import token_hash
from loops.store.states import TurnStatus
from loops.store.tables import Box, Turn


class TokenRefused(Exception):
    """The token opens nothing of what was asked for. Whether that is there at all is not told."""


class TurnOver(Exception):
    """Output or a result of a turn that is not running: whoever sends it drops the turn."""


class NoSuchEvidence(Exception):
    """The turn has no evidence of that name."""


@dataclass(frozen=True)
class Asking:
    """The turn whose runner asks, and its box, if that is still known."""

    turn: Turn
    box: Box | None


async def box_with(tx: AsyncSession, name: str, token: str, now: float, lifetime: float) -> Box:
    """The box `name`, if `token` is its token, no older than `lifetime` seconds, and the box is up. Raises
    TokenRefused."""
    box = await tx.get(Box, name)
    if not _fits(box, token, now, lifetime) or box is None:
        raise TokenRefused(f"box {name!r}: not its token, or no longer")
    return box


def has_news(box: Box, token: str) -> bool:
    """Whether the box, which has shown `token`, knows its new token by now: the former one is then good no more."""
    return box.former_hash is not None and hmac.compare_digest(token_hash(token), box.token_hash)


async def turn_with(tx: AsyncSession, public_id: str, token: str) -> Asking:
    """The turn, if `token` is that turn's own. Raises TokenRefused."""
    return shown(public_id, await _look_up(tx, public_id), token)


def shown(public_id: str, found: Asking | None, token: str) -> Asking:
    """The turn that was found, if `token` is its own. Raises TokenRefused."""
    own = found.turn.token_hash if found is not None else None
    # compared in any case: how long it takes tells nothing
    if not hmac.compare_digest(token_hash(token), own or "") or found is None:
        raise TokenRefused(f"turn {public_id}: not its token")
    return found


async def told_over(tx: AsyncSession, public_id: str, token: str, key: bytes) -> None:
    """Raises TurnOver where `token` is the turn's of an earlier try. A box that comes back, or the one that is made in
    the place of a lost one, still holds the turn as it was, and would go on showing it."""
    found = await _look_up(tx, public_id)
    if found is not None and token in former_turn_tokens(key, found.turn):
        raise TurnOver(f"turn {public_id} was taken from this box and is tried again")


async def former_turn_with(tx: AsyncSession, public_id: str, token: str, now: float) -> Asking:
    """The turn, if a web process of the former release handed it out, without a token of its own, and `token` is its
    box's. That ends with the turn, whose time is limited. Raises TokenRefused."""
    found = await _look_up(tx, public_id)
    if (
        found is None
        or found.turn.token_hash is not None
        or found.turn.handed_at is None
        or found.turn.status not in (TurnStatus.RUNNING, TurnStatus.REPORTED)
        or not _fits(found.box, token, now, math.inf)
    ):
        raise TokenRefused(f"turn {public_id}: not its token")
    return found


async def look_up(tx: AsyncSession, public_ids: Sequence[str]) -> list[Asking | None]:
    """The turns of these names, whoever asks: what `shown` is given. None for one that is not there."""
    query = select(Turn, Box).outerjoin(Box, Box.name == Turn.box).where(Turn.public_id.in_(public_ids))
    found = {row[0].public_id: Asking(*row) for row in await tx.execute(query)}
    return [found.get(each) for each in public_ids]


async def _look_up(tx: AsyncSession, public_id: str) -> Asking | None:
    return (await look_up(tx, [public_id]))[0]


def _fits(box: Box | None, token: str, now: float, lifetime: float) -> bool:
    shown, own, former = token_hash(token), "", ""
    if box is not None and box.stopped_at is None:
        age = now - box.token_at
        own = box.token_hash if age < lifetime else ""
        former = box.former_hash or "" if age < FORMER_SECONDS else ""
    # both are compared in any case: how long it takes tells nothing
    return any([hmac.compare_digest(shown, own), hmac.compare_digest(shown, former)])

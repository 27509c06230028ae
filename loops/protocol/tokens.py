"""The tokens by which a box, and the runner of one turn, prove themselves: derived from one secret of ours.

A box's token opens the way to its next turn and to nothing of a turn; it is renewed with time. A turn's token is handed
out with the turn, to the runner alone, and opens what belongs to that turn.
"""

import base64
import hashlib
import hmac
from collections.abc import Sequence

from loops.options import LoopOptions
from loops.secrets.token_hash import token_hash
from loops.store.tables import Box, Turn

HOUR = 3600.0
LIFETIMES = 2
"""A box's token is renewed after `box_token_hours`, and good for this many times as long."""
FORMER_SECONDS = 1800.0
"""How long a former token is good at most. A cluster carries a changed Secret into a running pod within two minutes."""


def box_key(encryption_keys: Sequence[str]) -> bytes:
    """The secret that tokens are derived from. Raises ValueError without an encryption key."""
    if not encryption_keys:
        raise ValueError("no encryption key: set GREENLOOP_ENCRYPTION_KEYS_FILE to a file with a Fernet key in it")
    return hashlib.sha256(b"greenloop box tokens\0" + encryption_keys[0].encode()).digest()


def token(key: bytes, name: str, generation: int) -> str:
    """The box's token: derived, so that any worker can make it again and only its hash is stored."""
    return _derived("glb_", key, f"box:{name}:{generation}")


def turn_token(key: bytes, turn: Turn) -> str:
    """The turn's own token. It is the same each time that the turn is handed out, so that an answer which was lost, or
    two at once, cost nothing; another one when the turn is tried again, since the former box may still live."""
    return _of_try(key, turn, turn.lost + turn.retries)


def former_turn_tokens(key: bytes, turn: Turn) -> list[str]:
    """What the turn's token was each time that it was tried before."""
    return [_of_try(key, turn, number) for number in range(turn.lost + turn.retries)]


def _of_try(key: bytes, turn: Turn, number: int) -> str:
    return _derived("glt_", key, f"turn:{turn.public_id}:{number}")


def tokens_of(key: bytes, box: Box) -> list[str]:
    """The tokens that the box may hold now: what an agent that came by one must not be able to show."""
    former = [token(key, box.name, box.generation - 1)] if box.former_hash is not None else []
    return [token(key, box.name, box.generation), *former]


def lifetime(options: LoopOptions) -> float:
    """Seconds for which a box's token is good."""
    return max(LIFETIMES * options.box_token_hours * HOUR, FORMER_SECONDS)


def _derived(prefix: str, key: bytes, what: str) -> str:
    digest = hmac.digest(key, what.encode(), "sha256")
    return prefix + base64.urlsafe_b64encode(digest).decode().rstrip("=")


def renew_token(box: Box, key: bytes, options: LoopOptions, now: float) -> bool:
    """Give the box a new token if it is about to start afresh, has had its token for long, or the key was rotated.
    Whether it has a new one.

    A box that is up learns of it a little later, from its mounted Secret: until then its former token is good too.
    """
    stale = box.token_hash != token_hash(token(key, box.name, box.generation))
    aged = now - box.token_at > options.box_token_hours * HOUR
    if not (stale or aged or box.stopped_at is not None):
        return False
    box.former_hash = box.token_hash if aged and not stale and box.stopped_at is None else None
    box.generation += 1
    box.token_hash, box.token_at = token_hash(token(key, box.name, box.generation)), now
    return True

"""The token by which a box proves itself: derived from one secret of ours, renewed with time."""

import base64
import hashlib
import hmac

from loops.options import LoopOptions
from loops.store.tables import Box

HOUR = 3600.0
FORMER_SECONDS = 1800.0
"""How long a former token is good at most. A cluster carries a changed Secret into a running pod within two minutes."""


def token(key: bytes, name: str, generation: int) -> str:
    """The box's token: derived, so that any worker can make it again and only its hash is stored."""
    digest = hmac.digest(key, f"box:{name}:{generation}".encode(), "sha256")
    return "glb_" + base64.urlsafe_b64encode(digest).decode().rstrip("=")


def renew_token(box: Box, key: bytes, options: LoopOptions, now: float) -> None:
    """Give the box a new token if it is about to start afresh, has had its token for long, or the key was rotated.

    A box that is up learns of it a little later, from its mounted Secret: until then its former token is good too.
    """
    stale = box.token_hash != token_hash(token(key, box.name, box.generation))
    aged = now - box.token_at > options.box_token_hours * HOUR
    if not (stale or aged or box.stopped_at is not None):
        return
    box.former_hash = box.token_hash if aged and not stale and box.stopped_at is None else None
    box.generation += 1
    box.token_hash, box.token_at = token_hash(token(key, box.name, box.generation)), now


def token_hash(value: str) -> str:
    """What is stored of a box's token: SHA-256, in hex. Tokens are random, so no salt and no slow hash is needed."""
    return hashlib.sha256(value.encode("utf-8", "surrogateescape")).hexdigest()

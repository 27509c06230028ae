"""Installation tokens, minted once and shared until shortly before their end.

They are opaque, up to about 1 KB, and live an hour.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from github.client.clock import Clock

REFRESHED_BEFORE_END = 300.0
FRESH = 10.0  # seconds in which a token may not be known everywhere at GitHub yet


@dataclass(frozen=True, slots=True)
class Token:
    """An installation token; `value` is never shown by repr. Times are Unix seconds of our own clock."""

    value: str = field(repr=False)
    expires_at: float
    minted_at: float
    permissions: Mapping[str, str]

    def fresh(self, now: float) -> bool:
        """Whether it is so new that a refusal may only mean "not replicated yet"."""
        return now - self.minted_at < FRESH


Key = tuple[Any, ...]
Mint = Callable[[], Awaitable[Token]]


class TokenBook:
    """Tokens by what they are for. However many ask at once, each is minted once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tokens: dict[Key, Token] = {}
        self._locks: dict[Key, asyncio.Lock] = {}

    async def get(self, key: Key, mint: Mint) -> Token:
        """The token for `key`, minted if there is none or it ends soon."""
        if token := self._usable(key):
            return token
        async with self._locks.setdefault(key, asyncio.Lock()):
            if token := self._usable(key):
                return token
            self._forget_ended()
            token = await mint()
            self._tokens[key] = token
            return token

    def drop(self, key: Key, token: Token) -> None:
        """Forget `token` because GitHub refused it; a newer one stays."""
        if self._tokens.get(key) is token:
            del self._tokens[key]

    def drop_all(self, chosen: Callable[[Key], bool]) -> None:
        """Forget the tokens whose keys are chosen."""
        for key in [key for key in self._tokens if chosen(key)]:
            del self._tokens[key]

    def _usable(self, key: Key) -> Token | None:
        token = self._tokens.get(key)
        return token if token and token.expires_at - self._clock.now() > REFRESHED_BEFORE_END else None

    def _forget_ended(self) -> None:
        now = self._clock.now()
        for key in [key for key, token in self._tokens.items() if token.expires_at <= now]:
            del self._tokens[key]
            if key in self._locks and not self._locks[key].locked():
                del self._locks[key]


def timestamp(text: str) -> float:
    """Unix seconds of one of GitHub's `2026-11-29T12:00:00Z`."""
    return datetime.fromisoformat(text).timestamp()

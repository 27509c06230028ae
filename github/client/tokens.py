"""Proving who we are: the App's JWT, and installation tokens, minted once and shared until shortly before their end.

A JWT lives at most ten minutes by GitHub's clock; ours is issued a minute in the past and corrected by what GitHub's
`Date` header says. Installation tokens are opaque, up to about 1 KB, and live an hour.
"""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import jwt
from githubkit import GitHubCore
from githubkit.auth import AppAuthStrategy, TokenAuthStrategy

from github.client.clock import Clock

JWT_BACKDATED = 60.0
JWT_LIFE = 540.0
JWT_REUSED = 300.0
REFRESHED_BEFORE_END = 300.0
FRESH = 10.0  # seconds in which a token may not be known everywhere at GitHub yet
SKEW_THAT_MATTERS = 20.0


@dataclass(frozen=True, slots=True)
class Token:
    """An installation token; `value` is never shown by repr. Times are Unix seconds of our own clock."""

    value: str = field(repr=False)
    expires_at: float
    minted_at: float
    permissions: Mapping[str, str]

    @property
    def auth(self) -> TokenAuthStrategy:
        """How githubkit uses it."""
        return TokenAuthStrategy(self.value)

    def fresh(self, now: float) -> bool:
        """Whether it is so new that a refusal may only mean "not replicated yet"."""
        return now - self.minted_at < FRESH


class _Bearer(httpx.Auth):
    def __init__(self, value: str) -> None:
        self._value = value

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self._value}"
        yield request


class AppKey(AppAuthStrategy):
    """The App's id and private key: how githubkit proves that we are the App. Raises ValueError for a key that is none.

    githubkit's own JWT goes by this machine's clock; ours is corrected where GitHub's is another. `offset` is how far
    GitHub's clock is ahead of ours, in seconds, once that mattered.
    """

    def __init__(self, app_id: int | str, private_key: str, clock: Clock) -> None:
        super().__init__(app_id, private_key)
        self._clock = clock
        self.offset = 0.0
        self._made: tuple[float, str] | None = None
        try:
            self.jwt()
        except (ValueError, TypeError, jwt.PyJWTError) as error:
            raise ValueError(
                f"the private key of App {app_id} is no RSA key in PEM form: download a new one in the App's settings"
            ) from error

    def jwt(self) -> str:
        """A JWT that is valid now, by GitHub's clock as far as it is known."""
        now = self._clock.now() + self.offset
        if self._made is None or not 0 <= now - self._made[0] < JWT_REUSED:
            claims = {"iss": str(self.app_id), "iat": int(now - JWT_BACKDATED), "exp": int(now + JWT_LIFE)}
            self._made = (now, jwt.encode(claims, self.private_key, algorithm="RS256"))
        return self._made[1]

    def get_auth_flow(self, github: GitHubCore[Any]) -> httpx.Auth:
        """Sign a request with the JWT."""
        return _Bearer(self.jwt())

    def corrected(self, date_header: str | None) -> bool:
        """Take GitHub's clock from a `Date` header; True if that makes another JWT worth trying."""
        try:
            theirs = parsedate_to_datetime(date_header or "").timestamp()
        except (ValueError, TypeError):
            return False
        offset = theirs - self._clock.now()
        if abs(offset - self.offset) < SKEW_THAT_MATTERS:
            return False
        self.offset, self._made = offset, None
        return True


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

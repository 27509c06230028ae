"""How requests are signed, as strategies of githubkit: by the App's JWT, or by an installation token that is renewed.

githubkit brings both. Its JWT goes by this machine's clock, and ours is corrected by what GitHub's `Date` header says.
Its installation tokens are minted once for each request that finds none (fifty cold requests mint fifty), are used
until their end though GitHub refuses them, and are not given the seconds that a fresh one may take to be known
everywhere (octokit/auth-app.js#65).
"""

import base64
from collections.abc import AsyncGenerator, Callable
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import jwt
from githubkit import GitHubCore
from githubkit.auth import AppAuthStrategy, BaseAuthStrategy

from github.client.clock import Clock
from github.client.errors import PermissionMissing, Unauthorized
from github.client.http.answers import error_of
from github.client.scopes import allows
from github.client.tokens import Key, Mint, TokenBook

JWT_BACKDATED = 60.0
JWT_LIFE = 540.0
JWT_REUSED = 300.0
SKEW_THAT_MATTERS = 20.0
FRESH_WAITS = (1.0, 2.0, 4.0)  # seconds between tries of a token that GitHub may not know everywhere yet

Flow = AsyncGenerator[httpx.Request, httpx.Response]


class AppKey(AppAuthStrategy):
    """The App's id and private key. Raises ValueError for a key that is none.

    A JWT lives at most ten minutes by GitHub's clock; ours is issued a minute in the past. `offset` is how far GitHub's
    clock is ahead of ours, in seconds, once that mattered.
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
        """Sign a request with the JWT, once more with a corrected clock if GitHub's is another."""
        return _AsApp(self)

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


class InstallationAuth(BaseAuthStrategy):
    """Requests with the token for `key`, which `mint` makes. `outdated` says whether what the installation's owner had
    accepted is asked anew, when a permission is missing. `git`: the token goes as Git sends it, as a password."""

    def __init__(
        self,
        tokens: TokenBook,
        key: Key,
        mint: Mint,
        outdated: Callable[[], bool],
        clock: Clock,
        *,
        git: bool = False,
    ) -> None:
        self.tokens, self.key, self.mint, self.outdated, self.clock = tokens, key, mint, outdated, clock
        self.git = git

    def header(self, token: str) -> str:
        """The `Authorization` that carries `token`."""
        if not self.git:
            return f"token {token}"
        return f"Basic {base64.b64encode(f'x-access-token:{token}'.encode()).decode()}"

    def get_auth_flow(self, github: GitHubCore[Any]) -> httpx.Auth:
        """Sign a request with the token, and once more with a new one if GitHub refuses that."""
        return _AsInstallation(self)


class _AsApp(httpx.Auth):
    def __init__(self, key: AppKey) -> None:
        self._key = key

    async def async_auth_flow(self, request: httpx.Request) -> Flow:
        for _try in range(2):
            request.headers["Authorization"] = f"Bearer {self._key.jwt()}"
            response = yield request
            if response.status_code != 401 or not self._key.corrected(response.headers.get("date")):
                return


class _AsInstallation(httpx.Auth):
    def __init__(self, by: InstallationAuth) -> None:
        self._by = by

    async def async_auth_flow(self, request: httpx.Request) -> Flow:
        """A fresh token is allowed seconds to be known everywhere; one that is refused is renewed once, also when the
        owner may have accepted more permissions since."""
        by, waits, renewed = self._by, list(FRESH_WAITS), False
        while True:
            token = await by.tokens.get(by.key, by.mint)
            request.headers["Authorization"] = by.header(token.value)
            response = yield request
            if response.status_code not in (401, 403):
                return
            now = by.clock.now()
            error = error_of("", response.status_code, response.headers, await response.aread(), now)
            if not isinstance(error, (Unauthorized, PermissionMissing)):
                return
            hopeless = isinstance(error, PermissionMissing) and not allows(error.needed, token.permissions)
            if not hopeless and waits and token.fresh(now):
                await by.clock.sleep(waits.pop(0))
            elif renewed:
                return
            elif isinstance(error, Unauthorized):
                renewed = True
                by.tokens.drop(by.key, token)
            elif by.outdated():
                renewed = True
            else:
                return

"""Tokens of an hour, made of a service account's key: Google takes no key itself."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import jwt

from loops.gateway.refreshing import LoginRefused, LoginUnreachable, Post
from loops.gateway.upstreams import Account
from loops.runtimes.cloud_keys import ServiceAccount, service_account
from loops.runtimes.login import EARLY

TOKEN_URL: Final = "https://oauth2.googleapis.com/token"  # noqa: S105  an address
"""Google's, whatever a key's file says: nobody else gets what the key signed."""
_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"
_GRANT: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_MOST: Final = 256
"""Tokens that are kept; of more accounts those that were asked first are made anew."""


class Minter:
    """Makes and keeps them, in memory. `post` sends a form."""

    def __init__(self, post: Post, clock: Callable[[], float] = time.time) -> None:
        self._post = post
        self._clock = clock
        self._tokens: dict[str, tuple[str, float]] = {}

    async def current(self, account: Account) -> Account:
        """The account with a token, where it takes one. Raises LoginRefused, LoginUnreachable, and ValueError for a key
        that is none.
        """
        if account.kind != "google_service_account":
            return account
        token, until = self._tokens.get(account.secret, ("", 0.0))
        if until - EARLY <= self._clock():
            token, until = await self._minted(service_account(account.secret))
            self._tokens.pop(account.secret, None)
            self._tokens[account.secret] = (token, until)
            if len(self._tokens) > _MOST:
                self._tokens.pop(next(iter(self._tokens)))
        return replace(account, access=token)

    async def _minted(self, key: ServiceAccount) -> tuple[str, float]:
        try:
            status, answer = await self._post(TOKEN_URL, {"grant_type": _GRANT, "assertion": self._assertion(key)})
        except (OSError, TimeoutError) as error:
            raise LoginUnreachable(f"Google gives out no token now: {type(error).__name__}.") from None
        told: dict[str, Any] = answer if isinstance(answer, dict) else {}
        if status in (400, 401, 403):
            said = str(told.get("error_description") or told.get("error") or status)[:200]
            raise LoginRefused(f"The account's key was refused by Google: {said}.")
        token = told.get("access_token")
        if status != 200 or not isinstance(token, str) or not token:
            raise LoginUnreachable(f"Google gives out no token now: it answered {status}.")
        return token, self._clock() + float(told.get("expires_in") or 3600)

    def _assertion(self, key: ServiceAccount) -> str:
        now = int(self._clock())
        claims = {"iss": key.email, "scope": _SCOPE, "aud": TOKEN_URL, "iat": now, "exp": now + 3600}
        try:
            return jwt.encode(claims, key.private_key, algorithm="RS256", headers={"kid": key.key_id})
        except (ValueError, TypeError, jwt.PyJWTError):
            raise ValueError("The account's service account holds a private key that cannot be read.") from None

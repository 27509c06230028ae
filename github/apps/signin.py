"""People who sign in with GitHub: the App's web flow, and what a person's own token reaches.

https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
"""

import base64
import hashlib
import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import httpx
from githubkit.auth import OAuthAppAuthStrategy, TokenAuthStrategy

from github.client.addresses import Addresses
from github.client.clock import Clock
from github.client.errors import GitHubError, Invalid, NotFound
from github.client.http.transport import Transport

TOKEN_SECONDS = 8 * 3600
"""How long a token lasts whose end GitHub does not tell: Apps may switch the expiry off, we do not."""


class SignInRefused(GitHubError):
    """GitHub does not take the code; the person has to start again, or the App's client secret is wrong."""


@dataclass(frozen=True, slots=True)
class PersonToken:
    """A user access token (`ghu_…`); `expires_at` is a Unix time."""

    token: str = field(repr=False)
    expires_at: float


@dataclass(frozen=True, slots=True)
class Flow:
    """One sign-in under way: `state` comes back with the code, `verifier` proves that the code is ours (PKCE)."""

    state: str
    verifier: str = field(repr=False)

    @classmethod
    def begin(cls) -> "Flow":
        return cls(secrets.token_urlsafe(24), secrets.token_urlsafe(48))

    @property
    def challenge(self) -> str:
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


class SignIn:
    """The App as people see it. Close it with `aclose()`. Every method may raise GitHubError."""

    def __init__(
        self,
        addresses: Addresses,
        client_id: str,
        client_secret: str,
        *,
        api_version: str = "2022-11-28",
        http: httpx.AsyncClient | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._addresses = addresses
        self._client = OAuthAppAuthStrategy(client_id, client_secret)
        self._clock = clock or Clock()
        self._transport = Transport(addresses, api_version=api_version, clock=self._clock, http=http)

    async def aclose(self) -> None:
        await self._transport.aclose()

    def address(self, flow: Flow, redirect_uri: str) -> str:
        """Where the browser goes."""
        query = {
            "client_id": self._client.client_id,
            "redirect_uri": redirect_uri,
            "state": flow.state,
            "code_challenge": flow.challenge,
            "code_challenge_method": "S256",
        }
        return f"{self._addresses.web}/login/oauth/authorize?{urlencode(query)}"

    async def exchange(self, code: str, flow: Flow, redirect_uri: str) -> PersonToken:
        """The token for the code that came back. Raises SignInRefused: GitHub answers errors with 200."""
        body = {
            "client_id": self._client.client_id,
            "client_secret": self._client.client_secret,
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": flow.verifier,
        }
        url = f"{self._addresses.web}/login/oauth/access_token"
        answer = await self._transport.send("POST", url, body=body, headers={"Accept": "application/json"})
        found: dict[str, Any] = answer.json()
        if not found.get("access_token"):
            said = str(found.get("error_description") or found.get("error") or "no token came back")
            raise SignInRefused(f"GitHub refuses the sign-in: {said}", request=f"POST {url}", status=answer.status)
        seconds = float(found.get("expires_in") or TOKEN_SECONDS)
        return PersonToken(str(found["access_token"]), self._clock.now() + seconds)

    async def who(self, token: str) -> tuple[int, str]:
        """Numeric id and login of the person."""
        me = (await self._get("user", token))[0].json()
        return int(me["id"]), str(me["login"])

    async def repositories(self, token: str) -> frozenset[int]:
        """Ids of the repositories of our installations that the person has a role in; public alone is none."""
        found: set[int] = set()
        for answer in await self._get("user/installations?per_page=100", token):
            for each in answer.json().get("installations") or ():
                if each.get("suspended_at") is not None:
                    continue
                try:
                    pages = await self._get(f"user/installations/{int(each['id'])}/repositories?per_page=100", token)
                except NotFound:
                    continue  # removed since
                found |= {int(row["id"]) for page in pages for row in page.json().get("repositories") or ()}
        return frozenset(found)

    async def end(self, token: str) -> None:
        """End the token. One that is ended already is fine."""
        url = self._transport.url(f"applications/{self._client.client_id}/token")
        try:
            await self._transport.send("DELETE", url, auth=self._client, body={"access_token": token})
        except (Invalid, NotFound):
            return

    async def _get(self, path: str, token: str) -> list[Any]:
        """All pages of an answer."""
        pages, page = [], path
        while page:
            answer = await self._transport.send("GET", self._transport.url(page), auth=TokenAuthStrategy(token))
            pages.append(answer)
            page = answer.next_page or ""
        return pages

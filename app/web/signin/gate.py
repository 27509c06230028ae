"""The gate before the pages. It is closed unless it knows who asks, or that nobody but this machine can."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from app.settings import Settings
from app.web.signin.cookies import PERSON, Cookies
from app.web.signin.local import local
from app.web.signin.readers import Readers
from github.apps.signin import SignIn
from github.client.addresses import Addresses

CALLBACK = "/signin/callback"


class NotSignedIn(Exception):
    """Sign in first."""


class Closed(Exception):
    """Nobody can sign in here; the message says how to open the pages."""


@dataclass(frozen=True)
class Visitor:
    """Who looks. `repositories` are the ids of those they may see sessions of; None: all, as nobody has to sign in.

    `id` is GitHub's of whoever signed in. `here`: nobody has to, and it is this machine that asks.
    """

    login: str = ""
    id: int | None = None
    here: bool = False
    token: str = field(default="", repr=False)
    repositories: frozenset[int] | None = None

    def sees(self, repository_id: int) -> bool:
        return self.repositories is None or repository_id in self.repositories


class Gate:
    """Raises ValueError when it is half configured."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        secret = settings.sign_in_secret_text()
        if bool(settings.client_id) != bool(secret):
            missing = "GREENLOOP_SIGN_IN_SECRET_FILE" if settings.client_id else "GREENLOOP_CLIENT_ID"
            raise ValueError(f"sign-in is half configured: set {missing} too, both are on the GitHub App's page")
        self.clock = clock
        self.public_url = settings.public_url.rstrip("/")
        self._settings = settings
        self.signin: SignIn | None = None
        if not secret:
            return
        if not settings.encryption_key_list():
            raise ValueError("sign-in needs an encryption key for its cookies: set GREENLOOP_ENCRYPTION_KEYS_FILE")
        addresses = Addresses.of(settings.github_api_url, settings.github_web_url)
        self.signin = SignIn(addresses, settings.client_id, secret, api_version=settings.github_api_version)
        self.cookies = Cookies(settings.encryption_key_list(), secure=self.public_url.startswith("https://"))
        self.readers = Readers(self.signin.repositories, clock)

    @property
    def redirect_uri(self) -> str:
        return self.public_url + CALLBACK

    async def visitor(self, connection: HTTPConnection) -> Visitor:
        """Who asks. Raises NotSignedIn, Closed, or GitHubError when GitHub cannot be asked what they may see."""
        if self.signin is None:
            here = local(connection, self.public_url)
            if self._settings.pages == "open" or here:
                return Visitor(here=here)
            raise Closed(
                "Set GREENLOOP_CLIENT_ID and GREENLOOP_SIGN_IN_SECRET_FILE, both from the GitHub App's page, so that "
                "people can sign in. Without them the pages are for this machine only, at a 127.0.0.1 address."
            )
        known = self.cookies.read(connection, PERSON, self.clock())
        if known is None:
            raise NotSignedIn
        seen = await self.readers.of(int(known["id"]), str(known["token"]))
        if seen is None:
            raise NotSignedIn
        return Visitor(str(known["login"]), int(known["id"]), token=str(known["token"]), repositories=seen)

    def ours(self, connection: HTTPConnection) -> bool:
        """Whether a form was sent from a page of ours: by the browser's word, or by the origin it names."""
        site = connection.headers.get("sec-fetch-site")
        if site is not None:
            return site == "same-origin"
        parts = urlsplit(self.public_url)
        return connection.headers.get("origin") == f"{parts.scheme}://{parts.netloc}"

    async def aclose(self) -> None:
        if self.signin is not None:
            await self.signin.aclose()

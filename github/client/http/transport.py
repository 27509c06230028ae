"""One request to GitHub by githubkit, and what came of it: an answer, or an error with a name.

githubkit signs (`github.client.auth`), takes its turn (`github.client.http.rate_limit`), sends, and tries again what
may be tried again (`github.client.http.retries`). Redirects are not followed: a repository that moved is asked under
its new name, and a log lies at another host, where no token belongs.

Requests go by their paths, not by githubkit's generated methods: those do not quote what stands in a path, cannot send
text that ends in half a surrogate pair, and each group of them costs 2 MB.
"""

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx
from githubkit import GitHub, Response
from githubkit.auth import BaseAuthStrategy, UnauthAuthStrategy
from githubkit.exception import RequestError, RequestFailed
from githubkit.throttling import BaseThrottler

from github.client.addresses import Addresses
from github.client.clock import Clock
from github.client.errors import GitHubError, RateLimited, Unreachable, UnreadableAnswer
from github.client.http import retries
from github.client.http.answers import SECONDARY_WAIT, error_of
from github.client.http.connections import TIMEOUT, Connections

USER_AGENT = "greenloop/0.1"

_NEXT = re.compile(r'<([^>]+)>;\s*rel="next"')


@dataclass(frozen=True, slots=True)
class Answer:
    """A success, or a redirect."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def moved(self) -> bool:
        """Whether what was asked for has another address now: a repository was renamed or transferred."""
        return self.status in (301, 307, 308)

    def json(self) -> Any:
        """The body's value. Raises UnreadableAnswer."""
        try:
            return json.loads(self.body)
        except ValueError as error:
            start = self.body[:80].decode("utf-8", "replace")
            raise UnreadableAnswer(
                f"GitHub's answer is no JSON but {start!r}: is the API URL right, or a proxy in between?",
                status=self.status,
            ) from error

    @property
    def next_page(self) -> str | None:
        """The URL of the next page, or None on the last."""
        found = _NEXT.search(self.headers.get("link", ""))
        return found[1] if found else None


class Transport:
    """The HTTP side of one GitHub. Close it with `aclose()`; an injected `http` is the caller's to close.

    `offset` is how many seconds GitHub's clock is ahead of ours, by the `Date` of its last answer: ages of what GitHub
    made are counted by it.
    """

    def __init__(
        self,
        addresses: Addresses,
        *,
        api_version: str,
        clock: Clock,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self.addresses = addresses
        self.clock = clock
        self.offset = 0.0
        self._connections = Connections(api_version=api_version, clock=clock, http=http)
        self._github = GitHub(
            UnauthAuthStrategy(),
            base_url=addresses.api,
            user_agent=USER_AGENT,
            follow_redirects=False,
            timeout=TIMEOUT,
            async_transport=self._connections,
            http_cache=False,
            auto_retry=retries.decide,
            rest_api_validate_body=False,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._connections.close()

    def url(self, path: str) -> str:
        """The address of an API path or URL, always on our own API: what a `Link` says of the host is not believed."""
        if path == self.addresses.graphql:
            return path
        if path.startswith(("http://", "https://")):
            parts = urlsplit(path)
            prefix = urlsplit(self.addresses.api).path
            path = parts.path.removeprefix(prefix) + (f"?{parts.query}" if parts.query else "")
        return f"{self.addresses.api}/{path.lstrip('/')}"

    def github(
        self, auth: BaseAuthStrategy | None = None, throttler: BaseThrottler | None = None
    ) -> GitHub[BaseAuthStrategy]:
        """githubkit's client that signs by `auth` and takes its turns from `throttler`."""
        config = replace(self._github.config, throttler=throttler) if throttler else self._github.config
        return GitHub(auth or UnauthAuthStrategy(), config=config)

    async def send(
        self,
        method: str,
        url: str,
        *,
        auth: BaseAuthStrategy | None = None,
        throttler: BaseThrottler | None = None,
        body: Any = None,
        params: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request. Raises GitHubError."""
        github = self.github(auth, throttler)
        sent = dict(headers or {})
        content = None
        if body is not None:
            content = _encoded(body)
            sent.setdefault("Content-Type", "application/json")
        return await self.answered(
            f"{method} {urlsplit(url).path}",
            lambda: github.arequest(method, url, headers=sent, content=content, params=params),
        )

    async def answered(self, label: str, call: Callable[[], Awaitable[Response[Any, Any]]]) -> Answer:
        """What one of githubkit's calls came to. `label` is "METHOD path". Raises GitHubError."""
        try:
            response = (await call()).raw_response
        except RequestFailed as failure:
            raise self._named(label, failure.response.raw_response) from failure
        except RequestError as failure:
            if isinstance(failure.exc, httpx.HTTPError):
                raise _unreachable(label, failure.exc) from failure
            raise failure.exc from failure
        except ValueError as failure:  # githubkit on a `Retry-After` that is no number
            until = self.clock.now() + SECONDARY_WAIT
            raise RateLimited(
                f"{label}: GitHub asks to slow down", retry_at=until, secondary=True, request=label
            ) from failure
        self._tell_time(response.headers.get("date"))
        return Answer(response.status_code, response.headers, response.content)

    @asynccontextmanager
    async def stream(self, url: str, *, redirects: bool = True) -> AsyncIterator[httpx.Response]:
        """A GET of a signed address elsewhere: no `Authorization`, which the storage behind logs refuses.

        Without `redirects` one is given back as it is.
        """
        label = f"GET {urlsplit(url).netloc}{urlsplit(url).path}"
        try:
            async with self._connections.http.stream(
                "GET", url, headers={"User-Agent": USER_AGENT}, follow_redirects=redirects
            ) as response:
                if response.status_code >= 400:
                    body = await response.aread()
                    raise error_of(label, response.status_code, response.headers, body[:2000], self.clock.now())
                yield response
        except httpx.HTTPError as error:
            raise _unreachable(label, error) from error

    async def send_elsewhere(self, method: str, url: str, headers: Mapping[str, str], body: Any) -> None:
        """A request to a signed address elsewhere, with the headers that GitHub named and none of ours.

        `body` is bytes, or what goes as JSON. Raises GitHubError.
        """
        label = f"{method} {urlsplit(url).netloc}{urlsplit(url).path}"
        content = body if isinstance(body, bytes) else _encoded(body)
        sent = {"User-Agent": USER_AGENT, **headers}
        try:
            response = await self._connections.http.request(
                method, url, headers=sent, content=content, follow_redirects=False
            )
        except httpx.HTTPError as error:
            raise _unreachable(label, error) from error
        if response.status_code >= 300:
            said = response.content[:2000]
            raise error_of(label, response.status_code, response.headers, said, self.clock.now())

    def _tell_time(self, date: str | None) -> None:
        try:
            offset = parsedate_to_datetime(date or "").timestamp() - self.clock.now()
        except ValueError:
            return
        # the header has whole seconds only: less than one is no difference
        self.offset = offset if not -1.0 <= offset <= 0.0 else 0.0

    def _named(self, label: str, response: httpx.Response) -> GitHubError:
        error = error_of(label, response.status_code, response.headers, response.content, self.clock.now())
        error.request_id = response.headers.get("x-github-request-id", "")
        return error


def _encoded(value: Any) -> bytes:
    """JSON; half a surrogate pair, as cut text may end with, becomes a question mark."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _unreachable(label: str, failure: httpx.HTTPError) -> Unreachable:
    what = str(failure) or type(failure).__name__
    return Unreachable(f"{label}: no answer from GitHub: {what}; check the API URL, the network and the proxy")

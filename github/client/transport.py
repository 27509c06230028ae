"""One request to GitHub by githubkit: timeouts, the few retries that are safe, redirects, and errors with names.

githubkit's own cache, retries and redirects are off: the cache costs more than it saves, its retries send a POST twice,
and a redirect must not take a token elsewhere. It makes a client for each call, so all share one pool of connections.
Nothing here keeps tokens: the caller hands in the authentication, which is used at the API's own origin only.
"""

import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
from githubkit import GitHub
from githubkit.auth import BaseAuthStrategy, UnauthAuthStrategy
from githubkit.cache import MemCacheStrategy
from githubkit.exception import RequestError, RequestFailed

from github.client.addresses import Addresses
from github.client.answers import SECONDARY_WAIT, error_of
from github.client.clock import Clock
from github.client.errors import GitHubError, RateLimited, ServerFault, Unreachable, UnreadableAnswer

TIMEOUT = httpx.Timeout(20.0, connect=5.0, pool=30.0)
LIMITS = httpx.Limits(max_connections=64, max_keepalive_connections=32)
RETRIES = (0.5, 1.5)  # seconds before the second and third try of a request that is safe to repeat
MAX_REDIRECTS = 3
USER_AGENT = "greenloop/0.1"

# Connection never made, so nothing can have happened at the other end.
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_NEXT = re.compile(r'<([^>]+)>;\s*rel="next"')
_MOVED = (301, 302, 307, 308)


@dataclass(frozen=True, slots=True)
class Answer:
    """A success. `moved` says that GitHub redirected the request: a repository has another name now."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    moved: bool = False

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


class Wire:
    """The HTTP side of one GitHub. Close it with `aclose()`; an injected `http` is the caller's to close."""

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
        self._headers = {"X-GitHub-Api-Version": api_version}
        self._own = http is None
        self._http = http or httpx.AsyncClient(timeout=TIMEOUT, limits=LIMITS, follow_redirects=False)
        self._github = GitHub(
            UnauthAuthStrategy(),
            base_url=addresses.api,
            user_agent=USER_AGENT,
            follow_redirects=False,
            timeout=TIMEOUT,
            async_transport=_Pool(self._http),
            cache_strategy=MemCacheStrategy(),
            http_cache=False,
            auto_retry=False,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        if self._own:
            await self._http.aclose()

    def url(self, path: str) -> str:
        """The address of an API path or URL, always on our own API: what a `Link` says of the host is not believed."""
        if path == self.addresses.graphql:
            return path
        if path.startswith(("http://", "https://")):
            parts = urlsplit(path)
            prefix = urlsplit(self.addresses.api).path
            path = parts.path.removeprefix(prefix) + (f"?{parts.query}" if parts.query else "")
        return f"{self.addresses.api}/{path.lstrip('/')}"

    async def send(
        self,
        method: str,
        url: str,
        *,
        auth: BaseAuthStrategy | None = None,
        body: Any = None,
        params: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
        repeatable: bool = False,
        follow: bool = True,
    ) -> Answer:
        """Send until there is an answer worth giving back: 2xx or 304, or a redirect that leaves the API.

        With `follow=False` any redirect is given back.
        GETs and `repeatable` requests are tried again on 5xx and broken connections; others only if they were never
        sent. Raises GitHubError.
        """
        label = f"{method} {urlsplit(url).path}"
        sent = {**self._headers, **(headers or {})}
        content = _encoded(body)
        if content is not None:
            sent["Content-Type"] = "application/json"
        github = self._github.with_auth(auth) if auth else self._github
        moved = False
        for _hop in range(MAX_REDIRECTS + 1):
            response = await self._tried(
                github, method, url, label, sent, content, params, repeatable or method == "GET"
            )
            if response.status_code not in _MOVED or not follow:
                break
            target = urljoin(url, response.headers.get("location", ""))
            if not self._ours(target):
                break
            url, params, moved = target, None, True
        else:
            raise GitHubError(f"{label}: GitHub redirects in circles", request=label, status=response.status_code)
        return Answer(response.status_code, response.headers, response.content, moved)

    @asynccontextmanager
    async def stream(self, url: str) -> AsyncIterator[httpx.Response]:
        """A GET of a signed address elsewhere: no `Authorization`, which the storage behind logs refuses."""
        label = f"GET {urlsplit(url).netloc}{urlsplit(url).path}"
        try:
            async with self._http.stream(
                "GET", url, headers={"User-Agent": USER_AGENT}, follow_redirects=True
            ) as response:
                if response.status_code >= 400:
                    body = await response.aread()
                    raise error_of(label, response.status_code, response.headers, body[:2000], self.clock.now())
                yield response
        except httpx.HTTPError as error:
            raise _unreachable(label, error) from error

    async def _tried(
        self,
        github: GitHub[Any],
        method: str,
        url: str,
        label: str,
        headers: Mapping[str, str],
        content: bytes | None,
        params: Mapping[str, str | int] | None,
        repeatable: bool,
    ) -> httpx.Response:
        waits = list(RETRIES)
        while True:
            try:
                answer = await github.arequest(method, url, headers=dict(headers), content=content, params=params)
                return answer.raw_response
            except RequestFailed as failure:
                error = self._named(label, failure.response.raw_response)
                if not (isinstance(error, ServerFault) and repeatable and waits):
                    raise error from failure
            except RequestError as failure:
                if not isinstance(failure.exc, httpx.HTTPError):
                    raise failure.exc from failure
                if not waits or not (repeatable or isinstance(failure.exc, _NOT_SENT)):
                    raise _unreachable(label, failure.exc) from failure
            except ValueError as failure:  # githubkit on a `Retry-After` that is no number
                now = self.clock.now()
                raise RateLimited(
                    f"{label}: GitHub asks to slow down", retry_at=now + SECONDARY_WAIT, secondary=True, request=label
                ) from failure
            await self.clock.sleep(waits.pop(0))

    def _named(self, label: str, response: httpx.Response) -> GitHubError:
        error = error_of(label, response.status_code, response.headers, response.content, self.clock.now())
        error.request_id = response.headers.get("x-github-request-id", "")
        error.date = response.headers.get("date", "")
        return error

    def _ours(self, url: str) -> bool:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc}" == self.addresses.origin


class _Pool(httpx.AsyncBaseTransport):
    """Our one HTTP client (its connections, TLS context and proxies) as the transport of githubkit's many."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await self._http.send(request, stream=True, auth=None, follow_redirects=False)

    async def aclose(self) -> None:
        """Nothing: githubkit closes its client after each call, and the connections stay."""


def _encoded(value: Any) -> bytes | None:
    """JSON; half a surrogate pair, as cut text may end with, becomes a question mark."""
    return None if value is None else json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _unreachable(label: str, failure: httpx.HTTPError) -> Unreachable:
    what = str(failure) or type(failure).__name__
    return Unreachable(f"{label}: no answer from GitHub: {what}; check the API URL, the network and the proxy")

"""What lies below githubkit: one pool of connections, bounded answers, and GETs that are asked conditionally.

githubkit makes an HTTP client for each call. With a pool of its own each would cost 40 ms for a TLS context, here 0.2.
"""

import asyncio
from dataclasses import replace

import httpx

from github.client.clock import Clock
from github.client.errors import UnreadableAnswer
from github.client.http.etags import Etags, Kept

TIMEOUT = httpx.Timeout(20.0, connect=5.0, pool=30.0)
LIMITS = httpx.Limits(max_connections=64, max_keepalive_connections=32)
MAX_ANSWER = 64 * 1024 * 1024  # bytes after decompression; the largest that GitHub documents is a tree of 7 MB
FRESH = "max-age="  # the request's `Cache-Control`: an answer of at most so many seconds is good enough


class Connections(httpx.AsyncBaseTransport):
    """The transport of all of githubkit's clients. `close()` closes it; an injected `http` is the caller's to close."""

    def __init__(self, *, api_version: str, clock: Clock, http: httpx.AsyncClient | None = None) -> None:
        self._own = http is None
        self.http = http or httpx.AsyncClient(timeout=TIMEOUT, limits=LIMITS, follow_redirects=False)
        self._version = api_version
        self._clock = clock
        self._etags = Etags()
        self._asking: dict[str, asyncio.Lock] = {}

    async def close(self) -> None:
        """Close the connections."""
        if self._own:
            await self.http.aclose()

    async def aclose(self) -> None:
        """Nothing: githubkit closes its client after each call, and the connections stay."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send, or answer from what is kept. Raises UnreadableAnswer for an answer that is too large."""
        request.headers["X-GitHub-Api-Version"] = self._version
        authorization = request.headers.get("authorization", "")
        if request.method != "GET" or not authorization.startswith("token "):
            return await self._sent(request)
        key = f"{request.url} {request.headers.get('accept', '')}"
        if not _max_age(request):
            return await self._asked(request, key, authorization)
        # who is content with a moment's age waits for who asks just now
        async with self._asking.setdefault(key, asyncio.Lock()) as _:
            try:
                return await self._asked(request, key, authorization)
            finally:
                self._asking.pop(key, None)

    async def _asked(self, request: httpx.Request, key: str, authorization: str) -> httpx.Response:
        kept = self._etags.get(key, authorization)
        if kept is not None and self._clock.now() - kept.at < _max_age(request):
            return _again(kept, request)
        request.headers.pop("If-None-Match", None)  # of an earlier try with another token
        if kept is not None and kept.etag:
            request.headers["If-None-Match"] = kept.etag
        answer = await self._sent(request)
        now = self._clock.now()
        if kept is not None and kept.etag and answer.status_code == 304:
            self._etags.put(key, replace(kept, at=now))
            return _again(kept, request)
        etag = answer.headers.get("etag", "")
        if (answer.status_code == 200 and etag) or (answer.status_code == 404 and _max_age(request)):
            link = answer.headers.get("link", "")
            self._etags.put(key, Kept.of(authorization, answer.status_code, etag, link, answer.content, now))
        else:
            self._etags.forget(key)
        return answer

    async def _sent(self, request: httpx.Request) -> httpx.Response:
        response = await self.http.send(request, stream=True, auth=None, follow_redirects=False)
        body = bytearray()
        try:
            async for part in response.aiter_bytes():
                body += part
                if len(body) > MAX_ANSWER:
                    raise UnreadableAnswer(
                        f"{request.method} {request.url.path}: GitHub's answer is larger than {MAX_ANSWER} bytes: "
                        "is the API URL right, or a proxy in between?",
                        status=response.status_code,
                    )
        finally:
            await response.aclose()
        plain = [
            (name, value)
            for name, value in response.headers.raw
            if name.lower() not in (b"content-encoding", b"content-length", b"transfer-encoding")
        ]
        return httpx.Response(response.status_code, headers=plain, content=bytes(body), request=request)


def _max_age(request: httpx.Request) -> float:
    wanted = request.headers.get("cache-control", "")
    return float(wanted.removeprefix(FRESH)) if wanted.startswith(FRESH) else 0.0


def _again(kept: Kept, request: httpx.Request) -> httpx.Response:
    headers = {"content-type": "application/json; charset=utf-8", "etag": kept.etag, "link": kept.link}
    return httpx.Response(kept.status, headers=headers, content=kept.body, request=request)

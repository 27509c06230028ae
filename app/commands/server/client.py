"""A server's API, asked from a shell: its problems as one line, calls that are sent again do nothing twice, and a live
stream that goes on where it was cut."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import httpx

from app.commands.server.logins import Server

T = TypeVar("T")

PATIENCE: Final = 60.0
"""Seconds without a byte, after which a connection counts as lost; a stream has a sign of life each quarter of that."""
TRIES: Final = 5
PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 30.0

Sleep = Callable[[float], Awaitable[None]]


class ServerRefused(ValueError):
    """The server answered that it cannot be done; the message is its own."""


class _Busy(Exception):
    """Not now: after so many seconds."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


@dataclass(frozen=True)
class Told:
    """One event of a stream."""

    kind: str
    data: str


class Client:
    """Every method raises ServerRefused, and ValueError where the server does not answer."""

    def __init__(self, server: Server, *, sleep: Sleep = asyncio.sleep, http: httpx.AsyncClient | None = None) -> None:
        self._server = server
        self._sleep = sleep
        self._http = http or httpx.AsyncClient(timeout=httpx.Timeout(PATIENCE))

    async def aclose(self) -> None:
        await self._http.aclose()

    async def get(self, path: str, **query: Any) -> Any:
        """The JSON value there."""
        return (await self._send("GET", path, query)).json()

    async def text(self, path: str, **query: Any) -> str:
        """The text there."""
        return (await self._send("GET", path, query)).text

    async def post(self, path: str, body: Any = None, **query: Any) -> Any:
        """What is answered to a call, which is made once however often it has to be sent."""
        headers = {"idempotency-key": secrets.token_hex(16)}
        return (await self._send("POST", path, query, body, headers)).json()

    async def stream(self, path: str) -> AsyncGenerator[Told]:
        """What is told there, until the event `end`; a lost stream goes on behind the last event that had an id."""
        last, lost = "", 0
        while True:
            try:
                headers = self._headers({"accept": "text/event-stream", **({"last-event-id": last} if last else {})})
                async with self._http.stream("GET", self._server.url + path, headers=headers) as answer:
                    if answer.status_code != 200:
                        await answer.aread()
                        self._checked(answer)
                    async with aclosing(_events(answer)) as events:
                        async for identity, told in events:
                            last, lost = identity or last, 0
                            if told.kind == "end":
                                return
                            yield told
                pause = PAUSE  # it ended in good order: the server looks at us anew
            except (httpx.TransportError, _Busy) as error:
                lost += 1
                pause = self._pause(error, lost)
            await self._sleep(pause)

    async def _send(
        self, method: str, path: str, query: dict[str, Any], body: Any = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        given = {name: value for name, value in query.items() if value is not None}
        lost = 0
        while True:
            try:
                answer = await self._http.request(
                    method, self._server.url + path, params=given, json=body, headers=self._headers(headers or {})
                )
                return self._checked(answer)
            except (httpx.TransportError, _Busy) as error:
                lost += 1
                await self._sleep(self._pause(error, lost))

    def _headers(self, more: dict[str, str]) -> dict[str, str]:
        return {"authorization": f"Bearer {self._server.token}", **more}

    def _pause(self, error: Exception, lost: int) -> float:
        """Seconds until the next try. Raises ValueError after the last one."""
        if lost >= TRIES:
            raise ValueError(f"{self._server.url} does not answer: {str(error) or type(error).__name__}") from error
        pause = error.seconds if isinstance(error, _Busy) else PAUSE * 2 ** (lost - 1)
        return min(pause, LONGEST_PAUSE)

    def _checked(self, answer: httpx.Response) -> httpx.Response:
        if answer.is_success:
            return answer
        said = _said(answer)
        if answer.status_code in (429, 502, 503, 504):
            told = answer.headers.get("retry-after", "")
            raise _Busy(said, float(told) if told.isascii() and told.isdigit() else PAUSE)
        if answer.status_code == 401:
            raise ServerRefused(f"{self._server.url}: {said}: `greenloop login {self._server.url}`")
        raise ServerRefused(f"{self._server.url}: {said}")


def _said(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"it answered {answer.status_code}, and not as a Greenloop does"


async def _events(answer: httpx.Response) -> AsyncGenerator[tuple[str, Told]]:
    """The events of a stream, each with its id."""
    found: dict[str, str] = {}
    async for line in answer.aiter_lines():
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            found[name] = f"{found['data']}\n{value}" if name == "data" and "data" in found else value
        elif found:
            if "data" in found:
                yield found.get("id", ""), Told(found.get("event", "message"), found["data"])
            found = {}

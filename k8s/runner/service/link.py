"""The runner's HTTP line to the service: one connection, tried again until the service is back."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import time
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import protocol

REQUEST_SECONDS = 30.0
REFUSED_SECONDS = 300.0
"""How long a refused token is tried again (it may just be changing) before the runner gives up."""

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 5.0


class Unreachable(Exception):
    """No answer, or one that says to come back later."""


class Gone(Exception):
    """The service does not know the turn (any more), or it is over: drop it."""


class RefusedByService(Exception):
    """The token was refused for `REFUSED_SECONDS`."""


class Rejected(Exception):
    """The service refused this one request for good; `str()` is its reason."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Link:
    """Talks to the service at `url`: about one turn with the `turn_token` that came with it, else with the box's token
    in `token_file`, which is read anew for each request."""

    def __init__(
        self, url: str, token_file: Path, turn_token: str = "", sleep: Callable[[float], None] = time.sleep
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"service URL {url!r} is not http://host or https://host")
        self._url = url
        self._parts = parts
        self._prefix = parts.path.rstrip("/")
        self._token_file = token_file
        self._turn_token = turn_token
        self._token = turn_token or self._read_token()
        self._sleep = sleep
        self._connection: http.client.HTTPConnection | None = None
        self.last_answer = time.monotonic()

    def _read_token(self) -> str:
        return self._token_file.read_text().strip()

    def _renew_token(self) -> None:
        """The file changes when the service renews the box's token, which it says to nobody."""
        if self._turn_token:
            return
        with contextlib.suppress(OSError):
            self._token = self._read_token() or self._token

    def another(self) -> Link:
        """A line of its own, for a process that was forked: it must not use this one's connection."""
        return Link(self._url, self._token_file, self._turn_token, self._sleep)

    def close(self) -> None:
        """Let go of the connection; the next request makes a new one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connect(self, seconds: float) -> http.client.HTTPConnection:
        if self._connection is None:
            kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
            self._connection = kind(self._parts.hostname or "", self._parts.port, timeout=seconds)
        self._connection.timeout = seconds
        if self._connection.sock is not None:
            self._connection.sock.settimeout(seconds)
        return self._connection

    def _send(self, method: str, path: str, body: bytes | None, kind: str, seconds: float) -> http.client.HTTPResponse:
        self._renew_token()
        headers = {"Authorization": f"Bearer {self._token}"}
        if body is not None:
            headers["Content-Type"] = kind
        for fresh in (self._connection is None, True):
            connection = self._connect(seconds)
            try:
                connection.request(method, self._prefix + path, body=body, headers=headers)
                return connection.getresponse()
            except (ConnectionError, http.client.RemoteDisconnected, http.client.CannotSendRequest) as error:
                # a kept connection that the other side has closed says nothing about the service
                self.close()
                if fresh:
                    raise Unreachable(f"{method} {path}: {error}") from None
            except (OSError, http.client.HTTPException) as error:
                self.close()
                raise Unreachable(f"{method} {path}: {str(error) or type(error).__name__}") from None
        raise AssertionError("the second try returns or raises")

    def once(
        self,
        method: str,
        path: str,
        message: dict[str, Any] | bytes | None = None,
        *,
        seconds: float = REQUEST_SECONDS,
        into: Callable[[bytes], object] | None = None,
    ) -> tuple[int, bytes]:
        """One request: (status, body). A body that is a success goes to `into` piece by piece, if given.

        Raises `Unreachable`, also for 429 and 5xx.
        """
        kind = "application/octet-stream" if isinstance(message, bytes) else "application/json"
        body = json.dumps(message).encode() if isinstance(message, dict) else message
        response = self._send(method, path, body, kind, seconds)
        try:
            if into is not None and response.status == 200:
                while piece := response.read(256 * 1024):
                    into(piece)
                answer = b""
            else:
                answer = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Unreachable(f"{method} {path}: {str(error) or type(error).__name__}") from None
        if response.will_close:
            self.close()
        if response.status >= 500 or response.status == 429:
            raise Unreachable(f"{method} {path}: {response.status} {_reason(answer)}")
        self.last_answer = time.monotonic()
        return response.status, answer

    def call(
        self,
        method: str,
        path: str,
        message: dict[str, Any] | bytes | None = None,
        *,
        patience: float | None = None,
        into: Callable[[bytes], object] | None = None,
        restart: Callable[[], object] | None = None,
    ) -> Any:
        """A request about a turn, until it is answered: the JSON of the answer, None where there is none.

        `patience` is how many seconds to go on trying, None for ever. `restart` is called before a try that follows
        one whose body may have gone into `into` in part. Raises `Unreachable`, `Gone`, `Rejected`, `RefusedByService`.
        """
        began = time.monotonic()
        refused_since: float | None = None
        pause = FIRST_PAUSE
        while True:
            try:
                status, answer = self.once(method, path, message, into=into)
            except Unreachable:
                if patience is not None and time.monotonic() - began >= patience:
                    raise
            else:
                if status < 300:
                    return json.loads(answer) if answer else None
                if status in (404, 409):
                    raise Gone(_reason(answer))
                if status not in (401, 403):
                    raise Rejected(status, _reason(answer))
                refused_since = self.refused(refused_since)
            self._sleep(jittered(pause))
            pause = min(pause * 2, LONGEST_PAUSE)
            if restart is not None:
                restart()

    def refused(self, since: float | None) -> float:
        """Note a refused token. Answers since when. Raises `RefusedByService` when that is too long ago."""
        now = time.monotonic()
        since = now if since is None else since
        if now - since >= REFUSED_SECONDS:
            raise RefusedByService(f"the service has refused the token for {now - since:.0f} s")
        return since

    def output(self, turn: str, output: protocol.Output, *, patience: float | None = None) -> protocol.OutputAnswer:
        """Post output, or just a heartbeat."""
        answer = self.call("POST", f"/turns/{turn}/output", protocol.to_json(output), patience=patience)
        return protocol.output_answer_from_json(answer)


def jittered(seconds: float) -> float:
    """About `seconds`, so that many runners do not come back at the same moment."""
    return seconds * random.uniform(0.7, 1.3)  # noqa: S311 - no secret hangs on it


def _reason(answer: bytes) -> str:
    try:
        return str(json.loads(answer)["error"])
    except (ValueError, KeyError, TypeError):
        return answer[:200].decode("utf-8", "replace")

"""Bounds of connections, before anything of a request is understood: how many, from whom, how long, how large a head.

uvicorn's protocol, with deadlines where it has none. It stays the server: with work behind it, it was measured faster
than granian, which also broke on bodies that were refused unread.
"""

import asyncio
import logging
import resource
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Any, cast

import structlog
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

log = structlog.get_logger(__name__)
_errors = logging.getLogger(f"{__name__}.errors")
_errors.setLevel(logging.ERROR)

IDLE_SECONDS = 100
"""How long a server of ours keeps a connection on which nothing is asked."""

SPARE_DESCRIPTORS = 128
"""File descriptors that connections leave to databases, Redis, logs and child processes."""


@dataclass
class ConnectionLimits:
    """Limits of one port; seconds and bytes. `peers` counts the open connections of each address; `share` is this
    port's part of the file descriptors that the process may have for connections.

    A connection on which nothing is asked is kept for `idle_seconds`, longer than clients keep one (nginx and AWS' load
    balancer 60 s; Go's and hyper's pools 90 s): a request that is sent while we close is lost, and a POST is not sent
    again. When more than half of `connections` are open, it is kept for `crowded_idle_seconds` only.
    """

    connections: int = 2048
    for_peer: int = 1536
    head_seconds: float = 10.0
    body_seconds: float = 120.0
    idle_seconds: int = IDLE_SECONDS
    crowded_idle_seconds: int = 5
    head_bytes: int = 64 * 1024
    peers: Counter[str] = field(default_factory=Counter)
    proxies: Sequence[IPv4Network | IPv6Network] = ()
    share: float = 1.0
    refused: int = 0

    def counted(self, peer: str) -> bool:
        """Whether connections from the address `peer` are counted: not those of a proxy, which come from many."""
        if not self.proxies:
            return True
        try:
            address = ip_address(peer)
        except ValueError:
            return True
        return not any(address in network for network in self.proxies)

    def __post_init__(self) -> None:
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.connections = max(1, min(self.connections, int((soft - SPARE_DESCRIPTORS) * self.share)))
        self.for_peer = min(self.for_peer, self.connections)


def bounded(limits: ConnectionLimits) -> type[HttpToolsProtocol]:
    """uvicorn's protocol, held to `limits`, which all connections of a server share."""
    return cast(type[HttpToolsProtocol], type("Bounded", (_Bounded,), {"limits": limits}))


class _Bounded(HttpToolsProtocol):
    limits: ConnectionLimits

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        # uvicorn warns of each request that is none: strangers would write our log
        self.logger = _errors
        self._deadline: asyncio.TimerHandle | None = None
        self._peer: str | None = None
        self._head = self._heads = self._beside = 0
        self._in_body = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        peer = self.client[0] if self.client else ""
        limits = self.limits
        counted = limits.counted(peer)
        if len(self.connections) > limits.connections or (counted and limits.peers[peer] >= limits.for_peer):
            limits.refused += 1
            if limits.refused & (limits.refused - 1) == 0:
                # the first, the second, the fourth …: a flood is told, and does not flood the log
                log.warning("connections.refused", so_far=limits.refused, peer=peer, open=len(self.connections))
            self._refuse(503, "too many connections", b"retry-after: 5\r\n")
            return
        if counted:
            self._peer = peer
            limits.peers[peer] += 1
        self._expect_by(limits.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        if self._peer is not None:
            self.limits.peers[self._peer] -= 1
            if not self.limits.peers[self._peer]:
                del self.limits.peers[self._peer]
            self._peer = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        in_body, heads = self._in_body, self._heads
        self._beside += len(data)
        super().data_received(data)
        if not in_body and self._heads == heads:
            self._head += len(data)
        if self.transport.is_closing():
            return
        if self._head > self.limits.head_bytes:
            self._refuse(431, f"the head of the request is longer than {self.limits.head_bytes} bytes")
        elif self._in_body and self._beside > self.limits.head_bytes:
            # extensions and trailers of a chunked body have no end of their own, and are kept by the parser
            self._refuse(431, f"beside its body the request has more than {self.limits.head_bytes} bytes")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head, self._in_body = 0, False
        self._expect_by(self.limits.head_seconds)

    def on_header(self, name: bytes, value: bytes) -> None:
        # what stands behind a body is no header (RFC 9110, 6.5.1): a proxy that takes headers away does not see it
        if not self._in_body:
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        self._beside = 0
        super().on_body(body)

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._in_body = True
        # its last piece may hold a body as well, so the head that is whole counts by what was read of it
        self._heads += 1
        self._beside = 0
        self._head = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        self._expect_by(self.limits.body_seconds)

    def on_response_complete(self) -> None:
        limits = self.limits
        crowded = len(self.connections) * 2 > limits.connections
        self.timeout_keep_alive = limits.crowded_idle_seconds if crowded else limits.idle_seconds
        super().on_response_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._in_body = False
        self._expect_nothing()

    def _expect_by(self, seconds: float) -> None:
        self._expect_nothing()
        self._deadline = self.loop.call_later(seconds, self._too_late)

    def _expect_nothing(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_late(self) -> None:
        self._deadline = None
        if self.transport.is_closing():
            return
        if self._in_body and self.cycle.response_started:
            self.transport.close()
            return
        part = "body" if self._in_body else "head"
        seconds = self.limits.body_seconds if self._in_body else self.limits.head_seconds
        self._refuse(408, f"the {part} of the request did not arrive within {seconds:g} s")

    def _refuse(self, status: int, why: str, more: bytes = b"") -> None:
        said = why.encode()
        self.transport.write(
            b"HTTP/1.1 %d Refused\r\ncontent-type: text/plain\r\nconnection: close\r\n%scontent-length: %d\r\n\r\n%s"
            % (status, more, len(said), said)
        )
        self.transport.close()

"""What passes the gateways, in figures for Prometheus."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.types import Message, Send

NONE: Final = "none"


@dataclass
class Watched:
    """One request while it is served. `provider` is its account's, once that is known; `asked` the bytes of its body;
    `refused` says that the answer is ours. Answers go out by `send`.
    """

    onward: Send
    provider: str = NONE
    asked: int = 0
    refused: bool = False
    answered: int = 0
    status: str = NONE

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = str(message["status"])
        else:
            self.answered += len(message.get("body", b""))
        await self.onward(message)


class GatewayFigures:
    """Of both gateways of a process: `gateway` is models or git. A git gateway's provider is github."""

    def __init__(self, registry: CollectorRegistry) -> None:
        about = ["gateway", "provider"]
        self._requests = Counter(
            "greenloop_gateway_requests",
            "Requests of boxes by the HTTP status of their answer; none: the box left before there was one.",
            [*about, "status"],
            registry=registry,
        )
        self._refusals = Counter(
            "greenloop_gateway_refusals",
            "Those of them that Greenloop answered in place of the provider.",
            [*about, "status"],
            registry=registry,
        )
        self._bytes = Counter(
            "greenloop_gateway_bytes",
            "Bytes of bodies, asked and answered.",
            [*about, "direction"],
            registry=registry,
        )
        self._seconds = Histogram(
            "greenloop_gateway_seconds",
            "Time of a request up to the last byte of its answer.",
            about,
            buckets=(0.05, 0.25, 1, 4, 15, 60, 240, 900),
            registry=registry,
        )

    @contextlib.contextmanager
    def watching(self, gateway: str, send: Send) -> Iterator[Watched]:
        """Count one request, whatever becomes of it."""
        watched, began = Watched(send), time.perf_counter()
        try:
            yield watched
        finally:
            about = (gateway, watched.provider)
            self._requests.labels(*about, watched.status).inc()
            if watched.refused:
                self._refusals.labels(*about, watched.status).inc()
            self._bytes.labels(*about, "asked").inc(watched.asked)
            self._bytes.labels(*about, "answered").inc(watched.answered)
            self._seconds.labels(*about).observe(time.perf_counter() - began)

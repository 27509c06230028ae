"""What an operator's machinery asks of a process, on a port of its own: /healthz, /readyz, /metrics."""

import time
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from app.web import outage
from app.web.health import readiness
from app.web.metrics import CONTENT_TYPE, Figures, WorkerMetrics
from app.web.state import AppState
from loops.context import Loop
from loops.store.database import Database

STALE_SECONDS = 300.0
"""A worker of which a part ended no round for this long hangs: a round takes milliseconds, or fails within a minute."""
WATCHED = ("inbox", "requests", "sessions", "looks", "left")
"""The parts (`loops.engine.parts`) that have short rounds."""


class Pulse:
    """What a worker tells of itself. `loop` is there once it has been opened."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.loop: Loop | None = None
        self.metrics = WorkerMetrics()
        self._clock = clock
        self._ended = dict.fromkeys(WATCHED, clock())

    def beat(self, part: str, outcome: str) -> None:
        """A round of a part has ended; that it failed is no sign of hanging."""
        self.metrics.rounds.labels(part, outcome).inc()
        if part in self._ended:
            self._ended[part] = self._clock()

    def waits(self) -> None:
        """Nothing can begin yet: no part hangs."""
        self._ended = dict.fromkeys(WATCHED, self._clock())

    @property
    def still(self) -> tuple[str, float]:
        """The part that ended no round for longest, or since the start, and for how many seconds."""
        part = min(self._ended, key=self._ended.__getitem__)
        return part, self._clock() - self._ended[part]


def worker_app(pulse: Pulse) -> Starlette:
    """The application of a worker's port."""

    async def healthz(request: Request) -> Response:
        part, seconds = pulse.still
        hangs = seconds > STALE_SECONDS
        said = f"no round of {part} has ended for {seconds:.0f} s" if hangs else "ok"
        return JSONResponse({"status": said}, 503 if hangs else 200)

    async def readyz(request: Request) -> Response:
        if pulse.loop is None:
            return JSONResponse({"status": "starting"}, 503)
        return await readiness(pulse.loop.database, pulse.loop.bus)

    async def metrics(request: Request) -> Response:
        if pulse.loop is None:
            return JSONResponse({"status": "starting"}, 503)
        return await _text(pulse.metrics, pulse.loop.database)

    return Starlette(
        routes=[Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)],
        exception_handlers=outage.handlers(),
    )


def web_app(shared: AppState) -> Starlette:
    """The application of a web process's second port."""

    async def metrics(request: Request) -> Response:
        return await _text(shared.metrics, shared.database)

    return Starlette(routes=[Route("/metrics", metrics)], exception_handlers=outage.handlers())


async def _text(figures: Figures, database: Database) -> Response:
    return Response(await figures.text(database, time.time()), media_type=CONTENT_TYPE)

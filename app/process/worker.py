"""The worker: runs what is due in the database, and survives the loss of Redis and of the database."""

import asyncio
import contextlib
import os
import signal
import socket
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any

import redis.asyncio as redis
import structlog
from sqlalchemy.exc import DBAPIError

from app.process.identity import PASSING
from app.process.wiring import open_loop
from app.settings import Settings
from app.web.ops import Pulse, worker_app
from app.web.side_server import SideServer
from github.client.errors import Unreachable
from loops.boxes.reaper import reap
from loops.boxes.troubles import follow_troubles
from loops.context import Loop
from loops.deliveries.missed_deliveries import redeliver_missed
from loops.engine.parts import parts
from loops.notifications.send import ROUND_SECONDS, send_due
from loops.store import schema
from loops.store.background import end
from loops.store.bus import WORK
from loops.store.database import Database
from loops.store.retention import forget_old

log = structlog.get_logger(__name__)

REAPER_SECONDS = 60.0
RETENTION_SECONDS = 60.0
BACK_OFF = 1.0
DRAIN_SECONDS = 20.0
GITHUB_PAUSE = 5.0
"""Seconds between two questions who we are, while GitHub does not answer and nobody was ever told."""


def worker_name() -> str:
    """A name that no other worker has, now or after a restart."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


async def run(
    settings: Settings, redis_url: str, *, stop: asyncio.Event | None = None, ops: socket.socket | None = None
) -> None:
    """Work until `stop` is set or SIGTERM or SIGINT arrives; then finish the steps under way.

    `ops`: the listening socket of /healthz, /readyz and /metrics.
    """
    stop = stop or on_signals()
    pulse = Pulse()
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(_observed(pulse, ops))
        await _schema_there(settings, stop, pulse)
        if stop.is_set():
            return
        loop = await _opened(stack, settings, redis_url, stop, pulse)
        if loop is None:
            return
        pulse.loop = loop
        log.info("worker.start", worker=loop.leases.worker)
        works = parts(loop, lambda: stack.enter_context(loop.bus.listening(WORK)), settings.worker_jobs)
        rounds: dict[str, tuple[float, Callable[[], Awaitable[object]]]] = {
            **{name: (0.0, part.round) for name, part in works.items()},
            "bell": (0.0, lambda: _until(stop, loop.bus.answer())),
            "upkeep": (REAPER_SECONDS, lambda: reap(loop)),
            "boxes": (BACK_OFF, lambda: _until(stop, follow_troubles(loop))),
            "deliveries": (settings.missed_seconds, lambda: redeliver_missed(loop)),
            "notifications": (ROUND_SECONDS, lambda: send_due(loop.database, loop.options, clock=loop.clock)),
            "retention": (RETENTION_SECONDS, lambda: forget_old(loop.database, loop.options, clock=loop.clock)),
        }
        tasks = [asyncio.create_task(_again(stop, pulse, name, *round_)) for name, round_ in rounds.items()]
        await stop.wait()
        log.info("worker.stop", worker=loop.leases.worker)
        for part in works.values():
            part.rung.set()
        await asyncio.gather(*tasks)
        await asyncio.gather(*(part.drain(DRAIN_SECONDS) for part in works.values()))
        pulse.loop = None


async def _opened(
    stack: contextlib.AsyncExitStack, settings: Settings, redis_url: str, stop: asyncio.Event, pulse: Pulse
) -> Loop | None:
    """The loop's surroundings, as soon as GitHub has said once who we are; None where `stop` is set before. Each reason
    for waiting is told once, and meanwhile webhooks are stored by whoever receives them."""
    told = ""
    while not stop.is_set():
        try:
            opening = open_loop(settings, redis_url, worker_name(), on_box_lost=pulse.metrics.count_lost_box)
            return await stack.enter_async_context(opening)
        except PASSING as error:
            if type(error).__name__ != told:
                told = type(error).__name__
                log.warning("worker.waits", why=f"GitHub does not say who we are: {error}")
        pulse.waits()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), GITHUB_PAUSE)
    return None


async def _schema_there(settings: Settings, stop: asyncio.Event, pulse: Pulse) -> None:
    """Wait for a database with the tables of this version, which another process migrates; each reason is told once."""
    told: set[str] = set()

    def tell(why: str) -> None:
        pulse.waits()
        if why not in told:
            told.add(why)
            log.warning("worker.waits", why=why)

    database = Database(settings.database)
    try:
        await schema.wait(database, stop, tell)
    finally:
        await database.close()


@contextlib.asynccontextmanager
async def _observed(pulse: Pulse, ops: socket.socket | None) -> AsyncIterator[None]:
    """Serve what the worker tells of itself, from before its start to after its end."""
    if ops is None:
        yield
        return
    server = SideServer(worker_app(pulse))
    serving = asyncio.create_task(server.serve([ops]))
    try:
        yield
    finally:
        server.should_exit = True
        await serving


def on_signals() -> asyncio.Event:
    """An event that SIGTERM and SIGINT set."""
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    return stop


async def _again(
    stop: asyncio.Event, pulse: Pulse, name: str, pause: float, work: Callable[[], Awaitable[object]]
) -> None:
    """Run `work` again and again, whatever it raises, until `stop`. An outage is told when it begins."""
    outcome = "ok"
    while not stop.is_set():
        before, outcome = outcome, "ok"
        try:
            await work()
        except (redis.RedisError, Unreachable, DBAPIError, OSError) as error:
            outcome = "unreachable"
            if before != outcome:
                said = f"{type(error).__name__}: {error}".splitlines()[0]
                log.warning("worker.unreachable", part=name, error=said, retry_in=max(pause, BACK_OFF))
        except Exception as error:
            outcome = "failed"
            log.error("worker.failed", part=name, exc_info=error)
        pulse.beat(name, outcome)
        seconds = pause if outcome == "ok" else max(pause, BACK_OFF)
        if seconds:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await stop.wait()


async def _until(stop: asyncio.Event, endless: Coroutine[Any, Any, None]) -> None:
    """Run what does not end by itself until `stop`; raises what it raises."""
    running = asyncio.create_task(endless)
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
    finally:
        stopping.cancel()
        await end(running)

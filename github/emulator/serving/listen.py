"""Two listening origins in one thread with one loop."""

import asyncio
import concurrent.futures
import socket
import threading
from collections.abc import Callable, Sequence
from email.utils import format_datetime
from typing import TypeVar

import uvicorn
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from github.emulator import blobs
from github.emulator.clock import Clock
from github.emulator.hub import Hub
from github.emulator.serving import server

T = TypeVar("T")
START_SECONDS = 20.0


def bound(host: str, port: int) -> socket.socket:
    """A listening socket whose connections inherit that Nagle's algorithm is off.

    asyncio turns it off only for sockets that name their protocol, which these do not; it costs 40 ms an answer.
    """
    made = socket.create_server((host, port))
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


class Dated:
    """An application whose answers carry the `Date` of the local GitHub's own clock."""

    def __init__(self, app: ASGIApp, clock: Clock) -> None:
        self._app, self._clock = app, clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def dated(message: Message) -> None:
            if message["type"] == "http.response.start":
                date = format_datetime(self._clock.now(), usegmt=True).encode()
                message["headers"] = [*message.get("headers", []), (b"date", date)]
            await send(message)

        await self._app(scope, receive, dated)


class Listener:
    """Starts and stops the thread. Raises OSError when a port is taken."""

    def __init__(self, hub: Hub, control: Sequence[Route], host: str, port: int, logs_port: int) -> None:
        self._hub, self._control = hub, control
        self._sockets = [bound(host, each) for each in (port, logs_port)]
        web, blobs = (f"http://{host}:{one.getsockname()[1]}" for one in self._sockets)
        hub.listen_at(web, blobs)
        self._ready: concurrent.futures.Future[asyncio.AbstractEventLoop] = concurrent.futures.Future()
        self._servers: list[uvicorn.Server] = []
        self._thread = threading.Thread(target=self._main, name="local-github", daemon=True)

    def start(self) -> None:
        """Serve; returns when both origins answer."""
        self._thread.start()
        self._loop = self._ready.result(START_SECONDS)

    def stop(self) -> None:
        """Stop serving and wait for the thread."""
        for one in self._servers:
            self._loop.call_soon_threadsafe(setattr, one, "should_exit", True)
        self._thread.join(START_SECONDS)

    def here(self) -> bool:
        return threading.current_thread() is self._thread

    def call(self, act: Callable[[], T]) -> T:
        """Run `act` on the loop and give back what it gives."""

        async def run() -> T:
            return act()

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(60)

    def _main(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_exception(error)
            raise

    async def _serve(self) -> None:
        for app in (server.application(self._hub, self._control), blobs.application(self._hub)):
            config = uvicorn.Config(
                Dated(app, self._hub.clock),
                log_config=None,
                access_log=False,
                lifespan="off",
                loop="asyncio",
                timeout_graceful_shutdown=1,
                # longer than clients keep a connection: none of them writes on one that is being closed
                timeout_keep_alive=60,
                server_header=False,
                date_header=False,
            )
            self._servers.append(uvicorn.Server(config))
        await self._hub.hooks.start()
        await self._hub.ci.start()
        tasks = [
            asyncio.create_task(one.serve([listening]))
            for one, listening in zip(self._servers, self._sockets, strict=True)
        ]
        while not all(one.started for one in self._servers):
            await asyncio.sleep(0.005)
        self._ready.set_result(asyncio.get_running_loop())
        await asyncio.gather(*tasks)
        await self._hub.hooks.stop()  # of what ends with the builds nobody is told any more
        await self._hub.ci.stop()

"""Waking somebody in another process at once. Only a hint: whoever waits looks at the database again in any case."""

import asyncio
import contextlib
from collections.abc import Iterator

import redis.asyncio as redis
import structlog

from loops.store.background import end

log = structlog.get_logger(__name__)

CHANNEL = "greenloop:wake"
BACK_OFF = 1.0


class Bus:
    """Topics are short strings (`box:NAME`, `session:ID`, `inbox`). A message that Redis lost costs only time."""

    def __init__(self, url: str) -> None:
        self._redis = redis.Redis.from_url(url, socket_timeout=5, socket_connect_timeout=5)
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = asyncio.create_task(self._listen(), name="bus")

    async def close(self) -> None:
        if self._task:
            await end(self._task)
        await self._redis.aclose()

    async def notify(self, topic: str) -> None:
        """Wake everybody who waits for `topic`, here and elsewhere. Never raises for a dead Redis."""
        self._wake(topic)
        with contextlib.suppress(redis.RedisError, OSError):
            await self._redis.publish(CHANNEL, topic)

    @contextlib.contextmanager
    def listening(self, topic: str) -> Iterator[asyncio.Event]:
        """An event set when `topic` is notified. Take it before looking at the database, or a wake is missed."""
        event = asyncio.Event()
        self._waiting.setdefault(topic, set()).add(event)
        try:
            yield event
        finally:
            events = self._waiting[topic]
            events.discard(event)
            if not events:
                del self._waiting[topic]

    def _wake(self, topic: str) -> None:
        for event in self._waiting.get(topic, ()):
            event.set()

    async def _listen(self) -> None:
        lost = False
        while True:
            try:
                async with self._redis.pubsub() as pubsub:
                    await pubsub.subscribe(CHANNEL)
                    if lost:
                        log.info("bus.found")
                    lost = False
                    while True:
                        message = await pubsub.get_message(ignore_subscribe_messages=True, timeout=2)
                        if message is not None:
                            self._wake(message["data"].decode())
            except (redis.RedisError, OSError) as error:
                if not lost:
                    log.warning("bus.lost", error=str(error), retry_in=BACK_OFF)
                lost = True
                await asyncio.sleep(BACK_OFF)


async def wait(event: asyncio.Event, timeout: float) -> bool:
    """Wait for `event` up to `timeout` seconds; whether it came. Clears it, so that the next wait is a new one."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout):
            await event.wait()
    came = event.is_set()
    event.clear()
    return came

"""Waking somebody in another process at once. Only a hint: whoever waits looks at the database again in any case.

Workers are woken by arq: one job that carries nothing is queued, however many ask for it, and one of them answers it.
All other topics are published to everybody.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

import msgspec
import redis.asyncio as redis
import structlog
from arq.connections import ArqRedis
from arq.worker import Worker, func
from redis.asyncio.client import PubSub

from loops.store.background import end

log = structlog.get_logger(__name__)

CHANNEL = "greenloop:wake"
BACK_OFF = 1.0
"""Between two tries to reach Redis; nobody waits for them."""
LAST_SECONDS = 1.0
"""For what is still to be published at the end."""
ANSWER_SECONDS = 2.0
"""For an answer that nobody waits for."""
SILENCE_SECONDS = 1.0
"""After which Redis is asked whether it is there, and which it then has to answer."""
ALONE_SECONDS = 1.0
"""Between two looks at the database by whoever waits, while nothing is heard."""
WORK = "work"
"""The topic of workers: there is something due in the database."""
QUEUE = "greenloop:work"
POLL_SECONDS = 0.02
"""Between two looks of arq at its queue: what a person's request waits for a worker."""
EXPIRES = 60
"""Seconds after which a job that nobody answered is queued anew: Redis may have lost half of it."""

encode = msgspec.msgpack.encode
decode = msgspec.msgpack.decode


class Bus:
    """Topics are short strings without a newline (`box:NAME`, `session:ID`). A message that Redis lost costs only time.

    Nobody waits for Redis: what is told while a message is on its way goes out with the next one, each topic once.
    """

    def __init__(self, url: str) -> None:
        pool: Any = redis.ConnectionPool.from_url(
            url, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS
        )
        # pickle, arq's default, would run code for whoever can write to Redis
        self._redis = ArqRedis(pool, job_serializer=encode, job_deserializer=decode, default_queue_name=QUEUE)
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._unsent: dict[str, None] = {}
        self._told = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._hears = False

    async def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._listen(), name="bus.listen"),
            asyncio.create_task(self._publish(), name="bus.publish"),
        ]

    async def close(self) -> None:
        """Publish what was told last, and end. Does not wait for a dead Redis."""
        for task in self._tasks:
            await end(task)
        with contextlib.suppress(redis.RedisError, OSError, TimeoutError):
            async with asyncio.timeout(LAST_SECONDS):
                await self._send()
        await self._redis.aclose(close_connection_pool=True)

    async def answer(self) -> None:
        """Hear what other processes tell workers, until cancelled. Raises redis.RedisError and OSError at an outage."""
        worker = Worker(
            [func(_answered, name=WORK)],
            redis_pool=self._redis,
            queue_name=QUEUE,
            job_serializer=encode,
            job_deserializer=decode,
            # by then the next job can be queued: what is told from here on rings anew, what was told before is seen
            after_job_end=self._ring,
            poll_delay=POLL_SECONDS,
            job_timeout=1,
            max_jobs=1,
            max_tries=1000,  # of processes that were killed meanwhile: no reason to tell of an error
            keep_result=0,
            handle_signals=False,
        )
        try:
            await worker.async_run()
        finally:
            await asyncio.gather(*worker.tasks.values(), return_exceptions=True)

    def notify(self, topic: str) -> None:
        """Wake everybody who waits for `topic`, here at once and elsewhere as soon as Redis tells them."""
        self._wake(topic)
        self._unsent[topic] = None
        self._told.set()

    async def ping(self) -> bool:
        """Whether Redis answers."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return bool(await self._redis.ping())
        except (redis.RedisError, OSError):
            return False

    def pause(self, usual: float) -> float:
        """Seconds between two looks at the database by whoever waits for a topic: `usual`, and less while nothing that
        others tell is heard."""
        return usual if self._hears else min(usual, ALONE_SECONDS)

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

    async def _publish(self) -> None:
        while True:
            await self._told.wait()
            self._told.clear()
            try:
                await self._send()
            except (redis.RedisError, OSError):
                await asyncio.sleep(BACK_OFF)  # who listens tells of the outage

    async def _send(self) -> None:
        topics, self._unsent = self._unsent, {}
        try:
            if WORK in topics:
                await self._redis.enqueue_job(WORK, _job_id=WORK, _expires=EXPIRES)
            if others := [topic for topic in topics if topic != WORK]:
                await self._redis.publish(CHANNEL, "\n".join(others))
        except asyncio.CancelledError:
            self._unsent = topics | self._unsent  # for `close`
            raise

    async def _ring(self, ctx: dict[Any, Any]) -> None:
        self._wake(WORK)

    async def _listen(self) -> None:
        lost = False
        while True:
            try:
                async with self._redis.pubsub() as pubsub:
                    await pubsub.subscribe(CHANNEL)
                    async for message in _messages(pubsub):
                        self._hears = True
                        if lost:
                            log.info("bus.found")
                        lost = False
                        for topic in message["data"].decode().split("\n") if message["type"] == "message" else ():
                            self._wake(topic)
            except (redis.RedisError, OSError) as error:
                if not lost:
                    log.warning("bus.lost", error=str(error), retry_in=BACK_OFF)
                self._hears, lost = False, True
                await asyncio.sleep(BACK_OFF)


async def _messages(pubsub: PubSub) -> AsyncIterator[dict[str, Any]]:
    """What comes. Raises redis.TimeoutError where not even a ping is answered: a connection may be open on our side
    alone, and a server may hang."""
    asked = False
    while True:
        message = await pubsub.get_message(timeout=SILENCE_SECONDS)
        if message is not None:
            asked = False
            yield message
        elif asked:
            raise redis.TimeoutError(f"Redis did not answer a ping in {SILENCE_SECONDS:.0f} s")
        else:
            await pubsub.ping()
            asked = True


async def _answered(ctx: dict[Any, Any]) -> None:
    """The job of WORK."""


async def wait(event: asyncio.Event, timeout: float) -> bool:
    """Wait for `event` up to `timeout` seconds; whether it came. Clears it, so that the next wait is a new one."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout):
            await event.wait()
    came = event.is_set()
    event.clear()
    return came

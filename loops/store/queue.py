"""Triggers over arq. A trigger that Redis lost is sent again by the sweep; one that comes twice does no harm."""

import time
from datetime import UTC, datetime
from typing import Any

import msgspec
import redis.asyncio as redis
import structlog
from arq.connections import ArqRedis

log = structlog.get_logger(__name__)

QUEUE = "greenloop:queue"
LEAD = 900
"""Seconds before now that triggers are due: arq runs those first that have been due longest."""

encode = msgspec.msgpack.encode
decode = msgspec.msgpack.decode


class Queue:
    """Sends triggers. `job` names the occasion: while a trigger of that name is queued or runs, another is not sent."""

    def __init__(self, url: str) -> None:
        self._arq = connect(url)

    async def send(self, task: str, key: int | str, job: str, *, place: int = 0) -> bool:
        """Ask a worker to run `task(key)`. False, with a log line, when Redis cannot be reached: the sweep will.

        Those of a lower `place` run first, unless the others have waited a second longer for each place between them.
        """
        due = datetime.fromtimestamp(time.time() - LEAD + min(place, LEAD), UTC)
        try:
            await self._arq.enqueue_job(task, key, _job_id=job, _defer_until=due)
        except (redis.RedisError, OSError) as error:
            log.warning("queue.unreachable", task=task, key=key, error=str(error))
            return False
        return True

    async def ping(self) -> bool:
        try:
            return bool(await self._arq.ping())
        except (redis.RedisError, OSError):
            return False

    async def close(self) -> None:
        await self._arq.aclose(close_connection_pool=True)


def connect(url: str) -> ArqRedis:
    """arq's client for a redis:// or unix:// URL; it connects when it is first used."""
    pool: Any = redis.ConnectionPool.from_url(url, socket_timeout=5, socket_connect_timeout=5)
    # pickle, arq's default, would run code for whoever can write to Redis
    return ArqRedis(pool, job_serializer=encode, job_deserializer=decode, default_queue_name=QUEUE)

"""Limits of GitHub's that all processes keep together: limits met are in SQL, the turn to write is passed by Redis.

A wiped Redis forgets who writes and how much was written; the next write starts anew. Where Redis or the database
cannot be reached, each process keeps the limits that it met itself; a Redis that hangs is one that cannot be reached.
"""

import asyncio
import contextlib
import random
import secrets
import time
from collections.abc import AsyncIterator, Callable

import redis.asyncio as redis
import structlog
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from github.client.errors import RateLimited
from github.client.http.content_limit import WINDOWS
from github.client.http.rate_limit import BURST, PER_SECOND
from loops.store.database import Database
from loops.store.prompt_redis import PromptRedis, Script
from loops.store.service_tables import Limit

log = structlog.get_logger(__name__)

HELD_SECONDS = 30.0  # after which a writer that died is not waited for any more
LONGEST_WAIT = 60.0  # for the turn; a write that waited this long goes without
TAKEN = -1
MESSAGE = 500

# Take the turn if nobody has it and the budget allows: 0, or TAKEN, or the milliseconds until a write is earned.
_TAKE = """
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return -1 end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local kept = redis.call('HMGET', KEYS[2], 'budget', 'at')
local most, rate = tonumber(ARGV[3]), tonumber(ARGV[4])
local budget = tonumber(kept[1]) or most
budget = math.min(most, budget + math.max(0, now - (tonumber(kept[2]) or now)) * rate / 1000)
local wait = 0
if budget < 1 then wait = math.ceil((1 - budget) * 1000 / rate) redis.call('DEL', KEYS[1]) else budget = budget - 1 end
redis.call('HSET', KEYS[2], 'budget', tostring(budget), 'at', now)
redis.call('PEXPIRE', KEYS[2], 600000)
return wait
"""
# Count one more creation of content if it fits into all windows: 0, or the milliseconds until it does.
_CREATE = """
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
for i = 2, #ARGV, 2 do
  local span, most = tonumber(ARGV[i]), tonumber(ARGV[i + 1])
  local since = '(' .. string.format('%.0f', now - span)
  local over = redis.call('ZCOUNT', KEYS[1], since, '+inf') - most
  if over >= 0 then
    local next = redis.call('ZRANGEBYSCORE', KEYS[1], since, '+inf', 'WITHSCORES', 'LIMIT', over, 1)
    return math.ceil(tonumber(next[2]) + span - now)
  end
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[#ARGV - 1]))
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[#ARGV - 1]))
return 0
"""
_GIVE_BACK = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end"


class SharedRateLimits:
    """The `github.client.http.rate_limit.Shared` of one process."""

    def __init__(self, database: Database, redis_url: str, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._redis = PromptRedis(redis_url)
        self._clock = clock
        self._alone = False

    async def close(self) -> None:
        await self._redis.close()

    async def limit(self, installation_id: int) -> RateLimited | None:
        """The limit that some process met and that is not over."""
        try:
            async with self._database.read() as tx:
                row = await tx.get(Limit, installation_id)
        except (SQLAlchemyError, OSError) as error:
            log.warning("rate_limits.unread", error=str(error))
            return None
        if row is None or row.retry_at <= self._clock():
            return None
        return RateLimited(row.message, retry_at=row.retry_at, secondary=row.secondary)

    async def limited(self, installation_id: int, limit: RateLimited) -> None:
        """Keep the limit, unless a longer one is kept."""
        insert = sqlite.insert if self._database.sqlite else postgresql.insert
        values = {"retry_at": limit.retry_at, "secondary": limit.secondary, "message": limit.message[:MESSAGE]}
        statement = insert(Limit).values(installation_id=installation_id, **values)
        later = statement.excluded.retry_at > Limit.retry_at
        try:
            async with self._database.write() as tx:
                await tx.execute(
                    statement.on_conflict_do_update(index_elements=["installation_id"], set_=values, where=later)
                )
        except (SQLAlchemyError, OSError) as error:
            log.warning("rate_limits.unkept", error=str(error))

    @contextlib.asynccontextmanager
    async def turn(self, installation_id: int) -> AsyncIterator[None]:
        """The turn to write; without Redis, or after `LONGEST_WAIT`, it is taken without asking the others."""
        name, token = f"greenloop:write:{installation_id}", secrets.token_hex(8)
        give_back = Script(_GIVE_BACK, [name], [token])
        try:
            await self._take(name, token, give_back)
        except (redis.RedisError, OSError) as error:
            self._tell(error)
        try:
            yield
        finally:
            with contextlib.suppress(redis.RedisError, OSError):
                await self._run(give_back, undo=give_back)

    async def creation(self, installation_id: int, share: float) -> float | None:
        """The seconds until all processes together may create content once more; None without Redis."""
        windows = [part for seconds, most in WINDOWS for part in (int(seconds * 1000), int(most * share))]
        try:
            found = await self._run(
                Script(_CREATE, [f"greenloop:created:{installation_id}"], [secrets.token_hex(8), *windows])
            )
        except (redis.RedisError, OSError) as error:
            self._tell(error)
            return None
        return found / 1000

    async def _take(self, name: str, token: str, give_back: Script) -> None:
        take = Script(_TAKE, [name, f"{name}:budget"], [token, int(HELD_SECONDS * 1000), BURST, PER_SECOND])
        deadline = time.monotonic() + LONGEST_WAIT
        while time.monotonic() < deadline:
            waits = await self._run(take, undo=give_back)
            if waits == 0:
                return
            await asyncio.sleep(random.uniform(0.01, 0.04) if waits == TAKEN else waits / 1000)  # noqa: S311

    async def _run(self, script: Script, undo: Script | None = None) -> int:
        found = await self._redis.run(script, undo=undo)
        self._alone = False
        return found

    def _tell(self, error: Exception) -> None:
        """Once in an outage."""
        if not self._alone:
            log.warning("rate_limits.alone", error=str(error))
        self._alone = True

"""Redis for whoever cannot wait: a moment to answer, and none while it is known to be away (a circuit breaker)."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import redis.asyncio as redis

from loops.store.background import end

ANSWER_SECONDS = 0.5
"""A Redis that works answers within milliseconds, also beside others in another zone."""
AGAIN_SECONDS = 1.0
"""Between two looks whether it is back, on nobody's way."""
UNDONE = 100


class Away(redis.RedisError):
    """It did not answer a moment ago, so it was not asked."""


@dataclass(frozen=True)
class Script:
    """A Lua script with what it is called with; it answers a whole number or nothing."""

    text: str
    keys: Sequence[str]
    arguments: Sequence[Any] = ()


class PromptRedis:
    """Runs scripts at the Redis of `url`. Where it hangs, who asks first waits `ANSWER_SECONDS`, and nobody after."""

    def __init__(self, url: str) -> None:
        self._redis = redis.Redis.from_url(url, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS)
        self._looking: asyncio.Task[None] | None = None
        self._undo: deque[Script] = deque(maxlen=UNDONE)

    async def close(self) -> None:
        if self._looking is not None:
            await end(self._looking)
        await self._redis.aclose()

    async def run(self, script: Script, *, undo: Script | None = None) -> int:
        """What `script` answers. `undo` is run once Redis is back, where nobody knows whether `script` was.

        Raises Away, redis.RedisError and OSError, within `ANSWER_SECONDS`.
        """
        if self._looking is not None:
            raise Away("Redis did not answer a moment ago")
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await self._eval(script)
        except (redis.RedisError, OSError):
            if undo is not None:
                self._undo.append(undo)
            self._look_for_it()
            raise

    async def _eval(self, script: Script) -> int:
        asked = self._redis.eval(script.text, len(script.keys), *script.keys, *script.arguments)
        return int(await cast(Awaitable[Any], asked) or 0)

    def _look_for_it(self) -> None:
        if self._looking is None:  # of several who ask at once, the first
            self._looking = asyncio.create_task(self._until_back(), name="redis.until_back")

    async def _until_back(self) -> None:
        while not await self._is_back():
            await asyncio.sleep(AGAIN_SECONDS)
        self._looking = None

    async def _is_back(self) -> bool:
        with contextlib.suppress(redis.RedisError, OSError):
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._redis.ping()
                while self._undo:
                    await self._eval(self._undo[0])
                    self._undo.popleft()
                return True
        return False

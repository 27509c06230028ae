"""The steps that one part of a worker has under way: so many at a time, and of one installation never all of them."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Hashable
from typing import Any

import structlog
from sqlalchemy.exc import DBAPIError

from loops.store.claims import Tenant

log = structlog.get_logger(__name__)

STEP_SECONDS = 300.0
"""After which a step is cut off; what it was about is due again."""


class Places:
    """Of `count` places one installation has three quarters at most, since a step may last minutes.

    `freed` is called whenever a place becomes free.
    """

    def __init__(self, count: int, freed: Callable[[], None]) -> None:
        self._count = count
        self._each = max(1, count - count // 4)
        self._freed = freed
        self._taken: Counter[Tenant] = Counter()
        self._steps: dict[asyncio.Task[None], Hashable] = {}

    @property
    def free(self) -> int:
        """How many places are free."""
        return self._count - len(self._steps)

    def room(self, tenant: Tenant) -> int:
        """How many of the free places the installation may have."""
        return max(0, min(self.free, self._each - self._taken[tenant]))

    def has(self, key: Hashable) -> bool:
        """Whether a step for `key` is under way."""
        return key in self._steps.values()

    def begin(self, key: Hashable, tenant: Tenant, step: Coroutine[Any, Any, None]) -> None:
        """Run `step` in a place. What it raises is told; its row is taken up again once its lease has run out."""
        task = asyncio.create_task(_bounded(key, step))
        self._steps[task] = key
        self._taken[tenant] += 1

        def ended(_: "asyncio.Task[None]") -> None:
            del self._steps[task]
            self._taken[tenant] -= 1
            if not self._taken[tenant]:
                del self._taken[tenant]
            self._freed()

        task.add_done_callback(ended)

    async def drain(self, seconds: float) -> None:
        """Let what is under way end; what takes longer is cut off, and done again by whoever finds it."""
        steps = list(self._steps)
        if not steps:
            return
        _, late = await asyncio.wait(steps, timeout=seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*steps, return_exceptions=True)


async def _bounded(key: Hashable, step: Coroutine[Any, Any, None]) -> None:
    try:
        async with asyncio.timeout(STEP_SECONDS):
            await step
    except TimeoutError:
        log.warning("step.cut_off", key=key, seconds=STEP_SECONDS)
    except (DBAPIError, OSError) as error:
        log.warning("step.unreachable", key=key, error=f"{type(error).__name__}: {error}".splitlines()[0])
    except Exception as error:
        log.error("step.failed", key=key, exc_info=error)

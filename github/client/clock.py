"""The time, as one thing that tests can replace."""

import asyncio
import time


class Clock:
    """Wall clock and sleep. A test's clock overrides both, so that nothing really waits."""

    def now(self) -> float:
        """Unix time in seconds."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds`."""
        await asyncio.sleep(seconds)

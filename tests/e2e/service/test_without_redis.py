"""Redis is away, or hangs, from before the mention to after its end."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from structlog.testing import capture_logs

from tests.e2e.house import House, house
from tests.hanging import paused

RIGHT = "pathlib.Path('value.txt').write_text('right')"


@pytest.mark.parametrize("how", ["away", "hangs"])
async def test_without_redis_a_mention_becomes_green_in_few_lines_and_readyz_says_so(tmp_path: Path, how: str) -> None:
    async with house(tmp_path) as home, without_redis(home, how):
        home.agent(RIGHT)
        with capture_logs() as told:
            await home.comment(await home.issue(), "@greenloop fix it")
            session = await home.ended()
        assert (session.status, session.outcome) == ("completed", "green")
        async with httpx.AsyncClient(base_url=home.settings.public_url) as http:
            ready = await http.get("/readyz")
        assert ready.status_code == 200
        assert "find what is due by themselves" in ready.json()["redis"]
        outage = [each["event"] for each in told if each["event"] in ("bus.lost", "rate_limits.alone")]
        assert len(outage) <= 4, "one line for each thing that is missed, in web and worker"
        assert not [each for each in told if each["log_level"] == "error"]


@contextlib.asynccontextmanager
async def without_redis(home: House, how: str) -> AsyncIterator[None]:
    if how == "away":
        await asyncio.to_thread(home.redis.stop)
        yield
    else:
        with paused(home.redis):
            yield

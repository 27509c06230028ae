import asyncio

import pytest

from github.client.errors import RateLimited
from github.client.http.rate_limit import BURST, RateLimit
from tests.github.conftest import TestClock


async def test_writes_are_made_one_at_a_time(clock: TestClock) -> None:
    pace = RateLimit(clock)
    now_writing = most = 0

    async def write() -> None:
        nonlocal now_writing, most
        async with pace.writing():
            now_writing += 1
            most = max(most, now_writing)
            await asyncio.sleep(0)
            now_writing -= 1

    await asyncio.gather(*(write() for _ in range(20)))
    assert most == 1


async def test_after_a_burst_one_write_a_second_is_made(clock: TestClock) -> None:
    pace = RateLimit(clock)
    for _ in range(BURST):
        async with pace.writing():
            pass
    assert clock.slept == []
    for _ in range(3):
        async with pace.writing():
            pass
    assert clock.slept == pytest.approx([1.0, 1.0, 1.0])
    clock.advance(10)
    async with pace.writing():
        pass
    assert len(clock.slept) == 3


async def test_the_later_of_two_limits_holds(clock: TestClock) -> None:
    pace = RateLimit(clock)
    for wait in (50, 20):
        await pace.limited(RateLimited("slow down", retry_at=clock.now() + wait, secondary=True))
    clock.advance(30)
    with pytest.raises(RateLimited, match="slow down"):
        await pace.check()
    with pytest.raises(RateLimited):
        async with pace.writing():
            pass
    clock.advance(21)
    await pace.check()

"""Several processes that keep GitHub's limits together; each `SharedRateLimits` is one process's."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import redis.asyncio as redis
from structlog.testing import capture_logs

from app.process.valkey import EmbeddedRedis
from github.client.clock import Clock
from github.client.errors import RateLimited
from github.client.http.content_limit import WINDOWS
from github.client.http.rate_limit import RateLimit
from loops.store import prompt_redis, rate_limits
from loops.store.database import Database
from loops.store.rate_limits import SharedRateLimits
from tests.hanging import hanging_server, paused

Two = tuple[SharedRateLimits, SharedRateLimits]


@pytest.fixture
async def both(database: Database, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Two]:
    monkeypatch.setattr(prompt_redis, "ANSWER_SECONDS", 60.0)  # a loaded machine is no Redis that hangs
    client = redis.Redis.from_url(redis_url)
    await client.flushall()
    await client.aclose()
    two = SharedRateLimits(database, redis_url), SharedRateLimits(database, redis_url)
    yield two
    for each in two:
        await each.close()


async def test_a_limit_that_one_process_met_is_kept_by_all_and_only_for_its_installation(both: Two) -> None:
    limit = RateLimited("slow down", retry_at=time.time() + 60, secondary=True)
    await RateLimit(Clock(), 5, both[0]).limited(limit)
    with pytest.raises(RateLimited, match="slow down") as met:
        await RateLimit(Clock(), 5, both[1]).check()
    assert (met.value.retry_at, met.value.secondary) == (limit.retry_at, True)
    await RateLimit(Clock(), 6, both[1]).check()


async def test_the_longer_of_two_limits_is_kept_and_one_that_is_over_is_none(both: Two) -> None:
    now = time.time()
    for wait in (50, 20):
        await both[0].limited(5, RateLimited("x", retry_at=now + wait, secondary=False))
    kept = await both[1].limit(5)
    assert kept is not None and kept.retry_at == now + 50
    await both[0].limited(6, RateLimited("x", retry_at=now - 1, secondary=False))
    assert await both[1].limit(6) is None


async def test_all_processes_together_write_one_at_a_time(both: Two) -> None:
    writing = most = 0

    async def write(process: SharedRateLimits, installation: int) -> None:
        nonlocal writing, most
        async with process.turn(installation):
            writing += 1
            most = max(most, writing)
            await asyncio.sleep(0.002)
            writing -= 1

    await asyncio.gather(*(write(each, 5) for each in both * 8))
    assert most == 1
    await asyncio.gather(*(write(both[0], number) for number in range(4)))
    assert most > 1


async def test_the_burst_is_spent_by_all_processes_together(both: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        slept.append(seconds)
        await sleep(seconds)

    monkeypatch.setattr(rate_limits, "BURST", 4)
    monkeypatch.setattr(rate_limits, "PER_SECOND", 2.0)
    monkeypatch.setattr("loops.store.rate_limits.asyncio.sleep", noted)
    for each in both * 2:
        async with each.turn(5):
            pass
    assert slept == []
    async with both[0].turn(5):
        pass
    assert 0.05 < slept[0] <= 0.5


async def test_all_processes_together_create_no_more_content_than_github_allows(both: Two) -> None:
    most = WINDOWS[0][1]
    waits = [await both[number % 2].creation(5, 1.0) for number in range(most + 1)]
    assert waits[:most] == [0.0] * most
    assert 0 < (waits[most] or 0.0) <= WINDOWS[0][0]
    assert await both[0].creation(6, 1.0) == 0.0
    besides = [await both[0].creation(7, 0.5) for _ in range(most // 2 + 1)]
    assert besides[-1] and await both[1].creation(7, 1.0) == 0.0


async def test_a_writer_that_died_does_not_hold_the_others_up(both: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "HELD_SECONDS", 0.1)
    await both[0].turn(5).__aenter__()  # a process that dies now
    async with asyncio.timeout(60), both[1].turn(5):
        pass


async def test_without_redis_or_with_a_wiped_one_writes_go_on(database: Database, tmp_path: Path) -> None:
    server = EmbeddedRedis(tmp_path / "r")
    url = server.start()
    process = SharedRateLimits(database, url)
    client = redis.Redis.from_url(url)
    async with process.turn(5):
        await client.flushall()
    async with process.turn(5):
        server.stop()
    async with process.turn(5):
        pass
    await process.limited(5, RateLimited("x", retry_at=time.time() + 9, secondary=True))
    assert await process.limit(5) is not None
    await client.aclose()
    await process.close()


async def test_while_redis_hangs_one_write_asks_it_and_all_others_go_on_at_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt_redis, "ANSWER_SECONDS", 0.05)
    monkeypatch.setattr(prompt_redis, "AGAIN_SECONDS", 3600.0)
    async with hanging_server() as server:
        process = SharedRateLimits(database, server.url)
        with capture_logs() as told:
            for installation in range(5):
                assert await process.creation(installation, 1.0) is None
                async with process.turn(installation):
                    pass
        await process.close()
    assert server.connections <= 2, "one write asked, and one look whether it is back"
    assert [each["event"] for each in told] == ["rate_limits.alone"]


async def test_a_turn_that_redis_gave_while_it_hung_is_given_back_when_it_goes_on(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "HELD_SECONDS", 3600.0)
    monkeypatch.setattr(prompt_redis, "ANSWER_SECONDS", 0.3)
    server = EmbeddedRedis(tmp_path / "r")
    url = server.start()
    process, other = SharedRateLimits(database, url), redis.Redis.from_url(url)
    async with process.turn(5):
        pass
    with paused(server):
        async with process.turn(5):
            pass
    await until(lambda: process._redis._looking is None)
    assert await other.exists("greenloop:write:5") == 0
    await other.aclose()
    await process.close()
    server.stop()


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not true():
            await asyncio.sleep(0.01)


async def test_where_the_database_fails_each_process_keeps_what_it_met_itself(redis_url: str, tmp_path: Path) -> None:
    lost = Database(f"sqlite:///{tmp_path}/without-tables.db")
    process = SharedRateLimits(lost, redis_url)
    pace = RateLimit(Clock(), 5, process)
    await pace.check()
    await pace.limited(RateLimited("slow down", retry_at=time.time() + 9, secondary=True))
    with pytest.raises(RateLimited, match="slow down"):
        await pace.check()
    await process.close()
    await lost.close()

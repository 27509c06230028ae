import asyncio
import contextlib
import logging
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
import redis.asyncio as redis
from structlog.testing import capture_logs

from app.process.valkey import EmbeddedRedis
from loops.store import bus
from loops.store.background import end
from loops.store.bus import POLL_SECONDS, QUEUE, WORK, Bus
from tests.hanging import paused


async def test_an_outage_of_redis_is_told_once_and_so_is_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus, "BACK_OFF", 0.01)
    server = EmbeddedRedis(tmp_path)
    url = server.start()
    server.stop()
    tried = 0
    waker = Bus(url)
    subscribe = waker._redis.pubsub

    def counted() -> object:
        nonlocal tried
        tried += 1
        return subscribe()

    monkeypatch.setattr(waker._redis, "pubsub", counted)
    with capture_logs() as told:
        await waker.start()
        async with asyncio.timeout(30):
            while tried < 4:
                await asyncio.sleep(0.01)
            server.start()
            while told[-1]["event"] != "bus.found":
                await asyncio.sleep(0.01)
        await waker.close()
    server.stop()
    assert [each["event"] for each in told] == ["bus.lost", "bus.found"]


async def test_a_redis_that_hangs_is_told_like_one_that_is_away_and_who_waits_looks_more_often_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("BACK_OFF", "SILENCE_SECONDS", "ANSWER_SECONDS"):
        monkeypatch.setattr(bus, name, 0.5)
    server = EmbeddedRedis(tmp_path)
    waker = Bus(server.start())
    assert waker.pause(60) == bus.ALONE_SECONDS
    await waker.start()
    await until(lambda: waker.pause(60) == 60)
    with capture_logs() as told, paused(server):
        await until(lambda: waker.pause(60) == bus.ALONE_SECONDS)
        assert await waker.ping() is False
        assert [each["event"] for each in told] == ["bus.lost"]
    await until(lambda: waker.pause(60) == 60)
    await waker.close()
    server.stop()


async def test_what_others_tell_is_heard_over_a_connection_that_was_silent_for_long(redis_url: str) -> None:
    waker, other, client = Bus(redis_url), Bus(redis_url), redis.Redis.from_url(redis_url)
    await waker.start()
    await until(lambda: waker.pause(60) == 60)
    before = await pings(client)
    async with asyncio.timeout(60):
        while await pings(client) < before + 2:
            await asyncio.sleep(0.1)
    with waker.listening("box:b") as rung:
        other.notify("box:b")
        await other.start()
        async with asyncio.timeout(60):
            await rung.wait()
    await client.aclose()
    await other.close()
    await waker.close()


async def test_a_ring_that_many_workers_were_killed_over_is_answered_without_a_word(
    redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    client = redis.Redis.from_url(redis_url)
    await client.set(f"arq:retry:{WORK}", 500)  # as often it was begun
    worker = Bus(redis_url)
    await worker.start()
    with worker.listening(WORK) as rung:
        worker.notify(WORK)
        rung.clear()  # which the ringing process does itself
        answering = asyncio.create_task(worker.answer())
        async with asyncio.timeout(60):
            await rung.wait()
    await end(answering)
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == []
    await client.aclose()
    await worker.close()


async def pings(client: "redis.Redis") -> int:
    """How many the server has answered."""
    return int((await client.info("commandstats")).get("cmdstat_ping", {"calls": 0})["calls"])


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not true():
            await asyncio.sleep(0.01)


async def test_one_worker_answers_however_many_ring_and_however_often(redis_url: str) -> None:
    ringing = [Bus(redis_url) for _ in range(3)]
    for one in ringing:
        await one.start()
        one.notify(WORK)
        one.notify(WORK)
        await one.close()
    workers = [Bus(redis_url) for _ in range(2)]
    with contextlib.ExitStack() as stack:
        rung = [stack.enter_context(worker.listening(WORK)) for worker in workers]
        answering = [asyncio.create_task(worker.answer()) for worker in workers]
        async with asyncio.timeout(60):
            while not any(event.is_set() for event in rung):
                await asyncio.sleep(0.01)
            while await workers[0]._redis.zcard(QUEUE):
                await asyncio.sleep(0.01)
        await asyncio.sleep(5 * POLL_SECONDS)
        assert [event.is_set() for event in rung].count(True) == 1
        for task in answering:
            await end(task)
    for worker in workers:
        await worker.close()


async def test_what_is_rung_while_another_is_answered_is_heard(redis_url: str) -> None:
    ringing, worker = Bus(redis_url), Bus(redis_url)
    await ringing.start()
    done = seen = 0
    answering = asyncio.create_task(worker.answer())
    with worker.listening(WORK) as rung:
        async with asyncio.timeout(120):
            for round_ in range(100):
                done += 1  # as a row that is due
                ringing.notify(WORK)
                await asyncio.sleep(round_ % 10 / 1000)
            while seen < done:
                await rung.wait()
                rung.clear()
                seen = done
    await end(answering)
    await ringing.close()
    await worker.close()


async def test_what_a_stranger_writes_into_the_queue_runs_no_code(redis_url: str, tmp_path: Path) -> None:
    class Attack:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, (str(tmp_path / "ran"),)

    stranger = redis.Redis.from_url(redis_url)
    await stranger.set(f"arq:job:{WORK}", pickle.dumps({"t": 1, "f": WORK, "a": (Attack(),), "k": {}, "et": 1}))
    await stranger.zadd(QUEUE, {WORK: 1})
    worker = Bus(redis_url)
    answering = asyncio.create_task(worker.answer())
    async with asyncio.timeout(60):
        while await stranger.zcard(QUEUE) and not answering.done():
            await asyncio.sleep(0.01)
    await end(answering)
    assert not (tmp_path / "ran").exists()
    await stranger.aclose()
    await worker.close()

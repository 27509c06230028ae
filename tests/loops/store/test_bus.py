import asyncio
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from app.process.valkey import EmbeddedRedis
from loops.store import bus
from loops.store.bus import Bus


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

"""A real server process, killed under load."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import httpx
from sqlalchemy import select

from github.webhooks.signature import sign
from loops.store.database import Database
from loops.store.tables import Delivery
from tests.app.conftest import SECRET

ROUNDS = 2


async def start(tmp_path: Path, database_url: str, redis_url: str) -> tuple[asyncio.subprocess.Process, str]:
    environment = {
        **os.environ,
        "GREENLOOP_DATA": str(tmp_path),
        "GREENLOOP_DATABASE_URL": database_url,
        "GREENLOOP_REDIS_URL": redis_url,
        "GREENLOOP_WEBHOOK_SECRETS": SECRET.decode(),
    }
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.bench.server", "greenloop", env=environment, stdout=asyncio.subprocess.PIPE
    )
    assert server.stdout is not None
    port, _of_boxes = (await server.stdout.readline()).split()
    return server, f"http://127.0.0.1:{int(port)}"


async def send(url: str, sender: str, acknowledged: set[str], enough: asyncio.Event) -> None:
    body = json.dumps({"action": "labeled", "padding": "x" * 5000}).encode()
    signature = sign(SECRET, body)
    async with httpx.AsyncClient(base_url=url, timeout=20) as http:
        number = 0
        while True:
            number += 1
            guid = f"{sender}-{number}"
            sent = {"x-github-event": "issues", "x-github-delivery": guid, "x-hub-signature-256": signature}
            try:
                answer = await http.post("/webhooks/github", content=body, headers=sent)
            except httpx.TransportError:
                return
            assert answer.status_code == 202, answer.text
            acknowledged.add(guid)
            if len(acknowledged) >= 150:
                enough.set()


async def test_a_web_process_killed_under_load_loses_no_acknowledged_delivery(
    tmp_path: Path, database_url: str, redis_url: str
) -> None:
    everything: set[str] = set()
    for turn in range(ROUNDS):
        server, url = await start(tmp_path, database_url, redis_url)
        acknowledged: set[str] = set()
        enough = asyncio.Event()
        senders = [asyncio.create_task(send(url, f"r{turn}-{n}", acknowledged, enough)) for n in range(12)]
        try:
            async with asyncio.timeout(60):
                await enough.wait()
        finally:
            server.send_signal(signal.SIGKILL)
            await server.wait()
        await asyncio.gather(*senders)
        everything |= acknowledged
    database = Database(database_url)
    async with database.read() as tx:
        stored = set((await tx.execute(select(Delivery.guid))).scalars())
    await database.close()
    assert len(everything) >= ROUNDS * 150
    assert everything <= stored


async def test_a_web_process_that_is_told_to_stop_ends_soon_and_with_answers(
    tmp_path: Path, sqlite_url: str, redis_url: str
) -> None:
    server, url = await start(tmp_path, sqlite_url, redis_url)
    async with httpx.AsyncClient(base_url=url) as http:
        assert (await http.get("/readyz")).json()["status"] == "ok"
        server.terminate()
        async with asyncio.timeout(30):
            assert await server.wait() in (0, -signal.SIGTERM)

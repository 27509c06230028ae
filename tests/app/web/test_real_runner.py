"""The runner's protocol with the real runner at the other end."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select, update

from app.settings import Settings
from app.web.app import create_app
from k8s import runner
from loops.store.database import Database
from loops.store.tables import Event, Turn
from tests.app.boxside import TOKEN, seed
from tests.app.serving import serving_both

LINES = 500
AGENT = f"import sys, time\nfor n in range({LINES}):\n    print('line', n, flush=True)\n    time.sleep(0.006)\n"


@pytest.fixture
async def settings(tmp_path: Path, sqlite_url: str, redis_url: str) -> Settings:
    return Settings(data=tmp_path, database_url=sqlite_url, redis_url=redis_url, webhook_secrets="s")


@pytest.fixture
async def reader(sqlite_url: str) -> AsyncIterator[Database]:
    found = Database(sqlite_url)
    yield found
    await found.close()


async def turn_of(reader: Database) -> Turn:
    async with reader.read() as tx:
        return (await tx.execute(select(Turn))).scalar_one()


async def until(reader: Database, status: str, *, output: int = 0) -> Turn:
    async with asyncio.timeout(60):
        while True:
            turn = await turn_of(reader)
            if turn.status == "reported" or (turn.status == status and turn.output_offset >= output):
                return turn
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("restarts", [0, 2])
async def test_a_turn_in_a_real_box_loses_and_doubles_nothing_while_the_service_restarts(
    settings: Settings, reader: Database, tmp_path: Path, restarts: int
) -> None:
    token_file = tmp_path / "token"
    token_file.write_text(TOKEN)
    app = create_app(settings)
    async with serving_both(app) as served:
        await seed(app.state.shared)
        async with app.state.shared.database.write() as tx:
            spec = {"workdir": "work", "argv": [sys.executable, "-c", AGENT], "env": {}, "stdin": "fix it"}
            await tx.execute(update(Turn).values(spec=spec))
        command = [
            str(Path(runner.__file__).parent),
            "--service",
            served.boxes,
            "--box",
            "ann",
            "--home",
            str(tmp_path / "home"),
        ]
        process = await asyncio.create_subprocess_exec(
            sys.executable, *command, "--token-file", str(token_file), env={"PATH": os.environ["PATH"]},
            stderr=asyncio.subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            await until(reader, "running", output=1)
            if restarts == 0:
                await until(reader, "reported")
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    try:
        for _ in range(restarts):
            before = (await turn_of(reader)).output_offset
            await asyncio.sleep(0.2)
            async with serving_both(create_app(settings), box_port=urlsplit(served.boxes).port or 0):
                await until(reader, "running", output=before + 1)
        if restarts:
            async with serving_both(create_app(settings), box_port=urlsplit(served.boxes).port or 0):
                await until(reader, "reported")
    finally:
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(60):
            await process.wait()
    async with reader.read() as tx:
        events = (await tx.execute(select(Event).where(Event.kind == "assistant_delta").order_by(Event.seq))).scalars()
        said = "".join(event.payload["text"] for event in events)
    assert said == "".join(f"line {n}\n" for n in range(LINES))
    turn = await turn_of(reader)
    assert turn.result is not None
    assert (turn.result["reason"], turn.result["exit_code"]) == ("exited", 0)

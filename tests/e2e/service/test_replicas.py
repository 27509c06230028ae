"""Several web and worker processes on one PostgreSQL and one Redis, of which some come and go."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import SecretStr

from app.process.wiring import open_web
from app.settings import Settings
from tests.app.serving import serving_both
from tests.e2e.house import House, house

RIGHT = "wait(); pathlib.Path('value.txt').write_text('right')"


@contextmanager
def worker(settings: Settings) -> Iterator["subprocess.Popen[bytes]"]:
    """A worker in a process of its own, killed at the latest when the block ends."""
    environment = dict(os.environ)
    for name in settings.model_fields_set:
        value = getattr(settings, name)
        environment[f"GREENLOOP_{name.upper()}"] = (
            value.get_secret_value() if isinstance(value, SecretStr) else str(value)
        )
    process = subprocess.Popen([sys.executable, "-m", "app", "worker"], env=environment, stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


async def test_sessions_survive_that_web_and_worker_processes_come_and_go_and_nothing_is_doubled(
    tmp_path: Path, postgres_url: str
) -> None:
    async with house(tmp_path, database_url=postgres_url) as home:
        home.agent(RIGHT)
        url = home.local.app.hook.url
        with worker(home.settings) as other:
            async with serving_both(open_web(home.settings, home.settings.redis_url)) as second:
                home.local.set_webhook(f"{second.url}/webhooks/github")
                numbers = [await home.issue(f"Make it right {number}") for number in range(2)]
                for number in numbers:
                    await home.comment(number, "@greenloop fix it")
                await home.handled("issue_comment", 2)
            # one web process is gone, and one worker dies while an agent works
            home.local.set_webhook(url)
            await running(home)
            assert other.poll() is None
        await let_go(home)
        await home.ended(sessions=2)
        sessions, turns = await home.sessions(), await home.turns()
        assert [session.outcome for session in sessions] == ["green", "green"], await home.describe()
        assert [(turn.status, turn.lost) for turn in turns] == [("done", 0)] * 2
        assert len({turn.commit_sha for turn in turns}) == len(await home.get("pulls?state=all")) == 2
        assert [len(await home.bot_comments(number)) for number in numbers] == [1, 1]


async def running(home: House) -> None:
    async def look() -> bool:
        return any(turn.status == "running" for turn in await home.turns())

    await home.until(look)


async def let_go(home: House) -> None:
    """Let one agent after the other go on."""

    async def look() -> bool:
        home.let_go()
        return all(turn.status in ("reported", "done") for turn in await home.turns())

    await home.until(look)

"""One run: a world is built, the schedule of the seed happens to it, it comes to rest, and the invariants are held."""

import asyncio
import contextlib
import random
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cryptography.fernet import Fernet
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError

from app.demo.world import World, build_world
from app.process.valkey import EmbeddedRedis
from loops.store.database import Database
from loops.store.migrations import upgrade
from loops.store.states import OPEN_SESSION
from loops.store.tables import Delivery, Installation, Session
from tests.chaos import collect, people
from tests.chaos.invariants import Facts, violations
from tests.chaos.schedule import ROUND_SECONDS, Request, Round, schedule
from tests.chaos.service import Service
from tests.e2e.demo import repository
from tests.postgres import PostgresServer, execute

LINES = 30
CHECK = 'test "$(cat value.txt)" = right'
AGENT = f"""
import pathlib, sys, time
prompt = sys.stdin.read()
for number in range({LINES}):
    print("chaos", number, flush=True)
    time.sleep(0.05)
pathlib.Path("value.txt").write_text("right" if "CI" in prompt and "failed" in prompt else "half")
"""
REST_SECONDS = 240.0
"""In which everything comes to rest, at the latest: what GitHub did not deliver is asked for again."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """What a run is of. `rest`: seconds to come to rest in."""

    seed: int
    rounds: int
    database: str = "sqlite"
    rest: float = REST_SECONDS


@dataclass(frozen=True)
class Result:
    """What is violated of each invariant, and how it went."""

    violated: Mapping[str, Sequence[str]]
    facts: Facts

    @property
    def holds(self) -> bool:
        return not any(self.violated.values())


async def run(options: Options, say: Say) -> Result:
    """Run it, and keep nothing of it but where an invariant does not hold: then the folder with its logs stays."""
    folder = Path(tempfile.mkdtemp(prefix="greenloop-chaos-"))
    result = None
    try:
        result = await _in_folder(folder, options, say)
        return result
    finally:
        if result is not None and result.holds:
            shutil.rmtree(folder)
        else:
            say(f"the logs are in {folder}")


async def _in_folder(folder: Path, options: Options, say: Say) -> Result:
    rounds = schedule(options.seed, options.rounds, database_dies=options.database == "postgres")
    asked: dict[int, bool] = {}
    async with contextlib.AsyncExitStack() as stack:
        url, postgres = await _database(stack, folder, options.database)
        redis = EmbeddedRedis(folder / "redis")
        redis_url = redis.start()
        stack.callback(redis.stop)
        port = _free_port()
        source = repository(folder / "widgets", {"value.txt": "wrong"}, run=CHECK)
        world = await build_world(source, folder, f"http://127.0.0.1:{port}/webhooks/github")
        stack.push_async_callback(world.close)
        service = Service(folder, _environment(folder, world, url, redis_url, port), redis, postgres)
        service.start()
        stack.push_async_callback(service.stop)
        database = Database(url)
        stack.push_async_callback(database.close)
        await _known(world, database)
        chance = random.Random(options.seed)
        for number, each in enumerate(rounds, 1):
            say(f"round {number}: {', '.join(each.faults)}")
            asked |= await _round(world, service, each, chance, say)
        world.local.hub.faults.clear()
        await _rest(world, database, asked, options.rest)
        left = [*await collect.rows_left_over(database), *await collect.keys_left_over(redis_url)]
        left += collect.turns_left_over(service.boxes)
        found = await collect.facts(world, database, asked, LINES, excused=service.excused())
    left += collect.processes_left_over(folder)
    found = replace(found, left_over=left)
    return Result(violations(found), found)


async def _database(stack: contextlib.AsyncExitStack, folder: Path, kind: str) -> tuple[str, PostgresServer | None]:
    """A migrated database's URL, and its server where it has one that can die."""
    if kind == "sqlite":
        url, server = f"sqlite:///{folder}/greenloop.db", None
    else:
        binaries = Path(shutil.which("postgres") or "postgres").resolve().parent
        server = stack.enter_context(PostgresServer(binaries, durable=True))
        await execute(server.url, "CREATE DATABASE greenloop")
        url = server.url.set(database="greenloop").render_as_string(hide_password=False)
    await upgrade(url)
    return url, server


def _environment(folder: Path, world: World, url: str, redis_url: str, port: int) -> dict[str, str]:
    key, agent = folder / "app.pem", folder / "agent.py"
    key.write_text(world.local.app.private_key)
    agent.write_text(AGENT)
    data = folder / "data"
    data.mkdir()
    return {
        "GREENLOOP_DATA": str(data),
        "GREENLOOP_DATABASE_URL": url,
        "GREENLOOP_REDIS_URL": redis_url,
        "GREENLOOP_APP_ID": str(world.local.app.id),
        "GREENLOOP_APP_PRIVATE_KEY_FILE": str(key),
        "GREENLOOP_WEBHOOK_SECRETS": world.local.app.webhook_secret,
        "GREENLOOP_ENCRYPTION_KEYS": Fernet.generate_key().decode(),
        "GREENLOOP_GITHUB_API_URL": world.local.api_url,
        "GREENLOOP_GITHUB_WEB_URL": world.local.web_url,
        "GREENLOOP_PUBLIC_URL": f"http://127.0.0.1:{port}",
        "GREENLOOP_BOX_PORT": str(_free_port()),
        "GREENLOOP_RUNTIME": "command",
        "GREENLOOP_COMMAND": f"{sys.executable} {agent}",
        "GREENLOOP_BOX_READABLE": str(folder),
        "GREENLOOP_SETTLE_SECONDS": "1",
        "GREENLOOP_POLL_SECONDS": "5",
        "GREENLOOP_MISSED_SECONDS": "5",
        "GREENLOOP_TURN_SECONDS": "60",
        "GREENLOOP_LEASE_SECONDS": "4",
    }


async def _known(world: World, database: Database) -> None:
    """Wait until the service knows the installation: what GitHub could not deliver before is not asked for."""

    async def look() -> bool:
        async with database.read() as tx:
            return bool((await tx.execute(select(func.count()).select_from(Installation))).scalar_one())

    async with asyncio.timeout(120):
        while not await look():
            world.local.call(lambda: _again(world))
            await asyncio.sleep(1)


def _again(world: World) -> None:
    for old in [each for each in world.local.store.deliveries if each.event == "installation"][:1]:
        world.local.hub.hooks.redeliver(old)


async def _round(world: World, service: Service, round_: Round, chance: random.Random, say: Say) -> dict[int, bool]:
    """Let the round happen; the issues that were asked for, and whether that was taken back."""
    world.local.hub.faults.clear()
    for rule in round_.faults:
        world.local.hub.faults.add_text(rule)
    began = time.monotonic()

    async def at(seconds: float) -> None:
        await asyncio.sleep(max(0.0, began + seconds - time.monotonic()))

    async def ask(request: Request) -> tuple[int, bool]:
        await at(request.at)
        issue = people.ask(world)
        say(f"{request.at:4.1f} s  #{issue} is asked for")
        if request.stopped_at is not None:
            await at(request.stopped_at)
            people.take_back(world, issue)
            say(f"{request.stopped_at:4.1f} s  #{issue} is taken back")
        return issue, request.stopped_at is not None

    asking = [asyncio.create_task(ask(request)) for request in round_.requests]
    suffering = []
    for act in round_.acts:
        await at(act.at)
        say(str(act))
        suffering.append(asyncio.create_task(service.act(act, chance)))
    await asyncio.gather(*suffering)
    await at(ROUND_SECONDS)
    return dict(await asyncio.gather(*asking))


async def _rest(world: World, database: Database, asked: Mapping[int, bool], seconds: float) -> None:
    """Wait until all that was asked has ended and nothing is due; what does not shows in the invariants."""

    async def rests() -> bool:
        try:
            return await looked()
        except (DBAPIError, OSError):  # it has just come back
            return False

    async def looked() -> bool:
        async with database.read() as tx:
            subjects = list((await tx.execute(select(Session.subject_number))).scalars())
            statement = select(func.count()).select_from(Session)
            open_ = statement.where(Session.status.in_(OPEN_SESSION) | Session.lease_until.is_not(None))
            waiting = select(func.count()).select_from(Delivery).where(Delivery.status != "done")
            busy = [(await tx.execute(each)).scalar_one() for each in (open_, waiting)]
        return asked.keys() <= set(subjects) and not any(busy) and not world.local.hub.hooks.busy

    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while not (await rests() and await rests()):
                await asyncio.sleep(0.5)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])

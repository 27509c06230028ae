"""The demo from end to end: build the world, start the service, ask, watch, report, tidy up."""

import asyncio
import contextlib
import json
import os
import shlex
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography.fernet import Fernet

from app.demo.account import account, missing, store
from app.demo.follow import RequestRefused, follow, report
from app.demo.model_faults import model_faults, reported_in
from app.demo.places import own_address, place, refuse_unusable
from app.demo.progress import Progress
from app.demo.world import ISSUE, Misuse, World, build_world, prepare_source
from app.logging import configure
from app.process.processes import Supervisor
from app.process.valkey import EmbeddedRedis
from app.settings import Settings
from loops.store.database import Database
from loops.store.migrations import upgrade
from loops.store.tables import Session

AGENT = Path(__file__).parent / "agent.py"
LONGEST = 3600.0  # seconds; far more than any limit inside allows


@dataclass(frozen=True)
class DemoOptions:
    """What `greenloop demo` was asked for."""

    repo: Path | None
    issue: str | None
    agent: str | None
    cap: int | None
    keep: bool
    json: bool
    boxes: str = "local"
    kubeconfig: Path | None = None
    box_image: str | None = None
    host: str | None = None
    runtime: str | None = None
    model: str | None = None
    faults: Sequence[str] = ()
    model_faults: Sequence[str] = ()


async def demo(options: DemoOptions) -> int:
    """Run the demo; the exit code: 0 green, 1 any other end. Raises Misuse for input that cannot be used.

    SIGTERM cancels it, so that nothing it started stays.
    """
    if (running := asyncio.current_task()) is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    folder = Path(tempfile.mkdtemp(prefix="greenloop-demo-"))
    try:
        return await _in_folder(options, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _in_folder(options: DemoOptions, folder: Path) -> int:
    configure("warning", json=False)
    progress = Progress(quiet=options.json)
    _usable(options)
    source = prepare_source(options.repo, folder)
    async with contextlib.AsyncExitStack() as stack:
        progress.step("A local GitHub with a repository, two people and the App")
        host = options.host or own_address(options.kubeconfig)
        port = _free_port(host)
        webhook_url = f"http://{host}:{port}/webhooks/github"
        world = await build_world(source, folder, webhook_url, host, options.faults)
        stack.push_async_callback(world.close)
        environment = _environment(options, world, folder, host, port)
        boxes = place(options.kubeconfig, options.box_image or "", folder)
        environment |= await stack.enter_async_context(boxes)
        redis = EmbeddedRedis(folder / "redis")
        environment["GREENLOOP_REDIS_URL"] = redis.start()
        stack.callback(redis.stop)
        settings = _settings(environment)
        await upgrade(settings.database)
        progress.step("Greenloop: web and worker")
        web = Supervisor("web", ["web", "--host", host, "--port", str(port)], environment, folder)
        worker = Supervisor("worker", ["worker"], environment, folder)
        for process in (web, worker):
            process.start()
            stack.push_async_callback(process.stop)
        await _listening(host, port)
        database = Database(settings.database)
        stack.push_async_callback(database.close)
        asked = "@greenloop please solve this"
        if options.runtime:
            asked += f" --runtime {options.runtime}"
            await _with_account(stack, options, progress, database, world, folder)
        title, _, body = (options.issue or ISSUE).strip().partition("\n")
        issue = await world.open_issue(title, body.strip())
        progress.step(f"Issue #{issue}: {title}")
        await world.comment(issue, asked)
        progress.step(f'Comment: "{asked}"')
        await _watch(database, progress, world)
        world.local.hub.faults.clear()  # what is reported is as it came to be
        result = await report(database, world, issue)
        result["url"] = f"{settings.public_url}/sessions/{result['session']}"
        told = await world.our_comments(issue, None)
        progress.finish(result, str(told[-1]["html_url"]) if told else "")
        if options.json:
            print(json.dumps(result, ensure_ascii=False), flush=True)
        if options.keep:
            await _until_interrupted(progress, folder)
        return 0 if result["outcome"] == "green" else 1


async def _with_account(
    stack: contextlib.AsyncExitStack,
    options: DemoOptions,
    progress: Progress,
    database: Database,
    world: World,
    folder: Path,
) -> None:
    runtime = str(options.runtime)
    own = options.repo is not None or options.issue is not None
    faults, runs = model_faults(options.model_faults), reported_in(database)
    used = stack.enter_context(account(runtime, options.model, own_repository=own, faults=faults, runs=runs))
    await store(database, folder / "encryption-keys", world.installation, used)
    who = "a script in place of a model" if used.scripted else f"{used.provider}, with the key of your environment"
    progress.step(f"The {runtime} runtime, with {who}")


async def _watch(database: Database, progress: Progress, world: World) -> None:
    async for news in follow(database, seconds=LONGEST):
        if isinstance(news, RequestRefused):
            progress.note(f"no session: {news.reason}")
        elif isinstance(news, Session):
            progress.session(news)
        else:
            progress.event(news.kind, news.payload)


def _usable(options: DemoOptions) -> None:
    """Raises Misuse for what cannot be shown, before anything is started."""
    refuse_unusable(options.boxes, options.kubeconfig, options.box_image)
    if options.runtime is None:
        if options.model_faults:
            raise Misuse("--model-fault needs --runtime: any other agent asks no model of the demo's")
        return
    if options.agent:
        raise Misuse("--runtime and --agent exclude each other")
    # Our own loop is installed beside us, and not on the PATH of a shell that has not activated the environment.
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    own = options.repo is not None or options.issue is not None
    with account(options.runtime, options.model, own_repository=own, faults=model_faults(options.model_faults)):
        reason = missing(options.runtime) if options.boxes == "local" else None
    if reason:
        raise Misuse(f"--runtime {options.runtime}: {reason}")


def _environment(options: DemoOptions, world: World, folder: Path, host: str, port: int) -> dict[str, str]:
    """The settings of the demo's processes. What the caller's environment sets already wins for waits and limits."""
    key, secrets, keys = folder / "app.pem", folder / "webhook-secrets", folder / "encryption-keys"
    _private(key, world.local.app.private_key)
    _private(secrets, world.local.app.webhook_secret + "\n")
    _private(keys, Fernet.generate_key().decode() + "\n")
    box_port = _free_port(host)
    agent = options.agent or shlex.join(_own_agent(options.boxes))
    fixed = {
        "GREENLOOP_DATA": str(folder / "data"),
        "GREENLOOP_DATABASE_URL": "",
        "GREENLOOP_APP_ID": str(world.local.app.id),
        "GREENLOOP_APP_PRIVATE_KEY_FILE": str(key),
        "GREENLOOP_WEBHOOK_SECRETS_FILE": str(secrets),
        "GREENLOOP_ENCRYPTION_KEYS_FILE": str(keys),
        "GREENLOOP_GITHUB_API_URL": world.local.api_url,
        "GREENLOOP_GITHUB_WEB_URL": world.local.web_url,
        "GREENLOOP_PUBLIC_URL": f"http://{host}:{port}",
        "GREENLOOP_BOX_PORT": str(box_port),
        "GREENLOOP_SERVICE_URL": f"http://{host}:{box_port}" if options.boxes == "kubernetes" else "",
        "GREENLOOP_RUNTIME": "command",
        "GREENLOOP_COMMAND": agent,
    }
    if options.cap is not None:
        fixed["GREENLOOP_CAP"] = str(options.cap)
    usual = {
        "GREENLOOP_SETTLE_SECONDS": "1",
        "GREENLOOP_POLL_SECONDS": "5",
        "GREENLOOP_MISSED_SECONDS": "10",
        "GREENLOOP_OVERLOAD_SECONDS": "2",
        "GREENLOOP_TURN_SECONDS": "180",
        "GREENLOOP_LEASE_SECONDS": "6",
    }
    return {**{name: value for name, value in usual.items() if name not in os.environ}, **fixed}


def _own_agent(boxes: str) -> list[str]:
    """The demo's agent as a command. A box on a cluster has a Python and not our files: it is given the program."""
    if boxes == "kubernetes":
        return ["python3", "-c", AGENT.read_text()]
    return [sys.executable, str(AGENT)]


def _settings(environment: dict[str, str]) -> Settings:
    os.environ.update(environment)
    settings = Settings()
    settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return settings


async def _listening(host: str, port: int) -> None:
    """Wait until the web process answers. Raises RuntimeError when it does not."""
    async with asyncio.timeout(60):
        while True:
            try:
                _, writer = await asyncio.open_connection(host, port)
                writer.close()
                return
            except OSError:
                await asyncio.sleep(0.05)


async def _until_interrupted(progress: Progress, folder: Path) -> None:
    progress.note(f"Everything stays up; logs are in {folder}. Press Ctrl+C to end it.")
    stop = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    await stop.wait()


def _private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text)


def _free_port(host: str) -> int:
    with socket.socket() as found:
        found.bind((host, 0))
        return int(found.getsockname()[1])

"""The whole house in one process for a test: local GitHub, web, worker, boxes, a Redis of its own."""

import asyncio
import contextlib
import gc
import shutil
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx
import structlog
from cryptography.fernet import Fernet
from sqlalchemy import not_, select

from app.commands.common import listen
from app.process.valkey import EmbeddedRedis
from app.process.wiring import open_web
from app.process.worker import run as run_worker
from app.settings import Settings
from app.web.app import server
from github.emulator import LocalGitHub
from github.emulator.options import EmulatorOptions
from k8s.local import LocalBoxes
from loops.secrets.vault import Vault
from loops.store.database import Database
from loops.store.migrations import upgrade
from loops.store.states import OPEN_SESSION
from loops.store.tables import Delivery, Profile, Session, Turn
from tests.workflows import workflow

T = TypeVar("T")
REPOSITORY = "acme/widgets"
PROVIDER_KEY = "sk-planted-0123456789"
CHECK = 'test "$(cat value.txt)" = right'
# What every agent begins with: `prompt` is what it was asked, `wait()` returns when the test has let it go.
HEAD = """
import os, pathlib, subprocess, sys, time
prompt = sys.stdin.read()
def wait():
    while True:
        try:
            return {look}
        except OSError:
            time.sleep(0.05)
"""


class House:
    """Alice writes, Bob reads, `acme/widgets` has a `value.txt` that its check wants to be `right`."""

    def __init__(self, folder: Path, options: EmulatorOptions | None = None) -> None:
        self.folder = folder
        self.local = LocalGitHub(folder / "github", options=options)
        self.host = "127.0.0.1"
        self.patience = 1.0
        self.look = f"os.unlink({str(folder / 'go')!r})"
        self._stack = contextlib.AsyncExitStack()
        self._http: dict[str, httpx.AsyncClient] = {}

    async def start(self, *, files: dict[str, str] | None = None, run: str | None = CHECK, **settings: Any) -> None:
        """Serve GitHub with the repository, then Greenloop itself."""
        gc.freeze()  # what was there before is not looked through again when this house is left
        await self.local.start(host=self.host)
        self._stack.push_async_callback(self.local.stop)
        source = self.folder / "source"
        wanted = {"value.txt": "wrong", **(files or {})}
        if run is not None:
            wanted[".github/workflows/ci.yml"] = workflow(run)
        for name, content in wanted.items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(content)
        for login in ("alice", "bob"):
            self.local.add_user(login)
        self.local.add_repository(REPOSITORY, from_dir=source)
        self.local.set_permission(REPOSITORY, "alice", "write")
        self.local.set_permission(REPOSITORY, "bob", "read")
        await self._service(settings)
        self.installation = self.local.install("acme", [REPOSITORY]).id

    async def _service(self, settings: dict[str, Any]) -> None:
        listening, boxes = listen(self.host, 0), listen(self.host, 0)
        url = f"http://{self.host}:{listening.getsockname()[1]}"
        self.local.set_webhook(f"{url}/webhooks/github")
        self.redis = EmbeddedRedis(self.folder / "redis")
        redis_url = self.redis.start()
        self._stack.callback(self.redis.stop)
        self.settings = Settings(
            **{
                "data": self.folder / "data",
                "database_url": f"sqlite:///{self.folder}/greenloop.db",
                "redis_url": redis_url,
                "app_id": self.local.app.id,
                "app_private_key": self.local.app.private_key,
                "webhook_secrets": self.local.app.hook.secret,
                "encryption_keys": Fernet.generate_key().decode(),
                "github_api_url": self.local.api_url,
                "github_web_url": self.local.web_url,
                "public_url": url,
                "service_url": f"http://{self.host}:{boxes.getsockname()[1]}",
                "runtime": "command",
                # tests talk to their agents by files beside the box; tests/attacks has boxes with walls
                "box_walls": "processes",
                "command": f"{sys.executable} {self.folder / 'agent.py'}",
                "settle_seconds": 0,
                "poll_seconds": 3,
                "turn_seconds": 60,
                **settings,
            }
        )
        self.agent("print('nothing to do')")
        await upgrade(self.settings.database)
        self.database = Database(self.settings.database)
        self._stack.push_async_callback(self.database.close)
        web = server(open_web(self.settings, redis_url), boxes=boxes, signals=False)
        serving = asyncio.create_task(web.serve([listening]))
        self.stop = asyncio.Event()
        ops = listen(self.host, 0)
        self.worker_url = f"http://{self.host}:{ops.getsockname()[1]}"
        working = asyncio.create_task(run_worker(self.settings, redis_url, stop=self.stop, ops=ops))

        async def end_web() -> None:
            web.should_exit = True
            await serving
            listening.close()
            boxes.close()

        async def end_worker() -> None:
            self.stop.set()
            await working

        self._stack.push_async_callback(end_web)
        self._stack.push_async_callback(self._end_boxes)  # while the web is there: a runner goes once it has reported
        self._stack.push_async_callback(end_worker)

        async def started() -> bool:
            return web.started

        await self.until(started)

    async def _end_boxes(self) -> None:
        boxes = LocalBoxes(self.settings.folder / "boxes")
        for status in await boxes.list():
            await boxes.stop(status.name)

    async def close(self) -> None:
        for http in self._http.values():
            await http.aclose()
        await self._stack.aclose()
        gc.collect()  # what this house left open is told of the test that opened it
        gc.unfreeze()

    async def wipe_redis(self) -> None:
        """Stop Redis, delete all that it had, and start it again at the same address."""
        await asyncio.to_thread(self.redis.stop)
        shutil.rmtree(self.folder / "redis")
        await asyncio.sleep(1)
        await asyncio.to_thread(self.redis.start)

    def agent(self, code: str) -> None:
        """What the agent does from now on: Python code in the checkout; `prompt` is what it was asked, and `wait()`
        holds it until `let_go`."""
        head = HEAD.format(look=self.look)
        (self.folder / "agent.py").write_text(head + textwrap.dedent(code))

    def let_go(self) -> None:
        """Let one agent that waits, or the next that will, go on."""
        (self.folder / "go").touch()

    async def account(self, secret: str = PROVIDER_KEY, **about: Any) -> None:
        """A provider account that belongs to everybody of the installation."""
        token = Vault(self.settings.encryption_key_list()).encrypt(secret)
        usual = {"name": "main", "provider": "scripted", "credential_kind": "api_key", "model": "scripted"}
        usual["base_url"] = "http://127.0.0.1:9/v1"  # where nobody answers
        known = {"installation_id": self.installation, "is_default": True, "created_at": 0, "updated_at": 0}
        async with self.database.write() as tx:
            tx.add(Profile(**{**usual, **known, **about}, secret=token))

    # people

    def http(self, login: str) -> httpx.AsyncClient:
        """GitHub's API as that person."""
        if login not in self._http:
            headers = {"Authorization": f"token {self.local.user(login).token}", "User-Agent": "test"}
            self._http[login] = httpx.AsyncClient(base_url=self.local.api_url, headers=headers, timeout=30)
        return self._http[login]

    async def post(self, login: str, path: str, body: dict[str, Any], method: str = "POST") -> Any:
        """Something a person does in the repository."""
        answer = await self.http(login).request(method, f"/repos/{REPOSITORY}/{path}", json=body)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    async def get(self, path: str, login: str = "alice") -> Any:
        answer = await self.http(login).get(f"/repos/{REPOSITORY}/{path}")
        assert answer.is_success, f"GET {path}: {answer.status_code} {answer.text}"
        return answer.json()

    async def issue(self, title: str = "Make it right", body: str | None = "It is wrong.", login: str = "alice") -> int:
        return int((await self.post(login, "issues", {"title": title, "body": body}))["number"])

    async def comment(self, number: int, body: str, login: str = "alice") -> int:
        return int((await self.post(login, f"issues/{number}/comments", {"body": body}))["id"])

    async def bot_comments(self, number: int) -> list[str]:
        found = await self.get(f"issues/{number}/comments?per_page=100")
        return [each["body"] for each in found if each["user"]["type"] == "Bot"]

    # waiting

    async def until(self, ask: Callable[[], Awaitable[T | None]], seconds: float = 180.0) -> T:
        """The first answer that is not None or false. Raises AssertionError when none comes in time."""
        deadline = time.monotonic() + seconds * self.patience
        while time.monotonic() < deadline:
            if found := await ask():
                return found
            await asyncio.sleep(0.1)
        raise AssertionError(f"it did not come to pass in {seconds} s: {await self.describe()}")

    async def ended(self, *, sessions: int = 1) -> Session:
        """The newest session, once all sessions have ended and everything was told."""

        async def look() -> Session | None:
            found = await self.sessions()
            closed = [
                each
                for each in found
                if each.status not in OPEN_SESSION and each.lease_until is None and each.due_at is None
            ]
            return found[-1] if len(found) >= sessions and len(closed) == len(found) else None

        return await self.until(look)

    async def turn_ended(self, number: int) -> Turn:
        """The turn with that place among all, once its session has ended and everything was told."""

        async def look() -> bool:
            return len(await self.turns()) >= number

        await self.until(look)
        await self.ended()
        return (await self.turns())[number - 1]

    async def handled(self, event: str, count: int = 1) -> list[Delivery]:
        """The deliveries of that event by other people than us, once `count` of them are decided."""

        async def look() -> list[Delivery] | None:
            async with self.database.read() as tx:
                ours = Delivery.reason.like("our own%")
                where = (Delivery.event == event, Delivery.status == "done", not_(ours))
                found = list((await tx.execute(select(Delivery).where(*where))).scalars())
            return found if len(found) >= count else None

        return await self.until(look)

    async def sessions(self) -> list[Session]:
        async with self.database.read() as tx:
            return list((await tx.execute(select(Session).order_by(Session.id))).scalars())

    async def turns(self) -> list[Turn]:
        async with self.database.read() as tx:
            return list((await tx.execute(select(Turn).order_by(Turn.id))).scalars())

    async def describe(self) -> str:
        """Where everything stands, for a test that failed."""
        sessions = [(s.status, s.outcome, s.reason, s.checks, s.notes, s.failures) for s in await self.sessions()]
        turns = [(t.status, t.kind, t.error) for t in await self.turns()]
        async with self.database.read() as tx:
            found = (await tx.execute(select(Delivery))).scalars()
            deliveries = [(d.event, d.action, d.decision, d.reason) for d in found]
        return f"sessions {sessions}\nturns {turns}\ndeliveries {deliveries[-12:]}"


@contextlib.asynccontextmanager
async def house(folder: Path, options: EmulatorOptions | None = None, **settings: Any) -> AsyncIterator[House]:
    """A house that stands for the length of the block; `options` are the local GitHub's."""
    renderer = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[structlog.processors.add_log_level, renderer])
    opened = House(folder, options)
    try:
        await opened.start(**settings)
        yield opened
    finally:
        await opened.close()

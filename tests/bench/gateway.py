"""The model gateway: how much later an answer begins than from the model itself, and what many streams cost.

The model, the service and who asks are processes of their own on loopback.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from cryptography.fernet import Fernet

from app.process.valkey import EmbeddedRedis
from loops.secrets.token_hash import token_hash
from loops.secrets.vault import Vault
from loops.store.database import Database
from loops.store.migrations import upgrade
from loops.store.tables import Profile, Session, Turn

ASKED, WARM = 200, 20
LATER_AIM = 5.0  # milliseconds
STREAMS, TURNS = 200, 10
MEMORY_AIM = 300.0  # MB
PROMPT = "x" * 85_000  # Claude Code's first request


@contextmanager
def started(*words: str, **env: str) -> Iterator[tuple[int, list[int]]]:
    """(the process, the ports that it printed)."""
    process = subprocess.Popen(
        [sys.executable, "-m", *words], env={**os.environ, **env}, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process.pid, list(map(int, process.stdout.readline().split()))
    finally:
        process.terminate()
        process.wait(30)


def memory(pid: int) -> float:
    """The most that the process has held so far, in MB."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.partition("VmHWM:")[2].split()[0]) / 1024


async def seed(url: str, key: str, model: int) -> None:
    """Turns that run, on an account whose model listens at that port."""
    await upgrade(url)
    database = Database(url)
    about = {"provider": "custom", "credential_kind": "api_key", "created_at": 0, "updated_at": 0}
    account = Profile(installation_id=5, name="main", base_url=f"http://127.0.0.1:{model}/v1", **about)
    account.secret = Vault([key]).encrypt("sk-0123456789")
    session = Session(
        public_id="s_1", installation_id=5, repository_id=7, subject_kind="issue", subject_number=1,
        surface="github", trigger="mention", title="T", instruction="fix it", cap=3, created_at=0,
    )  # fmt: skip
    async with database.write() as tx:
        tx.add_all([account, session])
        await tx.flush()
        for number in range(1, TURNS + 1):
            tx.add(
                Turn(
                    public_id=f"t_{number}",
                    session_id=session.id,
                    number=number,
                    kind="issue",
                    trigger="mention",
                    marker=f"gl-{number}",
                    status="running",
                    runtime="opencode",
                    model="m",
                    profile_id=account.id,
                    model_token=token_hash(f"glm_{number}"),
                    created_at=0,
                )
            )
    await database.close()


def request(path: str, token: str, *, slow: bool) -> bytes:
    told = {
        "model": "m",
        "stream": True,
        "messages": [{"role": "user", "content": PROMPT}],
        "user": "slow" if slow else "",
    }
    body = json.dumps(told).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {token}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Asking:
    """A connection that asks again and again."""

    def __init__(self, port: int, path: str, token: str) -> None:
        self._port, self._path, self._token = port, path, token

    async def __aenter__(self) -> "Asking":
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def ask(self, *, slow: bool = False) -> float:
        """Milliseconds to the first byte of the answer's body; returns at its end."""
        sent = request(self._path, self._token, slow=slow)
        began = time.perf_counter()
        self._writer.write(sent)
        head = await self._reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head:
            raise RuntimeError(head.decode())
        await self._reader.readuntil(b"data: ")
        first = (time.perf_counter() - began) * 1000
        await self._reader.readuntil(b"0\r\n\r\n")
        return first


async def first_bytes(model: int, service: int) -> tuple[float, float]:
    """Medians, asked in turn: (from the model, through the gateway)."""
    async with Asking(model, "/v1/chat/completions", "x") as bare, Asking(service, PATH.format(1), "glm_1") as through:
        pairs = [(await bare.ask(), await through.ask()) for _ in range(WARM + ASKED)][WARM:]
    return statistics.median(one for one, _ in pairs), statistics.median(other for _, other in pairs)


async def streams(service: int) -> None:
    """All at once, to their ends."""

    async def one(number: int) -> None:
        turn = number % TURNS + 1
        async with Asking(service, PATH.format(turn), f"glm_{turn}") as asking:
            await asking.ask(slow=True)

    await asyncio.gather(*map(one, range(STREAMS)))


PATH = "/models/t_{}/v1/chat/completions"


def main() -> int:
    """Print the figures; 1 when an aim is missed."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        redis = EmbeddedRedis(Path(folder) / "redis")
        stack.callback(redis.stop)
        key, url = Fernet.generate_key().decode(), f"sqlite:///{folder}/greenloop.db"
        _, (model,) = stack.enter_context(started("tests.bench.model"))
        asyncio.run(seed(url, key, model))
        env = {"DATABASE_URL": url, "REDIS_URL": redis.start(), "ENCRYPTION_KEYS": key, "WEBHOOK_SECRETS": "s" * 20}
        named = {f"GREENLOOP_{name}": value for name, value in env.items()}
        pid, (_, service) = stack.enter_context(started("tests.bench.server", "greenloop", **named))
        bare, through = asyncio.run(first_bytes(model, service))
        before = memory(pid)
        began = time.perf_counter()
        asyncio.run(streams(service))
        took, held = time.perf_counter() - began, memory(pid)
    later = through - bare
    print(f"gateway: first byte {through:.2f} ms, from the model itself {bare:.2f} ms")
    print(f"         {later:.2f} ms later (aim {LATER_AIM:.0f})")
    print(f"         {STREAMS} streams at once in {took:.1f} s")
    print(f"         {held:.0f} MB at most (aim {MEMORY_AIM:.0f}), {before:.0f} before")
    return int(later > LATER_AIM or held > MEMORY_AIM)

"""The port for probes and Prometheus."""

import asyncio
import contextlib
import errno
import socket
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.fernet import Fernet
from sqlalchemy import text

from app.commands.common import listen
from app.logging import configure
from app.process.worker import run
from app.settings import Settings
from app.web.app import create_app, server
from app.web.ops import STALE_SECONDS, WATCHED, Pulse, worker_app
from github.emulator import LocalGitHub
from loops.store.database import Database
from loops.store.migrations import upgrade


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@contextlib.asynccontextmanager
async def running(work: Awaitable[None], port: int) -> AsyncIterator[httpx.AsyncClient]:
    task = asyncio.ensure_future(work)
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as http:
        while True:
            if task.done():
                await task
            with contextlib.suppress(httpx.TransportError):
                await http.get("/healthz")
                break
            await asyncio.sleep(0.02)
        yield http
    await task


async def until(http: httpx.AsyncClient, path: str, status: int) -> httpx.Response:
    async with asyncio.timeout(60):
        while (answer := await http.get(path)).status_code != status:
            await asyncio.sleep(0.05)
    return answer


async def test_a_worker_says_how_it_is_and_what_it_did(tmp_path: Path, sqlite_url: str, redis_url: str) -> None:
    async with LocalGitHub() as local:
        settings = Settings(
            data=tmp_path,
            database_url=sqlite_url,
            app_id=local.app.id,
            app_private_key=local.app.private_key,
            encryption_keys=Fernet.generate_key().decode(),
            github_api_url=local.api_url,
            github_web_url=local.web_url,
        )
        stop, ops = asyncio.Event(), listen("127.0.0.1", 0)
        async with running(run(settings, redis_url, stop=stop, ops=ops), ops.getsockname()[1]) as http:
            assert (await until(http, "/readyz", 200)).json()["database"] == "ok"
            assert (await http.get("/healthz")).json() == {"status": "ok"}
            async with asyncio.timeout(60):
                while 'greenloop_worker_rounds_total{outcome="ok",part="inbox"}' not in (
                    figures := (await http.get("/metrics")).text
                ):
                    await asyncio.sleep(0.05)
            assert "greenloop_queue_age_seconds 0.0" in figures.splitlines()
            database = Database(sqlite_url)
            async with database.write() as tx:
                await tx.execute(text("DELETE FROM alembic_version"))
            await database.close()
            assert "greenloop migrate" in (await until(http, "/readyz", 503)).json()["database"]
            assert (await http.get("/healthz")).status_code == 200, "another pod would not do better"
            stop.set()


async def test_a_worker_waits_for_the_tables_and_says_so_in_one_line(
    tmp_path: Path, redis_url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    configure("info", json=False)
    url = f"sqlite:///{tmp_path / 'new.db'}"
    async with LocalGitHub() as local:
        settings = Settings(
            data=tmp_path,
            database_url=url,
            app_id=local.app.id,
            app_private_key=local.app.private_key,
            encryption_keys=Fernet.generate_key().decode(),
            github_api_url=local.api_url,
            github_web_url=local.web_url,
        )
        stop, ops = asyncio.Event(), listen("127.0.0.1", 0)
        async with running(run(settings, redis_url, stop=stop, ops=ops), ops.getsockname()[1]) as http:
            await asyncio.sleep(3)  # three times as long as between two looks
            assert (await http.get("/healthz")).status_code == 200
            assert (await http.get("/readyz")).json() == {"status": "starting"}
            said = capfd.readouterr()
            lines = [line for line in (said.out + said.err).splitlines() if "worker" in line]
            assert len(lines) == 1 and "greenloop migrate" in lines[0], lines
            assert "Traceback" not in said.out + said.err
            await upgrade(url)
            assert (await until(http, "/readyz", 200)).json()["database"] == "ok"
            stop.set()


async def test_a_worker_of_which_a_part_hangs_is_not_alive_and_one_of_which_parts_fail_is() -> None:
    now = [0.0]
    pulse = Pulse(clock=lambda: now[0])
    async with httpx.AsyncClient(transport=httpx.ASGITransport(worker_app(pulse)), base_url="http://x") as http:
        now[0] = STALE_SECONDS + 1
        dead = await http.get("/healthz")
        assert dead.status_code == 503 and "no round of inbox has ended for 301 s" in dead.text
        for part in ("upkeep", *WATCHED[:-1]):
            pulse.beat(part, "ok")
        assert WATCHED[-1] in (await http.get("/healthz")).text
        assert (await http.get("/healthz")).status_code == 503
        pulse.beat(WATCHED[-1], "failed")
        assert (await http.get("/healthz")).status_code == 200
        assert (await http.get("/readyz")).status_code == 503, "it has not begun"


async def test_a_web_process_has_its_figures_on_a_port_of_their_own(
    tmp_path: Path, sqlite_url: str, redis_url: str
) -> None:
    settings = Settings(data=tmp_path, database_url=sqlite_url, redis_url=redis_url, webhook_secrets="s")
    listening, ops = listen("127.0.0.1", 0), listen("127.0.0.1", 0)
    port = ops.getsockname()[1]
    made = server(create_app(settings), signals=False, ops=ops)
    serving = asyncio.create_task(made.serve([listening]))
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http:
        async with asyncio.timeout(60):
            while not made.started:
                await asyncio.sleep(0.02)
            while True:
                with contextlib.suppress(httpx.TransportError):
                    assert "greenloop_webhooks_total" in (await http.get("/metrics")).text
                    break
                await asyncio.sleep(0.02)
    made.should_exit = True
    await serving
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)


@pytest.mark.parametrize("ipv6", ["on", "off", "unknown"])
def test_a_process_can_listen_on_every_address_the_machine_has(ipv6: str, monkeypatch: pytest.MonkeyPatch) -> None:
    create = socket.create_server

    def refuse(address: tuple[str, int], *, family: int = socket.AF_INET, **options: Any) -> socket.socket:
        if family == socket.AF_INET6:
            raise OSError(errno.EADDRNOTAVAIL, "Cannot assign requested address")
        return create(address, family=family, **options)

    if ipv6 == "off":
        monkeypatch.setattr(socket, "create_server", refuse)
    if ipv6 == "unknown":
        monkeypatch.setattr(socket, "has_dualstack_ipv6", lambda: False)
    with listen("::", 0) as listening:
        for host in ("127.0.0.1", "::1") if ipv6 == "on" else ("127.0.0.1",):
            socket.create_connection((host, listening.getsockname()[1]), timeout=10).close()


@pytest.mark.parametrize("host", ["::", "127.0.0.1"])
def test_small_answers_are_not_held_back_by_nagles_algorithm(host: str) -> None:
    with listen(host, 0) as listening, socket.create_connection(("127.0.0.1", listening.getsockname()[1]), timeout=10):
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_in_use_is_refused_on_every_address() -> None:
    with listen("::", 0) as taken, pytest.raises(ValueError, match="in use"):
        listen("::", taken.getsockname()[1])


@pytest.mark.parametrize("headers", [{"host": "greenloop.example.com"}, {"x-forwarded-for": "203.0.113.9"}])
async def test_figures_are_not_for_who_comes_through_a_proxy(http: httpx.AsyncClient, headers: dict[str, str]) -> None:
    assert (await http.get("/metrics", headers=headers)).status_code == 403
    assert (await http.get("/metrics")).status_code == 200

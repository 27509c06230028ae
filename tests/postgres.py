"""A private PostgreSQL for the tests: no trace of it is left, and none of another is touched."""

import asyncio
import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from sqlalchemy import URL, make_url

from loops.store.migrations import upgrade
from tests.tools import need

START_SECONDS = 60


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[URL]:
    """A server where databases may be made."""
    with running_postgres() as url:
        yield url


@contextlib.contextmanager
def running_postgres(*, durable: bool = False) -> Iterator[URL]:
    """`GREENLOOP_TEST_POSTGRES`, else a cluster of our own on loopback."""
    if given := os.environ.get("GREENLOOP_TEST_POSTGRES"):
        yield make_url(given)
        return
    binaries = Path(need("postgres")).resolve().parent
    user = "nobody" if os.getuid() == 0 else None  # PostgreSQL refuses to run as root
    folder = Path(tempfile.mkdtemp(prefix="greenloop-pg-"))
    try:
        if user:
            shutil.chown(folder, user)
        data = folder / "data"
        subprocess.run(
            [binaries / "initdb", "-D", data, "-U", "greenloop", "-A", "trust", "-N", "--encoding=UTF8", "--locale=C"],
            check=True,
            user=user,
            cwd=folder,
            stdout=subprocess.DEVNULL,
        )
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        options = [
            *([] if durable else ["fsync=off", "full_page_writes=off"]),
            "listen_addresses=127.0.0.1",
            f"unix_socket_directories={folder}",
        ]
        command = [str(binaries / "postgres"), "-D", str(data), "-p", str(port)]
        for option in options:
            command += ["-c", option]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(command, user=user, cwd=folder, stdout=log, stderr=log)
        try:
            yield URL.create("postgresql", "greenloop", host="127.0.0.1", port=port, database="postgres")
        finally:
            server.terminate()
            server.wait(20)
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def postgres_template(postgres_server: URL) -> Iterator[URL]:
    """A migrated database to copy."""
    name = f"greenloop_{uuid.uuid4().hex[:12]}"
    in_a_thread(execute(postgres_server, f"CREATE DATABASE {name}"))
    url = postgres_server.set(database=name)
    in_a_thread(upgrade(url.render_as_string(hide_password=False)))
    yield url
    in_a_thread(execute(postgres_server, f"DROP DATABASE {name} WITH (FORCE)"))


@pytest.fixture
def postgres_url(postgres_server: URL, postgres_template: URL) -> Iterator[str]:
    """A migrated database of this test alone."""
    name = f"greenloop_{uuid.uuid4().hex[:12]}"
    in_a_thread(execute(postgres_server, f"CREATE DATABASE {name} TEMPLATE {postgres_template.database}"))
    yield postgres_server.set(database=name).render_as_string(hide_password=False)
    in_a_thread(execute(postgres_server, f"DROP DATABASE {name} WITH (FORCE)"))


@pytest.fixture
def postgres_empty(postgres_server: URL) -> Iterator[str]:
    """A database of this test alone without any table."""
    name = f"greenloop_{uuid.uuid4().hex[:12]}"
    in_a_thread(execute(postgres_server, f"CREATE DATABASE {name}"))
    yield postgres_server.set(database=name).render_as_string(hide_password=False)
    in_a_thread(execute(postgres_server, f"DROP DATABASE {name} WITH (FORCE)"))


async def execute(server: URL, statement: str) -> None:
    """Run one statement outside a transaction, as soon as the server takes connections."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            connection = await asyncpg.connect(server.render_as_string(hide_password=False))  # type: ignore[no-untyped-call]
            break
        except (asyncpg.CannotConnectNowError, OSError):
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.05)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


def in_a_thread(work: Coroutine[Any, Any, None]) -> None:
    """Run `work` to its end, whether or not this thread has an event loop."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work).result()

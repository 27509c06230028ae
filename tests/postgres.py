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
from typing import Any, Self

import asyncpg
import pytest
from sqlalchemy import URL, make_url

from k8s.runner.processes import process_tree
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
    with PostgresServer(Path(need("postgres")).resolve().parent, durable=durable) as server:
        yield server.url


class PostgresServer:
    """A cluster of our own on loopback, by the programs in `binaries`, for the length of a block."""

    def __init__(self, binaries: Path, *, durable: bool = False) -> None:
        self._binaries, self._durable = binaries, durable
        self._user = "nobody" if os.getuid() == 0 else None  # PostgreSQL refuses to run as root
        self._process: subprocess.Popen[bytes] | None = None

    def pids(self) -> set[int]:
        """All processes of the server."""
        assert self._process is not None
        return {self._process.pid} | process_tree.below(process_tree.table(), [self._process.pid])

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="greenloop-pg-"))
        try:
            if self._user:
                shutil.chown(self._folder, self._user)
            options = ["-U", "greenloop", "-A", "trust", "-N", "--encoding=UTF8", "--locale=C"]
            subprocess.run(
                [self._binaries / "initdb", "-D", self._folder / "data", *options],
                check=True,
                user=self._user,
                cwd=self._folder,
                stdout=subprocess.DEVNULL,
            )
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self._port = probe.getsockname()[1]
            self.start()
        except BaseException:
            shutil.rmtree(self._folder)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.stop()
        finally:
            shutil.rmtree(self._folder)

    @property
    def url(self) -> URL:
        return URL.create("postgresql", "greenloop", host="127.0.0.1", port=self._port, database="postgres")

    def start(self) -> None:
        """Start the server on its data, at the port that it had before it was stopped or killed."""
        if self._process is not None:
            self._process.wait(20)
        options = [
            *([] if self._durable else ["fsync=off", "full_page_writes=off"]),
            "listen_addresses=127.0.0.1",
            f"unix_socket_directories={self._folder}",
        ]
        command = [str(self._binaries / "postgres"), "-D", str(self._folder / "data"), "-p", str(self._port)]
        for option in options:
            command += ["-c", option]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, user=self._user, cwd=self._folder, stdout=log, stderr=log)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(20)
            self._process = None


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

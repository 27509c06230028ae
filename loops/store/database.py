"""The database: SQLite on one machine, PostgreSQL in production, the same tables and transactions on both."""

import contextlib
import math
import time
import zlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

from sqlalchemy import Engine, event, func, make_url, select
from sqlalchemy.exc import ArgumentError, InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine

SILENT_SECONDS = 1.0
"""After which a connection may have ended unnoticed; a shorter end is noticed by whoever uses it, and tried again."""

_URLS = "sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME"


class Database:
    """Transactions. `write()` commits when its block ends and rolls back when it raises; `read()` never writes.

    On SQLite a writer begins with BEGIN IMMEDIATE: with the driver's own deferred begin, concurrent read-modify-write
    transactions lose updates without an error. One writing connection a process is faster than many that wait for
    the lock.
    """

    def __init__(self, url: str, *, info: Mapping[str, Any] | None = None) -> None:
        """`info` is at hand in each `write()`, as SQLAlchemy's `info`."""
        self.url = async_url(url)
        self.sqlite = make_url(self.url).get_backend_name() == "sqlite"
        self._writer = self._engine(writer=True)
        self._reader = self._engine(writer=False) if self.sqlite else self._writer
        self._write = async_sessionmaker(self._writer, expire_on_commit=False, info=dict(info or {}))
        self._read = async_sessionmaker(self._reader, expire_on_commit=False)

    def _engine(self, *, writer: bool) -> AsyncEngine:
        if not self.sqlite:
            engine = create_async_engine(self.url, pool_size=10, max_overflow=10)
            _ping_after_silence(engine.sync_engine)
            return engine
        size = 1 if writer else 4
        engine = create_async_engine(
            self.url, pool_size=size, max_overflow=0, connect_args={"timeout": 30}, pool_timeout=60
        )

        @event.listens_for(engine.sync_engine, "connect")
        def connect(connection: Any, _record: Any) -> None:
            connection.isolation_level = None
            cursor = connection.cursor()
            cursor.execute("PRAGMA journal_mode=WAL")
            cursor.execute("PRAGMA synchronous=FULL" if writer else "PRAGMA query_only=ON")
            cursor.execute("PRAGMA busy_timeout=30000")
            cursor.execute("PRAGMA foreign_keys=ON")
            cursor.close()

        @event.listens_for(engine.sync_engine, "begin")
        def begin(connection: Any) -> None:
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writer else "BEGIN")

        return engine

    @property
    def reader(self) -> Engine:
        """The engine behind `read()`."""
        return self._reader.sync_engine

    @contextlib.asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncSession]:
        """A transaction that commits at the end of the block."""
        async with self._write() as session, session.begin():
            yield session

    @contextlib.asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncSession]:
        """A snapshot to read from."""
        async with self._read() as session:
            yield session

    async def close(self) -> None:
        await self._writer.dispose()
        if self._reader is not self._writer:
            await self._reader.dispose()


def _ping_after_silence(engine: Engine) -> None:
    """Before a connection that was not used for `SILENT_SECONDS` is, ask whether it is still there: the server may have
    been replaced. SQLAlchemy's own way asks before each transaction, in three round trips more than its own two. One
    that is known to have ended is replaced at once: whoever uses the driver itself tells the pool nothing of a failure.
    """

    @event.listens_for(engine, "checkin")
    def note(_: Any, record: Any) -> None:
        record.info["used_at"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def ask(connection: Any, record: Any, _: Any) -> None:
        silent = time.monotonic() - record.info.get("used_at", math.inf) >= SILENT_SECONDS
        if not silent and not connection.driver_connection.is_closed():
            return
        try:
            engine.dialect.do_ping(connection)
        except Exception as error:
            raise InvalidatePoolError("the server has ended the connection") from error


async def alone(tx: AsyncSession, what: str) -> None:
    """Let nobody else get past this point for the same `what` until the transaction, a `write()`, ends.

    SQLite's writers are alone from their beginning.
    """
    if tx.get_bind().dialect.name == "postgresql":
        await tx.execute(select(func.pg_advisory_xact_lock(zlib.crc32(what.encode()))))


def async_url(url: str) -> str:
    """The URL with the asynchronous driver: `sqlite:///f` and `postgresql://…` are what people write.

    Raises ValueError for another database.
    """
    try:
        parsed = make_url(url)
    except ArgumentError:
        # the URL itself may hold a password
        raise ValueError(f"the database URL is none: use {_URLS}") from None
    drivers = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg", "postgres": "postgresql+asyncpg"}
    backend = parsed.drivername.partition("+")[0]
    if backend not in drivers:
        raise ValueError(f"database URL with {parsed.drivername!r}: use {_URLS}")
    return parsed.set(drivername=drivers[backend]).render_as_string(hide_password=False)

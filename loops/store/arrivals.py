"""Putting webhooks into the `deliveries` table, many in one transaction; a GUID that is there stays as it is."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, cast

from sqlalchemy import make_url

from github.webhooks.events import is_hint, people_wait
from loops.store.database import Database
from loops.store.states import Lane

COLUMNS = (
    "guid", "event", "action", "installation_id", "repository_id", "body", "received_at", "status", "tries", "due_at",
    "wake", "lane",
)  # fmt: skip
_TYPES = (
    "text", "text", "text", "bigint", "bigint", "bytea", "float8", "text", "bigint", "float8", "bigint", "smallint",
)  # fmt: skip
_UNNEST = (
    f"INSERT INTO deliveries ({','.join(COLUMNS)}) SELECT * FROM unnest("  # noqa: S608
    + ",".join(f"${place}::{kind}[]" for place, kind in enumerate(_TYPES, 1))
    + ") ON CONFLICT DO NOTHING"
)
ROWS_A_STATEMENT = 64
"""One step of SQLite takes a whole statement, and gives up Python's lock once for it instead of once a row."""
CHECKPOINT_BYTES = 1_000_000
"""Of bodies stored, after which the write-ahead log is copied into the database, while the next are stored."""
LONGEST_LOG_PAGES = 8000
"""Of the log (4 KiB each), from which the writer copies the rest itself, and the log begins anew."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A verified delivery, before anybody has looked at it. `body` is the JSON."""

    guid: str
    event: str
    action: str | None
    installation_id: int | None
    repository_id: int | None
    body: bytes
    received_at: float


class Arrivals(Protocol):
    """Where arrivals are stored. `groups_at_once`: how many calls of `store` may be under way."""

    @property
    def groups_at_once(self) -> int: ...

    async def store(self, group: Sequence[Arrival]) -> None:
        """Store all of them, durably, or raise."""
        ...

    async def close(self) -> None: ...


def lane_of(event: str, action: str | None) -> Lane:
    """Where a delivery waits to be looked at."""
    if people_wait(event, action):
        return Lane.PEOPLE
    return Lane.HINTS if is_hint(event, action) else Lane.NEWS


def arrivals(database: Database) -> Arrivals:
    """The fastest way into `database` that is durable."""
    return SqliteArrivals(make_url(database.url).database or "") if database.sqlite else PostgresArrivals(database)


class PostgresArrivals:
    """Through the shared pool, one statement for a group. Several are on their way at once: each mostly waits for its
    answer."""

    groups_at_once = 4

    def __init__(self, database: Database) -> None:
        self._database = database

    async def store(self, group: Sequence[Arrival]) -> None:
        # in one order: two groups that hold the same deliveries would wait for each other
        ordered = sorted(group, key=lambda arrival: arrival.guid)
        columns = zip(*(_row(arrival) for arrival in ordered), strict=True)
        async with self._database.read() as tx:
            pooled = await (await tx.connection()).get_raw_connection()
            # columns as arrays: a statement of its own for each row costs five times as much
            await cast(Any, pooled.driver_connection).execute(_UNNEST, *map(list, columns))

    async def close(self) -> None:
        return None


class SqliteArrivals:
    """A connection and a thread of its own: half the cost of a delivery, no wait for other writes of the process.

    Another thread copies the write-ahead log into the database meanwhile: a commit that has to do so by itself takes
    several times as long.
    """

    groups_at_once = 1

    def __init__(self, file: str) -> None:
        self._file = file
        self._thread = ThreadPoolExecutor(1, "arrivals")
        self._connection: sqlite3.Connection | None = None
        self._stored = 0
        self._copying = ThreadPoolExecutor(1, "checkpoint")
        self._copied: Future[None] | None = None

    async def store(self, group: Sequence[Arrival]) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._store, group)

    async def close(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._copying, lambda: None)
        await loop.run_in_executor(self._thread, self._disconnect)
        self._copying.shutdown()
        self._thread.shutdown()

    def _store(self, group: Sequence[Arrival]) -> None:
        connection = self._connection or self._connect()
        try:
            connection.execute("BEGIN IMMEDIATE")
            for start in range(0, len(group), ROWS_A_STATEMENT):
                part = group[start : start + ROWS_A_STATEMENT]
                connection.execute(_insert(len(part)), [value for arrival in part for value in _row(arrival)])
            connection.execute("COMMIT")
        except sqlite3.Error:
            # a connection that failed once (disk full, file replaced) is not asked again
            self._disconnect()
            raise
        self._stored += sum(len(arrival.body) for arrival in group)
        if self._stored >= CHECKPOINT_BYTES and (self._copied is None or self._copied.done()):
            self._stored = 0
            self._copied = self._copying.submit(self._copy)

    def _connect(self) -> sqlite3.Connection:
        connection = self._open()
        connection.execute(f"PRAGMA wal_autocheckpoint={LONGEST_LOG_PAGES}")
        self._connection = connection
        return connection

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._file,
            timeout=30,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=ROWS_A_STATEMENT + 8,
        )
        for pragma in ("journal_mode=WAL", "synchronous=FULL"):
            connection.execute(f"PRAGMA {pragma}")
        return connection

    def _copy(self) -> None:
        """Copy what is committed; whoever writes or reads goes on meanwhile. What fails here fails nothing: the writer
        copies what is left."""
        with contextlib.suppress(sqlite3.Error), contextlib.closing(self._open()) as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _row(arrival: Arrival) -> tuple[object, ...]:
    return (
        arrival.guid, arrival.event, arrival.action, arrival.installation_id, arrival.repository_id, arrival.body,
        arrival.received_at, "new", 0, arrival.received_at, 0, int(lane_of(arrival.event, arrival.action)),
    )  # fmt: skip


def _insert(count: int) -> str:
    places = ",".join(["(" + ",".join("?" * len(COLUMNS)) + ")"] * count)
    return f"INSERT INTO deliveries ({','.join(COLUMNS)}) VALUES {places} ON CONFLICT DO NOTHING"  # noqa: S608

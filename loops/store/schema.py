"""Whether the database has the tables that this version of the service needs."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from alembic.script import ScriptDirectory
from sqlalchemy import text

from loops.store.database import Database
from loops.store.migrations import config

POLL_SECONDS = 1.0
ANSWER_SECONDS = 10.0


@dataclass(frozen=True)
class Schema:
    """What was found. `usable` also where the schema is one that this version does not know.

    That is a newer one: an upgrade migrates while the pods of the old release are still at work, and a release that is
    rolled back starts on it. `says` is for people.
    """

    usable: bool
    says: str


async def look(database: Database) -> Schema:
    """Never raises: what keeps the database from being asked is part of the answer."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS), database.read() as tx:
            await tx.execute(text("SELECT 1"))
    except Exception as error:
        return Schema(False, f"the database does not answer: {type(error).__name__}")
    try:
        async with asyncio.timeout(ANSWER_SECONDS), database.read() as tx:
            current = list((await tx.execute(text("SELECT version_num FROM alembic_version"))).scalars())
    except Exception:
        return Schema(False, "the database has no tables: run greenloop migrate")
    if current == newest():
        return Schema(True, "ok")
    if current and not set(current) & known():
        return Schema(True, f"the schema {current} is newer than this version's {newest()}")
    return Schema(False, f"the schema is {current}, this version needs {newest()}: run greenloop migrate")


async def wait(database: Database, stop: asyncio.Event, tell: Callable[[str], None]) -> None:
    """Return when the schema can be used, or `stop` is set; `tell` hears each reason for waiting, each time."""
    while not stop.is_set():
        found = await look(database)
        if found.usable:
            return
        tell(found.says)
        try:
            await asyncio.wait_for(stop.wait(), POLL_SECONDS)
        except TimeoutError:
            continue


@cache
def newest() -> list[str]:
    """The schema that this version of the service needs."""
    return list(_scripts().get_heads())


@cache
def known() -> frozenset[str]:
    """Every schema that this version knows."""
    return frozenset(script.revision for script in _scripts().walk_revisions())


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(config("sqlite://"))

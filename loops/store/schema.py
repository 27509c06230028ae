"""Whether the database has the tables that this version of the service needs."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from alembic.script import ScriptDirectory
from sqlalchemy import text

from loops.store.database import Database
from loops.store.migrations import config
from loops.store.migrations.fit import MADE_OTHERWISE, misfits

POLL_SECONDS = 1.0
ANSWER_SECONDS = 10.0


@dataclass(frozen=True)
class Schema:
    """What was found. `usable` also where the schema is a newer one that holds all that this version needs.

    An upgrade migrates while the pods of the old release are still at work, and a release that is rolled back starts on
    the newer schema. `says` is for people.
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
            lacks = await (await tx.connection()).run_sync(misfits)
    except Exception:
        return Schema(False, "the database has no tables: run greenloop migrate")
    return judge(current, lacks)


def judge(current: list[str], lacks: list[str]) -> Schema:
    """What a schema is good for, of which the database says `current`, and with the misfits `lacks`. Pure."""
    newer = bool(current) and not set(current) & known()
    if current != newest() and not newer:
        return Schema(False, f"the schema is {current}, this version needs {newest()}: run greenloop migrate")
    if lacks and newer:
        return Schema(False, f"the schema {current} is too new for this version: {lacks[0]}. Run a newer version")
    if lacks:
        return Schema(False, f"the schema says {current}, but {lacks[0]}: {MADE_OTHERWISE}")
    return Schema(True, f"the schema {current} is newer than this version's {newest()}" if newer else "ok")


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

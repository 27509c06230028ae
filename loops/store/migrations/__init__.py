"""Bringing a database to the current schema."""

import asyncio
import contextlib
import sqlite3
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import make_url

from loops.store.database import Database, async_url
from loops.store.migrations.fit import MADE_OTHERWISE, misfits

FOLDER = Path(__file__).parent


def config(url: str) -> Config:
    """Alembic's configuration for the database at `url`."""
    settings = Config()
    settings.set_main_option("script_location", str(FOLDER))
    settings.set_main_option("sqlalchemy.url", async_url(url).replace("%", "%%"))
    return settings


async def upgrade(url: str) -> None:
    """Bring the database at `url` to the current schema; running it twice changes nothing.

    Raises ValueError for a schema that this version does not know or cannot use, and for a file that cannot be opened.
    """
    _try_file(url)
    try:
        await asyncio.to_thread(command.upgrade, config(url), "head")
    except CommandError as error:
        text = f"the database's schema is not one of this version's ({error}): run the version that made it, or newer"
        raise ValueError(text) from error
    database = Database(url)
    try:
        async with database.read() as tx:
            lacks = await (await tx.connection()).run_sync(misfits)
    finally:
        await database.close()
    if lacks:
        raise ValueError(f"the database says that its schema is this version's, but {lacks[0]}: {MADE_OTHERWISE}")


def _try_file(url: str) -> None:
    """Open SQLite's file once: where that fails, the thread of the asynchronous driver would outlive its event loop."""
    parsed = make_url(async_url(url))
    if parsed.get_backend_name() == "sqlite":
        try:
            with contextlib.closing(sqlite3.connect(parsed.database or ":memory:")):
                pass
        except sqlite3.Error as error:
            raise ValueError(f"the database {parsed.database} cannot be used: {error}") from error

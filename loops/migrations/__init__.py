"""Bringing a database to the current schema."""

import asyncio
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError

from loops.database import async_url

FOLDER = Path(__file__).parent


def config(url: str) -> Config:
    """Alembic's configuration for the database at `url`."""
    settings = Config()
    settings.set_main_option("script_location", str(FOLDER))
    settings.set_main_option("sqlalchemy.url", async_url(url).replace("%", "%%"))
    return settings


async def upgrade(url: str) -> None:
    """Bring the database at `url` to the current schema; running it twice changes nothing.

    Raises ValueError for a schema that this version does not know.
    """
    try:
        await asyncio.to_thread(command.upgrade, config(url), "head")
    except CommandError as error:
        text = f"the database's schema is not one of this version's ({error}): run the version that made it, or newer"
        raise ValueError(text) from error

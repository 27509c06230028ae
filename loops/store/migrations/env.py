"""Alembic's entry: runs the migrations on an asynchronous engine."""

import asyncio

from alembic import context
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from loops.store import access_tables, service_tables, tables, work_tables  # noqa: F401  each adds its own to the metadata
from loops.store.base import Base


def migrate(connection: Connection) -> None:
    context.configure(connection=connection, target_metadata=Base.metadata, render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()


async def main() -> None:
    url = context.config.get_main_option("sqlalchemy.url")
    engine = create_async_engine(url or "", poolclass=NullPool)
    async with engine.begin() as connection:
        await connection.run_sync(migrate)
    await engine.dispose()


asyncio.run(main())

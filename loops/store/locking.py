"""The one way to change a row that others change too: read it for changing, which keeps everybody else from it."""

from typing import TypeVar

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from loops.store.tables import Box, Session, Turn

Row = TypeVar("Row", Session, Turn)


async def locked(tx: AsyncSession, table: type[Row], key: int) -> Row:
    """The row as it is now, in a `write()`; until that ends nobody else changes it. Raises NoResultFound.

    SQLite's writers are alone anyway. Whoever changes several takes boxes first, then turns, then sessions: two that
    lock in different orders would wait for each other for ever. New events, files and logs of the row wait for nothing.
    """
    return await tx.get_one(table, key, populate_existing=True, with_for_update={"key_share": True})


async def lock_box(tx: AsyncSession, name: str) -> None:
    """Let nobody else change the box, or hand out a turn to it, until the transaction ends."""
    await tx.execute(select(Box.name).where(Box.name == name).with_for_update(key_share=True))


async def lock_turns(tx: AsyncSession, session_id: int) -> None:
    """Let nobody else change the session's turns until the transaction ends; new ones wait for the session's row."""
    turns = select(Turn.id).where(Turn.session_id == session_id).order_by(Turn.id)
    await tx.execute(turns.with_for_update(key_share=True))

"""The session's events: append-only, numbered from 1 without a gap."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from loops.store.tables import Event, Session

Entry = tuple[str, dict[str, Any]]


async def append(
    tx: AsyncSession, session_id: int, entries: Sequence[Entry], *, at: float, turn_id: int | None = None
) -> int:
    """Append events of (kind, payload) in this transaction; the last `seq`. The session's row serialises writers."""
    if not entries:
        return (await tx.execute(select(Session.event_seq).where(Session.id == session_id))).scalar_one()
    last = (
        await tx.execute(
            update(Session)
            .where(Session.id == session_id)
            .values(event_seq=Session.event_seq + len(entries))
            .returning(Session.event_seq)
        )
    ).scalar_one()
    first = last - len(entries) + 1
    await tx.execute(
        insert(Event),
        [
            {"session_id": session_id, "seq": first + n, "turn_id": turn_id, "kind": kind, "payload": payload, "at": at}
            for n, (kind, payload) in enumerate(entries)
        ],
    )
    return last


async def after(tx: AsyncSession, session_id: int, seq: int, limit: int = 500) -> list[Event]:
    """The events behind `seq`, oldest first."""
    found = await tx.execute(
        select(Event).where(Event.session_id == session_id, Event.seq > seq).order_by(Event.seq).limit(limit)
    )
    return list(found.scalars())

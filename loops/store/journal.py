"""The session's events: append-only, numbered from 1 without a gap."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from loops.store.tables import Event, Session

Entry = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Entries:
    """Events to append to one session."""

    session_id: int
    turn_id: int | None
    entries: Sequence[Entry]
    at: float


async def append(
    tx: AsyncSession, session_id: int, entries: Sequence[Entry], *, at: float, turn_id: int | None = None
) -> int:
    """Append events of (kind, payload) in this transaction; the last `seq`. The session's row serialises writers."""
    if not entries:
        return (await tx.execute(select(Session.event_seq).where(Session.id == session_id))).scalar_one()
    last = await tx.execute(
        update(Session)
        .where(Session.id == session_id)
        .values(event_seq=Session.event_seq + len(entries))
        .returning(Session.event_seq)
    )
    seq = last.scalar_one()
    await tx.execute(insert(Event), _rows(Entries(session_id, turn_id, entries, at), seq - len(entries)))
    return seq


async def append_many(tx: AsyncSession, groups: Sequence[Entries]) -> None:
    """Append events of many sessions in this transaction, with as many statements as for one."""
    ids = sorted({group.session_id for group in groups if group.entries})
    if not ids:
        return
    rows = select(Session.id, Session.event_seq).where(Session.id.in_(ids)).order_by(Session.id)
    last: dict[int, int] = {row[0]: row[1] for row in await tx.execute(rows.with_for_update(key_share=True))}
    events: list[dict[str, Any]] = []
    for group in groups:
        if group.entries:
            events += _rows(group, last[group.session_id])
            last[group.session_id] += len(group.entries)
    sessions = Session.metadata.tables[Session.__tablename__]
    moved = update(sessions).where(sessions.c.id == bindparam("key")).values(event_seq=bindparam("seq"))
    await tx.execute(moved, [{"key": key, "seq": last[key]} for key in ids])
    await tx.execute(insert(Event), events)


def _rows(group: Entries, last: int) -> list[dict[str, Any]]:
    common = {"session_id": group.session_id, "turn_id": group.turn_id, "at": group.at}
    return [
        {**common, "seq": seq, "kind": kind, "payload": payload}
        for seq, (kind, payload) in enumerate(group.entries, last + 1)
    ]


async def after(tx: AsyncSession, session_id: int, seq: int, limit: int = 500) -> list[Event]:
    """The events behind `seq`, oldest first."""
    found = await tx.execute(
        select(Event).where(Event.session_id == session_id, Event.seq > seq).order_by(Event.seq).limit(limit)
    )
    return list(found.scalars())

"""What was decided about deliveries that this worker holds, written with them."""

from typing import Any

from sqlalchemy import Table, Update, bindparam, update
from sqlalchemy.ext.asyncio import AsyncSession

from loops.requests.decision import Decision
from loops.store.tables import Delivery

_DELIVERIES: Table = Delivery.metadata.tables[Delivery.__tablename__]
_REASON = 1000


async def record(tx: AsyncSession, worker: str, decisions: dict[str, Decision], now: float) -> None:
    """Each delivery is done. One whose lease went to another worker meanwhile is left to that one."""
    rows = [
        {"key": guid, "what": each.what, "why": each.reason[:_REASON], "session": each.session_id}
        for guid, each in decisions.items()
    ]
    if rows:
        await tx.execute(_done(worker, now), rows)


def _done(worker: str, now: float) -> Update:
    values: dict[str, Any] = {"status": "done", "handled_at": now, "due_at": None}
    return (
        update(_DELIVERIES)
        .where(_DELIVERIES.c.guid == bindparam("key"), _DELIVERIES.c.lease_by == worker)
        .values(
            **values,
            decision=bindparam("what"),
            reason=bindparam("why"),
            session_id=bindparam("session"),
            lease_until=None,
            lease_by=None,
            begun=0,
        )
    )

"""What others sent and processes failed over, put aside with its reason, for whoever runs the service to see."""

from collections.abc import Sequence

import structlog
from sqlalchemy import delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from loops.store.database import Database
from loops.store.service_tables import Quarantined

log = structlog.get_logger(__name__)

KEPT = 30 * 86_400.0
"""Seconds after which what was put aside is forgotten."""


async def put_aside(database: Database, kind: str, key: str, reason: str, *, now: float) -> None:
    """Note that the `kind` (delivery, session, report, output, work, log) named `key` is not tried again.

    Twice is once."""
    log.error("quarantine.put_aside", kind=kind, key=key, reason=reason)
    insert = sqlite.insert if database.sqlite else postgresql.insert
    row = {"kind": kind, "key": key, "reason": reason[:1000], "at": now}
    async with database.write() as tx:
        await tx.execute(insert(Quarantined).values(row).on_conflict_do_nothing())
        await tx.execute(delete(Quarantined).where(Quarantined.at < now - KEPT))


async def reason_of(tx: AsyncSession, kind: str, key: str) -> str | None:
    """Why it was put aside; None if it was not."""
    found = select(Quarantined.reason).where(Quarantined.kind == kind, Quarantined.key == key)
    return (await tx.execute(found)).scalar_one_or_none()


async def newest(tx: AsyncSession, most: int) -> Sequence[Quarantined]:
    """What was put aside last."""
    return (await tx.execute(select(Quarantined).order_by(Quarantined.at.desc()).limit(most))).scalars().all()


async def counts(tx: AsyncSession) -> dict[str, int]:
    """How many of each kind are kept."""
    found = await tx.execute(select(Quarantined.kind, func.count()).group_by(Quarantined.kind))
    return {kind: count for kind, count in found.all()}  # noqa: C416

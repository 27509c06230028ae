"""How many sessions of an installation wait for checks: the more there are, the longer each waits between two polls."""

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from loops.store.states import SessionStatus
from loops.store.tables import Session

COUNTED_SECONDS = 60.0  # for which a count holds


class Waiting:
    """The counts of one process."""

    def __init__(self) -> None:
        self._counted: dict[int, tuple[float, int]] = {}

    async def count(self, tx: AsyncSession, installation_id: int, now: float) -> int:
        """The installation's waiting sessions, a minute ago at most."""
        at, known = self._counted.get(installation_id, (0.0, 0))
        if 0 <= now - at < COUNTED_SECONDS:
            return known
        where = (Session.installation_id == installation_id, Session.status == SessionStatus.WAITING)
        known = (await tx.execute(select(func.count()).select_from(Session).where(*where))).scalar_one()
        self._counted[installation_id] = (now, known)
        return known

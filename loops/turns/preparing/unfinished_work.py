"""The work of a turn that was cut short, given to the turn that comes after it."""

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from loops.prompts.contexts import LeftWork
from loops.sessions.ask import Conflict
from loops.sessions.ask_columns import ask_of
from loops.store.tables import Log, Turn
from loops.store.work_tables import UnfinishedWork

NAME = "unfinished.patch"
FILES = 50


async def unfinished_before(tx: AsyncSession, turn: Turn) -> UnfinishedWork | None:
    """The newest work of this turn, when it was tried before, or of one before it, since the last that was published.

    A turn that brings two sides together is given none: its checkout holds what it is about.
    """
    if isinstance(ask_of(turn).about, Conflict):
        return None
    published = select(Turn.number).where(
        Turn.session_id == turn.session_id, Turn.number < turn.number, Turn.commit_sha.is_not(None)
    )
    last = (await tx.execute(published.order_by(Turn.number.desc()).limit(1))).scalar() or 0
    found = await tx.execute(
        select(UnfinishedWork)
        .join(Turn, Turn.id == UnfinishedWork.turn_id)
        .where(Turn.session_id == turn.session_id, Turn.number > last, Turn.number <= turn.number)
        .order_by(UnfinishedWork.at.desc())
        .limit(1)
    )
    return found.scalar()


def told(work: UnfinishedWork, marker: str) -> LeftWork:
    """The work as a prompt tells of it."""
    files = tuple(map(str, work.files))
    return LeftWork(f"{{turn_dir:{marker}}}/logs/{NAME}", work.size, work.why, files[:FILES], len(files))


async def give(tx: AsyncSession, turn: Turn, work: UnfinishedWork) -> None:
    """Put the patch among the files that the turn's box fetches, in place of what was there."""
    await tx.execute(delete(Log).where(Log.turn_id == turn.id, Log.name == NAME))
    tx.add(Log(turn_id=turn.id, name=NAME, content=work.patch))
